#!/usr/bin/env python3
"""Checks what libleveldb.so.1d shows.

    exports_test.py OUR_LIBRARY EXPORTS_FILE [LEVELDB_LIBRARY]

It shows exactly the names of the file. These are all names of LevelDB that LevelDB's own library shows and that its
headers name, except for those of two classes that read and write its files.
"""
import re
import subprocess
import sys

LEFT_OUT = re.compile(r"leveldb(5Table|12TableBuilder)")
INSIDE = re.compile(r"^_ZT[ISV]Z\d+leveldb_|^_ZNSt")


def shown(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines()}


def main():
    ours, file, *theirs = sys.argv[1:]
    listed = {line for line in open(file, encoding="utf-8").read().splitlines() if not line.startswith("#")}
    names = shown(ours)
    errors = [f"listed, but not shown: {name}" for name in sorted(listed - names)]
    errors += [f"shown, but not listed: {name}" for name in sorted(names - listed)]
    if theirs:
        wanted = {name for name in shown(theirs[0]) if "leveldb" in name and not LEFT_OUT.search(name) and not INSIDE.search(name)}
        errors += [f"LevelDB shows it: {name}" for name in sorted(wanted - listed)]
        errors += [f"LevelDB does not show it: {name}" for name in sorted(listed - wanted)]
    if len(listed) < 200:
        errors.append(f"only {len(listed)} names are listed")
    print("\n".join(errors))
    print(f"{len(names)} names shown, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
