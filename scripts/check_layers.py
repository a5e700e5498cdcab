#!/usr/bin/env python3
"""Checks src/LAYERS: which modules and third-party headers each module may include, and what public headers may include."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def read_layers():
    layers = {}
    for line in (ROOT / "src/LAYERS").read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        module, rest = line.split(":", 1)
        modules, _, third_party = rest.partition("|")
        allowed = [name.strip() for name in modules.split(",") if name.strip()]
        for name in allowed:
            if name not in layers:
                sys.exit(f"src/LAYERS: {module} names {name}, which is not listed above it")
        layers[module.strip()] = (allowed, [name.strip() for name in third_party.split(",") if name.strip()])
    return layers


def is_standard(header):
    return "/" not in header and "." not in header or header in ("stdbool.h", "stddef.h", "stdint.h")  # Those of C.


def check_module_file(path, module, layers, errors):
    allowed, third_party = layers[module]
    for kind, header in INCLUDE.findall(path.read_text()):
        where = f"{path.relative_to(ROOT)}: {header}"
        if header.startswith("tamis/") or is_standard(header):
            continue
        if kind == "<":
            test_only = path.name.endswith("_test.cc") and header.startswith(("gtest/", "nlohmann/", "snappy.h", "sys/", "unistd.h"))
            if not test_only and not any(header == name or name.endswith("/") and header.startswith(name) for name in third_party):
                errors.append(f"{where}: {module} may not use this header")
            continue
        if header.startswith("support/") and path.name.endswith("_test.cc"):
            continue
        target = header.rsplit("/", 1)[0]
        if target != module and target not in allowed:
            errors.append(f"{where}: {module} may not include {target}")


def check_public_header(path, errors):
    for _, header in INCLUDE.findall(path.read_text()):
        if not header.startswith("tamis/") and not is_standard(header):
            errors.append(f"{path.relative_to(ROOT)}: {header}: public headers may use only tamis/ and the standard library")


SHARED_WITH_APPS = {"base/nearest_word.h", "text/byte_text.h", "text/json.h"}  # apps/show compiles them too: they know nothing of stores.


def check_dropin_file(path, errors):
    """Another system's interface with ours behind it: it may see the headers of both, and the machine's."""
    for kind, header in INCLUDE.findall(path.read_text()):
        ours = (path.parent / header).exists()
        if kind == '"' and not ours or kind == "<" and "/" in header and not header.startswith(("tamis/", "leveldb/", "sys/")):
            errors.append(f"{path.relative_to(ROOT)}: {header}: a drop-in may include only <tamis/...>, the headers it stands for and its own")


def check_app_file(path, errors):
    for kind, header in INCLUDE.findall(path.read_text()):
        if kind == '"' and (ROOT / "src" / header).exists() and not header.startswith("tamis/") and header not in SHARED_WITH_APPS:
            errors.append(f"{path.relative_to(ROOT)}: {header}: apps may include only <tamis/...>")


def main():
    layers = read_layers()
    errors = []
    checked = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        module = str(path.parent.relative_to(ROOT / "src"))
        if module not in layers:
            errors.append(f"{path.relative_to(ROOT)}: no such module in src/LAYERS")
            continue
        check_module_file(path, module, layers, errors)
        checked += 1
    for path in sorted((ROOT / "include").rglob("*.h*")):
        check_public_header(path, errors)
        checked += 1
    for folder in ("apps", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                check_app_file(path, errors)
                checked += 1
    for path in sorted((ROOT / "dropin").rglob("*")):
        if path.suffix in (".h", ".cc"):
            check_dropin_file(path, errors)
            checked += 1
    print("\n".join(errors))
    print(f"{checked} files, {len(errors)} errors")
    sys.exit(1 if errors or checked == 0 else 0)


main()
