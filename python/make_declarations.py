#!/usr/bin/env python3
"""Makes tamis/declarations.txt, what cffi reads, from the C headers; --check compares.

The module is used without the headers, which are in libtamis-dev.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include/tamis/c"
# Each after those that it includes.
ORDER = ("status", "filter", "foreign", "options", "keyspace", "iterator", "batch", "db", "transaction")


def declarations():
    if {path.stem for path in HEADERS.glob("*.h")} != set(ORDER):
        sys.exit(f"{sys.argv[0]}: ORDER does not name the headers of {HEADERS}")
    text = "".join((HEADERS / f"{name}.h").read_text() for name in ORDER)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", text, flags=re.S | re.M)
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("TAMIS_API ", "")
    text = re.sub(r"\s*\n\s*", "\n", text).strip()
    return "// Made by make_declarations.py from include/tamis/c/.\n" + text + "\n"


def main():
    path = HERE / "tamis/declarations.txt"
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != declarations():
            sys.exit(f"{path.name} is not what the headers say: run python/make_declarations.py")
    else:
        path.write_text(declarations())


main()
