#!/usr/bin/env python3
"""Checks that a shared library exports exactly what the public headers declare in C++; tests/capi/symbols_test.py
does the same for C.

    exports_test.py INCLUDE_FOLDER SHARED_LIBRARY STATIC_LIBRARY...

The static libraries hold the same objects, and so every function that could be exported.
"""
import pathlib
import re
import subprocess
import sys

# Declared in public headers only because classes name them as friends.
FRIENDS = {"tamis::open_filter", "tamis::open_mutable_filter", "tamis::encoded_entries"}
TYPE_NAME = re.compile(r"^typeinfo (name )?for ")  # Of public classes that others derive from.
C_NAME = re.compile(r"tamis_\w+$|TAMIS_(CXX|\d+\.\d+)$")  # Functions and versions.
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$|^\}  // namespace ([\w:]+)$")
CLASS = re.compile(r"^( *)(?:class|struct) (?:\[\[nodiscard\]\] )?(?:TAMIS_EXPORT )?([\w:]+) (?:final )?(?:: .*)?\{")
FUNCTION = re.compile(r"^(?!class |struct |using |template |inline |friend |namespace |#|//|\}|  )[\w\[\]:<>,&* ]+?[ &*](\w+)\(")


def declared(folder):
    """The qualified names of public classes and of public functions."""
    classes, functions = set(), set()
    for header in sorted(pathlib.Path(folder).glob("*.h")):
        inside, nest = [], []
        for line in header.read_text().splitlines():
            if found := NAMESPACE.match(line):
                inside.append(found.group(1)) if found.group(1) else inside.pop()
            elif found := CLASS.match(line):
                nest = nest[: len(found.group(1)) // 2] + [found.group(2)]  # Indentation shows nesting.
                classes.add("::".join(inside + nest))
            elif found := FUNCTION.match(line):
                functions.add("::".join([*inside, found.group(1)]))
    return classes, functions - FRIENDS


def symbols(*arguments):
    """Demangled names of the definitions, without templates, inline functions and parameters."""
    output = subprocess.run(["nm", "-C", "--defined-only", "--without-symbol-versions", *arguments], capture_output=True, text=True, check=True).stdout
    names = set()
    for line in output.splitlines():
        found = re.match(r"^[0-9a-f]{16} [TDBR] (.*)$", line)
        if found:
            names.add(re.sub(r"\[abi:\w+\]", "", found.group(1)).split("(")[0])
    return names


def is_public(name, classes, functions):
    return name in functions or name.rpartition("::")[0] in classes or TYPE_NAME.sub("", name) in classes


def main():
    folder, shared, *static = sys.argv[1:]
    classes, functions = declared(folder)
    everything = subprocess.run(["nm", "-DC", "--defined-only", "--without-symbol-versions", shared],
                                capture_output=True, text=True, check=True).stdout
    shown = symbols("-D", shared)
    errors = [f"shown, but no public function: {line}" for line in everything.splitlines()
              if not C_NAME.match(line[19:]) and not is_public(re.sub(r"\[abi:\w+\]", "", line[19:]).split("(")[0], classes, functions)]
    wanted = {name for name in symbols(*static) if is_public(name, classes, functions)}
    errors += [f"public, but without TAMIS_EXPORT: {name}" for name in sorted(wanted - shown)]
    if len(shown) < 40:
        errors.append(f"only {len(shown)} names are shown")
    print("\n".join(errors))
    print(f"{len(shown)} names shown, {len(classes)} public classes, {len(functions)} public functions, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
