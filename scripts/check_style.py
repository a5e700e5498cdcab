#!/usr/bin/env python3
"""Checks docs/CONVENTIONS.md by machine: the length of files and functions, the fields of types, system calls outside io/, a fuzzer and a section of
docs/FORMAT.md or docs/FOREIGN.md for each *_format file."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MAX_FIELDS = 25
FUNCTION = re.compile(r"(?!namespace|struct|class|typedef|enum|union|extern|constexpr [^()]*=|const [^()]*=)\S.*\{$")
TYPE = re.compile(r"(?:struct|class)(?: [A-Z_]+(?:\([^)]*\))*)? (\w+)[^;]*\{$")
FIELD = re.compile(r"  (?! |using|static|friend|template|enum|return|explicit|virtual)[\w:<>,*&() ]+[ &*]\w+(?: GUARDED_BY\(\w+\))?(?: = [^;]*|\{[^;]*\})?;")
FILE_CALLS = re.compile(r"(?<![\w>])::(open|read|write|pread|pwrite|fsync|rename|unlink|mmap|fstat|stat|ftruncate)\(|\bfopen\(|std::[io]?fstream")


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in out.stdout.splitlines() if (ROOT / line).exists()]


def check_length(path, text, errors):
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        errors.append(f"{path.relative_to(ROOT)}: {lines} lines; at {LONGEST_FILE} a file holds more than one idea")


def check_functions(path, text, errors):
    """Relies on clang-format: a function begins and ends in column 0."""
    begin = None
    for number, line in enumerate(text.splitlines(), 1):
        if begin is None and FUNCTION.match(line):
            begin = number
        elif line == "}" and begin is not None:
            if number - begin > LONGEST_FUNCTION:
                errors.append(f"{path.relative_to(ROOT)}:{begin}: a function of {number - begin + 1} lines; {LONGEST_FUNCTION} fill a screen")
            begin = None


def check_types(path, text, errors):
    name, fields = None, 0
    for line in text.splitlines():
        if name is None and (match := TYPE.match(line)):
            name, fields = match.group(1), 0
        elif line.startswith("};"):
            if fields > MAX_FIELDS:
                errors.append(f"{path.relative_to(ROOT)}: {name} has {fields} fields; {MAX_FIELDS} are as many as one type may have")
            name = None
        elif name and FIELD.match(line) and ") const" not in line and "delete" not in line:
            fields += "(" not in re.sub(r"GUARDED_BY\(\w+\)|=.*|\{.*|std::function<[^;]*>", "", line)


def check_file_calls(path, text, errors):
    relative = path.relative_to(ROOT).as_posix()
    if not relative.startswith("src/") or relative.startswith("src/io/") or relative.endswith("_test.cc"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if FILE_CALLS.search(line) and "MAP_ANONYMOUS" not in line:  # Memory, not a file.
            errors.append(f"{relative}:{number}: only io/ makes system calls on files")


def check_format_files(errors):
    pages = "".join((ROOT / "docs" / page).read_text() for page in ("FORMAT.md", "FOREIGN.md") if (ROOT / "docs" / page).exists())
    fuzzers = "".join(path.read_text() for path in (ROOT / "fuzz").glob("*.cc"))
    for path in sorted((ROOT / "src").rglob("*_format.cc")):
        if path.stem not in pages:
            errors.append(f"{path.relative_to(ROOT)}: {path.stem} is not named in docs/FORMAT.md or docs/FOREIGN.md")
        if path.stem not in fuzzers and not (ROOT / "fuzz" / f"{path.stem}_fuzz.cc").exists():
            errors.append(f"{path.relative_to(ROOT)}: no fuzzer names {path.stem}")


def main():
    errors = []
    for path in tracked("*.cc", "*.h", "*.py", "*.md", "scripts/*", ".ci/*"):
        text = path.read_text()
        if path.suffix in (".cc", ".h"):
            check_length(path, text, errors)
            check_file_calls(path, text, errors)
            check_functions(path, text, errors)
            check_types(path, text, errors)
    check_format_files(errors)
    print("\n".join(errors))
    print(f"{len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
