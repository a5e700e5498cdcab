#!/usr/bin/env python3
"""Checks that whatever the pages name exists: links and their anchors, files, tests, and functions of our classes.

Finds renames and removals; only a reader can tell whether a description is right. Covers the pages of the top folder and of docs/,
except for the blocks of scripts/render_docs.py; in the decisions, which describe the past, only the links.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RENDERED = re.compile(r"<!-- render: .*?<!-- /render -->", re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.M)
TEST_NAME = re.compile(r"(?:\w+/)?([A-Z]\w+)\.([A-Z*][\w*]*)(?:/\w+)?")
FILE_NAME = re.compile(r"(?<![\w./*{<-])((?:[\w.+-]+/)+[\w.+-]*\.(?:cc|h|py|sh|md|json|svg|cmake|tamis)|scripts/[\w-]+)(?![\w*{])")
FUNCTION = re.compile(r"\b([A-Z]\w+)::(~?\w+)")


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in out.stdout.splitlines() if (ROOT / line).exists()]


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


def anchors(path):
    return {anchor(line.lstrip("#")) for line in path.read_text().splitlines() if line.startswith("#")}


def check_links(page, text, errors):
    for target in LINK.findall(text):
        if re.match(r"\w+:", target):
            continue
        name, _, fragment = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            errors.append(f"{page.relative_to(ROOT)}: the link {target} leads nowhere")
        elif fragment and path.suffix == ".md" and fragment not in anchors(path):
            errors.append(f"{page.relative_to(ROOT)}: {name or 'the page'} has no heading for #{fragment}")


class Tree:
    """Everything that a page can name."""

    def __init__(self):
        self.files = tracked()
        sources = {name: (ROOT / name).read_text(errors="replace") for name in self.files if name.endswith((".cc", ".h"))}
        self.tests = [f"{suite}.{name}" for name, text in sources.items() if name.endswith("_test.cc") for suite, name in TEST.findall(text)]
        self.words = set(re.findall(r"\w+", "\n".join(sources.values())))

    def has_file(self, name):
        """Paths start at the top or in src/, apps/, include/, docs/ or tests/."""
        starts = ("", "src/", "apps/", "include/", "docs/", "tests/")
        return any((ROOT / (start + name)).exists() for start in starts)

    def has_test(self, suite, name):
        pattern = f"{suite}.{name}"
        return any(fnmatch.fnmatchcase(test, pattern) for test in self.tests)


def check_names(page, text, tree, errors):
    where = page.relative_to(ROOT)
    drawings = [block for language, block in FENCE.findall(text) if not language]  # Call diagrams.
    for code in CODE.findall(FENCE.sub("", text)) + drawings:
        errors += [f"{where}: there is no file {name}" for name in FILE_NAME.findall(code) if not tree.has_file(name)]
        if match := TEST_NAME.fullmatch(code.strip()):
            is_other = match[1] in ("BF", "CF") or match[1] + "." + match[2] in ("Filter.db", "Index.db")  # Commands of Redis, files.
            if not is_other and not tree.has_test(*match.groups()):
                errors.append(f"{where}: there is no test {code}")
        errors += [f"{where}: there is no {owner}::{name} in the code" for owner, name in FUNCTION.findall(code)
                   if owner in tree.words and name not in tree.words]


def main():
    tree = Tree()
    errors = []
    pages = [ROOT / name for name in tree.files if name.endswith(".md") and (name.startswith("docs/") or "/" not in name)]
    for page in pages:
        text = page.read_text()
        check_links(page, text, errors)
        if "decisions" not in page.parts:
            check_names(page, RENDERED.sub("", text), tree, errors)
    print("\n".join(errors + [f"{len(pages)} pages, {len(errors)} errors"]))
    sys.exit(1 if errors or not pages else 0)


main()
