#!/usr/bin/env python3
"""tests/api/empty_handles_test.cc calls every public member function that the library defines.

    covered_test.py SHARED_LIBRARY OBJECT_FILE...

Compares the member functions that the shared library exports, by mangled name, with what the object files reference.
"""
import re
import subprocess
import sys

# Static functions that create objects; every test calls constructors from parts, assignments and destructors.
MAKERS = {"open", "create", "from_bytes", "parse", "repair", "destroy", "measured"}
PRIVATE = {"accepts", "add_change", "add_expiring", "add_put", "id_of", "load_expiry", "belong_to", "enter", "load", "follow_moved_bytes", "open_image"}


def names(*arguments):
    """Mangled names."""
    output = subprocess.run(["nm", "--without-symbol-versions", *arguments], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines() if re.search(r" [TU] ", line)}


def demangled(mangled):
    """By mangled name: the name without parameters."""
    ordered = sorted(mangled)
    output = subprocess.run(["c++filt"], input="\n".join(ordered), capture_output=True, text=True, check=True).stdout
    return {name: re.sub(r"\[abi:\w+\]", "", text).split("(")[0] for name, text in zip(ordered, output.splitlines())}


def must_be_called(name):
    path = name.split("::")
    if len(path) < 2:
        return False  # Of the C API, whose own test calls all.
    owner, function = path[-2], path[-1]
    if not owner[:1].isupper() or function.startswith(("~", "operator=")):
        return False  # A namespace function, or not called by name.
    return function != owner and function not in MAKERS | PRIVATE


def main():
    shared, *objects = sys.argv[1:]
    called = names("--undefined-only", *[name for name in objects if "empty_handles_test" in name])
    shown = {mangled: name for mangled, name in demangled(names("-D", "--defined-only", shared)).items() if must_be_called(name)}
    missing = sorted(name for mangled, name in shown.items() if mangled not in called)
    print("\n".join(f"not called by the test of empty handles: {name}" for name in missing))
    print(f"{len(shown)} member functions, {len(missing)} not called")
    sys.exit(1 if missing or len(shown) < 60 else 0)


main()
