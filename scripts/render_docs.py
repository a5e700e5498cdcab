#!/usr/bin/env python3
"""Fills the marked blocks of docs/*.md and README.md from docs/data/, tests/golden/ and the command; --check compares.

A block is everything between `<!-- render: NAME ARGUMENTS -->` and `<!-- /render -->`:
    filters KEYS PASS   the table of filter_bench for that many keys, PASS being hash or text
    machine             machine class, compiler, date of that run
    stores              the table of store_bench, with where and when
    counted             what the tests counted, beside what LevelDB's and RocksDB's own do
    fuzzers             executions and edges of each fuzzer
    mutants             which test caught which planted bug
    coverage            lines and branches by room
    hex FILE BYTES      the first bytes of a file, sixteen a line
    options             the options of a store, as the built command lists them
    code FILE MARK      the lines of a C++ file between `// [MARK]` and `// [/MARK]`
Nothing is measured here.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- render: ([^>]*?) -->\n)(.*?)(<!-- /render -->)", re.S)


def bench():
    return json.loads((ROOT / "docs/data/filter_bench.json").read_text())


def cell(values):
    return "/".join(f"{values[mix]['median']:.1f}" for mix in ("miss", "half", "hit"))


def filters(keys, what):
    size = next(size for size in bench()["sizes"] if size["keys"] == int(keys))
    lines = ["| filter | bits/key | rate | × bound | build ns/key | single ns | batched ns |", "|---|---:|---:|---:|---:|---|---|"]
    for row in size[what]:
        if "rate" in row:
            figures = f"{row['bits_per_key']:.2f} | {100 * row['rate']:.4f} % | {row['bound_ratio']:.3f} | {row['build']['median']:.0f}"
        else:
            figures = "– | – | – | –"
        lines.append(f"| {row['name']} | {figures} | {cell(row['single'])} | {cell(row['many'])} |")
    return "\n".join(lines)


def machine():
    data = bench()
    rocksdb = f", RocksDB {data['rocksdb']} (Debian's package)" if "rocksdb" in data else ""
    return (f"Measured {data['date']} on a {data['machine']['cores']}-core cloud machine, {data['machine']['instruction_set']}, "
            f"g++ {data['machine']['compiler'].split()[0]}{rocksdb}; median of {data['rounds']} alternating rounds.")


def stores():
    data = json.loads((ROOT / "docs/data/store_bench.json").read_text())
    engines = sorted({row["engine"] for row in data["rows"]}, key=lambda name: (name != "tamis", name))
    cells = {(row["workload"], row["engine"]): row for row in data["rows"]}
    lines = ["| workload | " + " | ".join(engines) + " |", "|---|" + "---:|" * len(engines)]
    for workload in dict.fromkeys(row["workload"] for row in data["rows"]):
        texts = []
        for engine in engines:
            row = cells[workload, engine]
            ratio = "" if engine == "tamis" else f", {row['ratio']:.2f} ×"
            texts.append(f"{row['median']:.1f} [{row['low']:.1f}–{row['high']:.1f}]{ratio}")
        lines.append(f"| {workload}, {cells[workload, engines[0]]['unit']} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + (
        f"\n\nMeasured {data['date']} on a {data['machine']['cores']}-core cloud machine, {data['machine']['instruction_set']}, "
        f"g++ {data['machine']['compiler'].split()[0]}: {data['entries']:,} entries of 16 + 100 bytes, median of {data['rounds']} "
        "alternating rounds [lowest–highest], rivals with their ratio to tamis; single puts and settling once.")


# What is known of the others: their own test trees, by reading (LevelDB 1.23, RocksDB 7.8), and their documentation.
COUNTED = [
    ("distinct disks after a crash", "crash_images", "2 tests, 3 rounds each", "about 50 kills in a default run, each one a state"),
    ("runs in which one call, or all from one on, failed", "call_failures", "none", "random, 1 in 128 to 1 in 1,000 calls"),
    ("changed bytes in closed stores", "flips", "12 cases", "sampled"),
    ("operations compared with a map, and between option sets", "operations", "one test, which never calls Get", "expected-state files of db_stress"),
    ("option sets with the same answers", "option_sets", "none", "drawn flags, no comparison between them"),
    ("processes killed", "kills", "none", "about 50 in 100 minutes"),
]


def testing():
    return json.loads((ROOT / "docs/data/testing.json").read_text())


def counted():
    data = testing()
    lines = ["| what | tamis, in every run of `.ci/run` | promised | LevelDB | RocksDB |", "|---|---:|---:|---|---|"]
    for what, name, leveldb, rocksdb in COUNTED:
        lines.append(f"| {what} | {data['figures'][name]:,} | {data['promised'][name]:,} | {leveldb} | {rocksdb} |")
    runs = sum(fuzzer["runs"] for fuzzer in data["fuzzers"])
    lines.append(f"| fuzzers, inputs tried | {len(data['fuzzers'])}, {runs:,} | each 10 s | 1 | 3 |")
    caught = sum(1 for mutant in mutants_data()["mutants"] if mutant["caught_by"])
    lines.append(f"| planted bugs caught (`scripts/mutate`, not in every run) | {caught} of {len(mutants_data()['mutants'])} | 95 % | not stated | not stated |")
    every = coverage_data()["rooms"]["all"]
    lines.append(f"| lines / branches reached by the fast tests | {share(every, 'line')} / {share(every, 'branch')} | 92 % / – | not stated | not stated |")
    return "\n".join(lines) + f"\n\nCounted {data['date']}. Violations found by these runs: none."


def fuzzers():
    lines = ["| fuzzer | inputs tried | edges reached |", "|---|---:|---:|"]
    lines += [f"| {row['name']} | {row['runs']:,} | {row['edges']:,} |" for row in testing()["fuzzers"]]
    return "\n".join(lines)


def mutants_data():
    return json.loads((ROOT / "docs/data/mutants.json").read_text())


def mutants():
    lines = ["| planted bug | rule | room | first test that noticed |", "|---|---|---|---|"]
    for row in mutants_data()["mutants"]:
        lines.append(f"| {row['name']} | {row['rule']} | {row['room']} | {row['caught_by'] or '**none**'} |")
    return "\n".join(lines)


def coverage_data():
    return json.loads((ROOT / "docs/data/coverage.json").read_text())


def share(counts, what):
    return f"{100 * counts[what + '_covered'] / max(counts[what], 1):.1f} %"


def coverage():
    data = coverage_data()
    lines = ["| room | lines | reached | branches | taken |", "|---|---:|---:|---:|---:|"]
    for room, counts in data["rooms"].items():
        lines.append(f"| {room} | {counts['line']:,} | {share(counts, 'line')} | {counts['branch']:,} | {share(counts, 'branch')} |")
    return "\n".join(lines) + f"\n\nMeasured {data['date']} by `scripts/coverage`: g++ -O0, the fast tests only."


def hexdump(name, count):
    raw = (ROOT / name).read_bytes()[: int(count)]
    lines = []
    for at in range(0, len(raw), 16):
        piece = raw[at : at + 16]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)
        lines.append(f"{at:08x}  {piece.hex(' ', 1):<47}  {text}")
    return "```\n" + "\n".join(lines) + "\n```"


def options():
    built = [ROOT / folder / "tamis" for folder in ("build-test", "build") if (ROOT / folder / "tamis").exists()]
    if not built:
        sys.exit("docs/OPTIONS.md is rendered from the command, which is not built: run scripts/build first")
    newest = max(built, key=lambda path: path.stat().st_mtime)
    rows = subprocess.run([newest, "options", "--json"], capture_output=True, text=True, check=True).stdout.splitlines()
    lines = ["| option | default | values | effect |", "|---|---|---|---|"]
    for row in map(json.loads, rows):
        lines.append(f"| `{row['name']}` | `{row['default']}` | {row['range']} | {row['effect']} |")
    return "\n".join(lines)


def code(name, mark):
    found = re.search(rf"^ *// \[{mark}\]\n(.*?)^ *// \[/{mark}\]\n", (ROOT / name).read_text(), re.S | re.M)
    if not found:
        sys.exit(f"{name}: no lines between // [{mark}] and // [/{mark}]")
    return "```cpp\n" + textwrap.dedent(found.group(1)) + "```"


RENDERERS = {"filters": filters, "machine": machine, "stores": stores, "counted": counted, "fuzzers": fuzzers,
             "mutants": mutants, "coverage": coverage, "hex": hexdump, "options": options, "code": code}


def render(match):
    words = match.group(2).split()
    return match.group(1) + RENDERERS[words[0]](*words[1:]) + "\n" + match.group(4)


def main():
    stale = []
    pages = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md"]
    for page in pages:
        before = page.read_text()
        after = BLOCK.sub(render, before)
        if after == before:
            continue
        stale.append(page.relative_to(ROOT).as_posix())
        if "--check" not in sys.argv:
            page.write_text(after)
    if stale:
        print("stale: " if "--check" in sys.argv else "rendered: ", ", ".join(stale))
    print(f"{len(pages)} pages")
    sys.exit(1 if stale and "--check" in sys.argv else 0)


main()
