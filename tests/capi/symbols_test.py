#!/usr/bin/env python3
"""The functions of the C API are those of src/capi/symbols.txt, everywhere.

    symbols_test.py SOURCES LIBTAMIS LIBTAMIS_FILTER OBJECT_FILE...

The headers declare them, the shared libraries export them with their versions and no other name without "tamis::", and
the object files, which are those of the test, call each.
"""
import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"^TAMIS_API\s[^;]*?\b(tamis_\w+)\(", re.M)
LINE = re.compile(r"(TAMIS_\d+\.\d+) (filter|store) (tamis_\w+)")


def listed(path):
    """Name to (version, library)."""
    symbols = {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if not found:
            sys.exit(f"{path.name}: not 'VERSION LIBRARY NAME': {line}")
        symbols[found[3]] = (found[1], found[2])
    return symbols


def names(*arguments):
    output = subprocess.run(["nm", *arguments], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in output.splitlines() if re.search(r" [TU] ", line)]


def exported(library):
    """C functions as NAME@@VERSION."""
    return {name for name in names("-D", "--defined-only", library) if not name.startswith("_Z")}


def difference(what, expected, got):
    return ([f"{what}: missing: {name}" for name in sorted(expected - got)] +
            [f"{what}: not in symbols.txt: {name}" for name in sorted(got - expected)])


def main():
    sources, store, filters, *objects = sys.argv[1:]
    sources = pathlib.Path(sources)
    symbols = listed(sources / "src/capi/symbols.txt")
    headers = "\n".join(path.read_text() for path in sorted((sources / "include/tamis/c").glob("*.h")))
    called = {name for name in names("--undefined-only", *objects) if name.startswith("tamis_")}
    versioned = {name: f"{name}@@{version}" for name, (version, _) in symbols.items()}
    errors = difference("headers", set(symbols), set(DECLARED.findall(headers)))
    errors += difference("libtamis", set(versioned.values()), exported(store))
    errors += difference("libtamis-filter", {versioned[name] for name, (_, library) in symbols.items() if library == "filter"},
                         exported(filters))
    errors += difference("calls of the test", set(symbols), called)
    print("\n".join(errors))
    print(f"{len(symbols)} functions, {len(errors)} errors")
    sys.exit(1 if errors or len(symbols) < 200 else 0)


main()
