#!/usr/bin/env python3
"""Every rule that keeps the answers right, and every promise to users, has a test whose name carries its number:
`Rule17_ADeleteStays...`, `P5_P6_AnyFailedCall...`, or a suite named Rule17. Fails when one that is built has none.

    scripts/check_rules.py          the tests of each, for people
    scripts/check_rules.py --json   the same for programs: {"rules": {"17": {"title", "tests": [...]}}, "promises": ...}
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)

RULES = {
    1: "one stream of dense sequences over all journals",
    2: "never append to a journal that was recovered",
    3: "a journal's identity is its header",
    4: "a torn tail is told from damage",
    5: "a file whose sync failed is never trusted again",
    6: "a failed append is overwritten; nothing fails after the journal",
    7: "a mapped journal",
    8: "the sizes of groups and journals",
    9: "the view first, then the sequence",
    10: "what readers hold, and forked children",
    11: "blocks that are pinned",
    12: "the memtable never changes a version",
    13: "filters and tags say no only with proof",
    14: "the run index",
    15: "counters are exact where they must be and cost nothing elsewhere",
    16: "inputs of a compaction are neighbours in age",
    17: "when versions and deletes are dropped",
    18: "bounds and prefixes of iterators",
    19: "opening deletes nothing that is not proved redundant",
    20: "the lock",
    21: "checkpoints",
    22: "repair says what it cannot know",
    23: "descriptors, and the length of the manifest",
    24: "handles that are alive when a store is closed",
}

PROMISES = {
    1: "durable",
    2: "a prefix, batches whole",
    3: "no answer from bytes that were not verified",
    4: "a damaged filter costs time only",
    5: "after a failed sync",
    6: "without room",
    7: "nothing is deleted that is not proved redundant",
    8: "memory stays within the budget",
}


def all_tests():
    for folder in ("src", "tests"):
        for path in sorted((ROOT / folder).rglob("*_test.cc")):
            for match in TEST.finditer(path.read_text()):
                yield f"{match[1]}.{match[2]}", path.relative_to(ROOT).as_posix()


def table(titles, pattern, tests):
    rows = {number: {"title": title, "tests": []} for number, title in titles.items()}
    unknown = []
    for name, file in tests:
        for number in {int(n) for n in pattern.findall(name)}:
            if number in rows:
                rows[number]["tests"].append({"name": name, "file": file})
            else:
                unknown.append(f"{file}: {name} carries a number that nothing has")
    return rows, unknown


def print_table(word, rows):
    for number, row in rows.items():
        names = ", ".join(test["name"] for test in row["tests"])
        print(f"{word}{number:<3} {row['title']}: {names or 'none'}")


def main():
    tests = list(all_tests())
    rules, errors = table(RULES, re.compile(r"Rule(\d+)"), tests)
    promises, unknown = table(PROMISES, re.compile(r"(?<=[._])P(\d+)(?=_)"), tests)
    errors += unknown
    for word, rows in (("rule ", rules), ("P", promises)):
        errors += [f"{word}{number} ({row['title']}) has no test that carries its number" for number, row in rows.items() if not row["tests"]]
    if "--json" in sys.argv[1:]:
        print(json.dumps({"rules": rules, "promises": promises}, indent=1))
    else:
        print_table("rule ", rules)
        print_table("P", promises)
    print("\n".join(errors + [f"{len(errors)} errors"]), file=sys.stderr)
    sys.exit(1 if errors else 0)


main()
