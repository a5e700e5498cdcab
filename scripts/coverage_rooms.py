#!/usr/bin/env python3
"""Sums gcovr's summary by module: scripts/coverage_rooms.py SUMMARY OUT."""
import collections
import datetime
import json
import pathlib
import sys


def room_of(name):
    parts = pathlib.PurePosixPath(name).parts
    return "/".join(parts[:-1][1:3]) if parts[0] == "src" else parts[0]


def main():
    summary = json.loads(pathlib.Path(sys.argv[1]).read_text())
    rooms = collections.defaultdict(lambda: collections.Counter())
    for file in summary["files"]:
        for room in (room_of(file["filename"]), "all"):
            for what in ("line", "branch"):
                rooms[room][what] += file[f"{what}_total"]
                rooms[room][what + "_covered"] += file[f"{what}_covered"]
    data = {"date": datetime.date.today().isoformat(), "rooms": rooms}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    for room, counts in sorted(rooms.items()):
        print(f"{room:16} {100 * counts['line_covered'] / counts['line']:5.1f} % of {counts['line']:6,} lines, "
              f"{100 * counts['branch_covered'] / max(counts['branch'], 1):5.1f} % of {counts['branch']:6,} branches")


main()
