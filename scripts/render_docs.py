#!/usr/bin/env python3
"""Fills the marked blocks of docs/*.md and README.md from docs/data/, tests/golden/ and the command; --check compares.

A block is everything between `<!-- render: NAME ARGUMENTS -->` and `<!-- /render -->`:
    filters KEYS PASS   the table of filter_bench for that many keys, PASS being hash or text
    machine             machine class, compiler, date of that run
    stores              the table of store_bench, with where and when
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


RENDERERS = {"filters": filters, "machine": machine, "stores": stores, "hex": hexdump, "options": options, "code": code}


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
