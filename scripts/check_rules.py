#!/usr/bin/env python3
"""Compares docs/RULES.md with the tree.

Fails if a citation ("rule 17", `Rule17_ADeleteStays...`, P5) names a rule or promise that is not on the page, if no test's
name carries the number of one on the page, or if the page names a test that does not exist.

    scripts/check_rules.py          the tests of each, for people
    scripts/check_rules.py --json   the same for programs: {"rules": {"17": {"title", "tests": [...]}}, "promises": ...}
"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/RULES.md"
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
HEADING = re.compile(r"^### (Rule |P)(\d+): (.+)$", re.MULTILINE)
LISTED_TESTS = re.compile(r"^- Tests: (.+(?:\n  .+)*)$", re.MULTILINE)
CITED_TOGETHER = re.compile(r"\b[Rr]ules? (\d+(?:(?:, | and |–)\d+)*)(?![\d.%])")  # "rule 9", "rules 10 and 11", "Rules 10, 20 and 23".
CITED_IN_A_NAME = re.compile(r"\bRule(\d+)")
PROMISE = re.compile(r"(?<![A-Za-z0-9])P(\d+)(?![\dA-Za-z])")  # "P5", "P1–P8", "Rule2_P5_...".
CITING = ("*.cc", "*.h", "*.hpp", "*.md", "*.patch", "*.sh", "*.py", "*.cmake", "*.txt")


def read_page():
    """{"rule": {number: {"title", "listed"}}, "P": ...} of the page, and its errors."""
    text = (ROOT / PAGE).read_text()
    found = {"rule": {}, "P": {}}
    errors = []
    headings = list(HEADING.finditer(text))
    for heading, following in zip(headings, headings[1:] + [None]):
        section = text[heading.end() : following.start() if following else len(text)]
        kind, number = "P" if heading[1] == "P" else "rule", int(heading[2])
        listed = [name for line in LISTED_TESTS.findall(section) for name in re.findall(r"`([^`]+)`", line)]
        if number in found[kind]:
            errors.append(f"{PAGE}: {heading[1]}{number} is defined twice")
        if not listed:
            errors.append(f"{PAGE}: {heading[1]}{number} names no test")
        found[kind][number] = {"title": heading[3], "listed": listed, "tests": []}
    return found, errors


def all_tests():
    for folder in ("src", "tests"):
        for path in sorted((ROOT / folder).rglob("*_test.cc")):
            for match in TEST.finditer(path.read_text()):
                yield f"{match[1]}.{match[2]}", path.relative_to(ROOT).as_posix()


def cited_rules(text):
    numbers = set(map(int, CITED_IN_A_NAME.findall(text)))
    for together in CITED_TOGETHER.findall(text):
        numbers |= set(map(int, re.findall(r"\d+", together)))
    return numbers


def check_citations(page, errors):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *CITING], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in out.stdout.splitlines():
        path = ROOT / name
        if name in ("scripts/check_rules.py", PAGE) or not path.exists():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            errors += [f"{name}:{number}: rule {rule} is not in {PAGE}" for rule in sorted(cited_rules(line) - page["rule"].keys())]
            errors += [f"{name}:{number}: P{promise} is not in {PAGE}"
                       for promise in sorted(set(map(int, PROMISE.findall(line))) - page["P"].keys())]


def check_tests(page, tests, errors):
    for kind, carried in (("rule", CITED_IN_A_NAME), ("P", re.compile(r"(?<=[._])P(\d+)(?=_)"))):
        for number, row in page[kind].items():
            row["tests"] = [{"name": name, "file": file} for name, file in tests if number in map(int, carried.findall(name))]
            if not row["tests"]:
                errors.append(f"{kind} {number} ({row['title']}) has no test that carries its number")
            errors += [f"{PAGE}: {kind} {number}: no test is named {listed}"
                       for listed in row["listed"] if not any(fnmatch.fnmatchcase(name, listed) for name, _ in tests)]


def main():
    page, errors = read_page()
    check_tests(page, list(all_tests()), errors)
    check_citations(page, errors)
    if "--json" in sys.argv[1:]:
        plain = {kind: {number: {"title": row["title"], "tests": row["tests"]} for number, row in rows.items()} for kind, rows in page.items()}
        print(json.dumps({"rules": plain["rule"], "promises": plain["P"]}, indent=1))
    else:
        for kind, rows in page.items():
            for number, row in rows.items():
                print(f"{kind} {number:<3} {row['title']}: {', '.join(test['name'] for test in row['tests']) or 'none'}")
    print("\n".join(errors + [f"{len(errors)} errors"]), file=sys.stderr)
    sys.exit(1 if errors else 0)


main()
