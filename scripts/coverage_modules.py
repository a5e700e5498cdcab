#!/usr/bin/env python3
"""Sums gcovr's summary by module: scripts/coverage_modules.py SUMMARY OUT."""
import collections
import datetime
import json
import pathlib
import sys


def module_of(name):
    parts = pathlib.PurePosixPath(name).parts
    return "/".join(parts[:-1][1:3]) if parts[0] == "src" else parts[0]


def main():
    summary = json.loads(pathlib.Path(sys.argv[1]).read_text())
    modules = collections.defaultdict(lambda: collections.Counter())
    for file in summary["files"]:
        for module in (module_of(file["filename"]), "all"):
            for what in ("line", "branch"):
                modules[module][what] += file[f"{what}_total"]
                modules[module][what + "_covered"] += file[f"{what}_covered"]
    data = {"date": datetime.date.today().isoformat(), "modules": modules}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    for module, counts in sorted(modules.items()):
        print(f"{module:16} {100 * counts['line_covered'] / counts['line']:5.1f} % of {counts['line']:6,} lines, "
              f"{100 * counts['branch_covered'] / max(counts['branch'], 1):5.1f} % of {counts['branch']:6,} branches")


main()
