#!/usr/bin/env python3
"""Fills the marked blocks of docs/*.md and README.md from docs/data/, tests/golden/ and the command; --check compares.

A block is everything between `<!-- render: NAME ARGUMENTS -->` and `<!-- /render -->`:
    filters KEYS PASS   the table of filter_bench for that many keys, PASS being hash or text
    machine             machine class, compiler, date of that run
    stores [GROUP...]   the table of tamis-bench (docs/data/store_bench.json): these groups of rows, or all
    wiredtiger [GROUP...]  the same for the run with WiredTiger (docs/data/store_wiredtiger.json)
    sustained           the same for sustained overwriting (docs/data/store_sustained.json), with the rate of each tenth
    large-values        the same for values of 4 KiB to 1 MiB (docs/data/store_values.json)
    ratios              how many times faster tamis was, for selected rows
    lost                the same for all rows in which a rival was faster
    builds              whether the rivals were built with assertions
    promises            the promises in docs/RULES.md and their tests
    stores-where        machine class, versions, date of that run
    targets             how many targets were met, and which were missed
    growth-load         cost as the load grows, from tamis-bench --growth (docs/data/store_growth.json)
    settings            the effect of changing one option at a time (docs/data/option_bench.json)
    growth-runs         cost against the number of sorted runs, from the same benchmark
    counted             the counts of the tests, compared with LevelDB's and RocksDB's tests
    fuzzers             executions and edges of each fuzzer
    mutants             which test caught which planted bug
    coverage            lines and branches by module
    hex FILE BYTES      the first bytes of a file, sixteen a line
    scale-sizes         the cost of stores of three sizes under each policy (docs/data/scale.json)
    scale-memory        reads per lookup by size and memory
    scale-machines      the load per day of a machine with many cores and disks
    scale-memtables     the effect of larger memtables on the largest
    scale-constants     the measured times used (docs/data/scale_constants.json)
    options             the store options, as listed by the built command
    code FILE MARK      the lines of a C or C++ file between `// [MARK]` and `// [/MARK]`; CMake and shell use `#`
Nothing is measured here.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap
import tomllib

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
    rocksdb = f", RocksDB {data['rocksdb']} (Debian's package, built with assertions)" if "rocksdb" in data else ""
    return (f"Measured {data['date']} on a {data['machine']['cores']}-core cloud machine, {data['machine']['instruction_set']}, "
            f"g++ {data['machine']['compiler'].split()[0]}{rocksdb}; median of {data['rounds']} alternating rounds.")


def figure(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.4f}"


def store_bench(name="store_bench"):
    return json.loads((ROOT / f"docs/data/{name}.json").read_text())


def spread(row):
    return figure(row["median"]) + (f" [{figure(row['low'])}–{figure(row['high'])}]" if row["high"] > row["low"] else "")


def verdict(target):
    return f"{target['text'].replace('<=', '≤').replace('>=', '≥').replace(' x ', ' × ')}: {'met' if target['met'] else '**missed**'}"


def stores(*groups):
    return store_table(store_bench(), groups)


def wiredtiger(*groups):
    return of_one_run("store_wiredtiger", *groups)


def of_one_run(name, *groups):
    data = store_bench(name)
    return store_table(data, groups) + "\n\n" + where(data, f"median of {data['rounds']} alternating rounds [lowest–highest], with the ratio to tamis.")


def one_group(name, group, more):
    """The table of a run of its own, and where it was measured."""
    data = store_bench(name)
    machine = data["machine"]
    return (store_table(data, (group,)) + f"\n\nMeasured {data['date']} on a {machine['cores']}-core cloud machine, {machine['instruction_set']}, "
            f"g++ {machine['compiler'].split()[0]}{more(data)}")


def large_values():
    return one_group("store_values", "values", lambda data:
                     f": median of {data['rounds']} alternating rounds [lowest–highest], with the ratio to tamis. "
                     f"Each store has {data['entries'] * 200 // 1_000_000} MB of values.")


def deletes():
    return one_group("store_deletes", "deletes", lambda data:
                     f": median of {data['rounds']} alternating rounds [lowest–highest], with the ratio to tamis. "
                     f"{data['entries'] * 2 // 5:,} items pass through the queue, which holds {data['entries'] // 50:,}; "
                     f"{'the deletes remove' if any(row['workload'] == 'remove_each' for row in data['rows']) else 'the range delete removes'} "
                     f"{data['entries'] * 9 // 10:,} of {data['entries']:,} keys.")


def workloads():
    return of_one_run("store_workloads", "reads", "fills", "scans", "sync", "cost", "starts")


def beside_writer():
    return of_one_run("store_mixed", "mixed")


def larger():
    return of_one_run("store_larger", "larger")


TENTH = re.compile(r"(uniform|zipfian)_(\d+)")


def sustained():
    if not (ROOT / "docs/data/store_sustained.json").exists():
        return NOT_MEASURED
    data = store_bench("store_sustained")
    names = {engine["engine"]: engine["name"] for engine in data["engines"]}
    tenths = {}
    for row in data["rows"]:
        if found := TENTH.fullmatch(row["workload"]):
            tenths.setdefault((found[1], row["engine"]), []).append(figure(row["median"]))
    by_tenth = scale_table(["kops/s in each tenth"] + [str(tenth) for tenth in range(1, 11)],
                           [[f"{names[engine]}, {keys}"] + rates for (keys, engine), rates in tenths.items()])
    summed = data | {"rows": [row for row in data["rows"] if not TENTH.fullmatch(row["workload"])]}
    return (store_table(summed, ("sustained",)) + "\n\n" + by_tenth + "\n\n" +
            where(data, f"{data['sustained_puts']:,} puts, median of {data['rounds']} alternating rounds [lowest–highest], with the ratio to tamis."))


NOT_MEASURED = "Not measured yet."


def store_table(data, groups):
    rows = [row for row in data["rows"] if not groups or row["group"] in groups]
    if not rows:
        return NOT_MEASURED
    present = {row["engine"] for row in rows}
    engines = [engine for engine in data["engines"] if engine["engine"] in present]
    cells = {(row["workload"], row["engine"]): row for row in rows}
    has_targets = any(row.get("targets") for row in rows)
    heads = [engine["name"] for engine in engines] + (["target"] if has_targets else [])
    lines = ["| workload | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(engines) + ("---|" if has_targets else "")]
    for workload in dict.fromkeys(row["workload"] for row in rows):
        texts = []
        for engine in engines:
            row = cells.get((workload, engine["engine"]))
            ratio = f", {row['ratio']:.2f} ×" if row and engine["engine"] != "tamis" and row["ratio"] is not None else ""
            texts.append(spread(row) + ratio if row else "–")
        if has_targets:
            texts.append("; ".join(map(verdict, cells.get((workload, "tamis"), {}).get("targets", []))) or "–")
        any_row = next(row for row in rows if row["workload"] == workload)
        lines.append(f"| {any_row['title']}, {any_row['unit']} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


RATIO_ROWS = ("hit", "absent", "absent_100", "hit_100", "multi_get", "fill_single", "fill_batch", "seek_1", "seek_100", "scan", "ycsb_a",
              "ycsb_b", "ycsb_c", "sync_1", "sync_100", "disk", "put_p99")


# Not comparisons of stores: paces of the benchmark itself, and the memory budget of a store.
NOT_COMPARED = ("paced_nothing_p999", "put_paced_scanning", "put_paced_getting", "resident")


def times_faster(cells, workload, engine):
    """How many times faster tamis was than the engine in this row; None if either has no figure."""
    ours, theirs = cells.get((workload, "tamis")), cells.get((workload, engine))
    if ours is None or theirs is None or not theirs["ratio"]:
        return None
    return 1 / theirs["ratio"] if ours["more_is_better"] else theirs["ratio"]


def ratio_table(pick):
    """The rows that `pick` selects by name and by how many times faster than each rival tamis was."""
    data = store_bench()
    rivals = [engine for engine in data["engines"] if engine["engine"] != "tamis"]
    cells = {(row["workload"], row["engine"]): row for row in data["rows"]}
    lines = ["| | tamis | " + " | ".join(f"against {engine['name']}" for engine in rivals) + " |", "|---|" + "---:|" * (len(rivals) + 1)]
    for workload in dict.fromkeys(row["workload"] for row in data["rows"]):
        faster = [times_faster(cells, workload, engine["engine"]) for engine in rivals]
        if (workload, "tamis") not in cells or not pick(workload, [times for times in faster if times is not None]):
            continue
        ours = cells[(workload, "tamis")]
        texts = ["–" if times is None else f"{times:,.{0 if times >= 10 else 1 if times >= 1 else 2}f} ×" for times in faster]
        lines.append(f"| {ours['title']} | {figure(ours['median'])} {ours['unit']} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def ratios():
    return ratio_table(lambda workload, faster: workload in RATIO_ROWS and all(times >= 1 for times in faster))


def lost():
    return ratio_table(lambda workload, faster: workload not in NOT_COMPARED and any(times < 1 for times in faster))


WITH_ASSERTIONS = " with assertions"


def builds():
    """Whether the rivals were built with assertions, and how that affects the tables."""
    slowed = [engine["name"].removesuffix(WITH_ASSERTIONS) for engine in store_bench()["engines"] if engine["name"].endswith(WITH_ASSERTIONS)]
    if not slowed:
        return "All rivals are release builds, made by `scripts/build-rivals`."
    return (f"{' and '.join(slowed)} {'are' if len(slowed) > 1 else 'is'} **built with assertions**, as Debian's packages are. For RocksDB, assertions were "
            "measured to cost a factor of about 1.9 in fills and 1.3–1.4 in reads. Divide by it to compare with a release build.")


PROMISE = re.compile(r"### (P\d): ([^\n]+)\n(.+?)\n\n- Kept by: [^\n]+\n- Tests: (.+)", re.S)


def promises():
    text = (ROOT / "docs/RULES.md").read_text()
    rows = []
    for section in re.findall(r"^### P\d: .+?^- Tests: [^\n]+(?:\n  [^\n]+)*$", text, re.M | re.S):
        number, title, words, tests = PROMISE.fullmatch(section).groups()
        rows.append(f"| {number} | **{title}.** {' '.join(words.split())} | {' '.join(tests.split())} |")
    return "\n".join(["| | promise | tested by |", "|---|---|---|"] + rows)


def where(data, what):
    return (f"Measured {data['date']} on a {data['machine']['cores']}-core cloud machine, {data['machine']['instruction_set']}, "
            f"g++ {data['machine']['compiler'].split()[0]}: {data['entries']:,} entries of 16 + 100 bytes, {what}")


def stores_where():
    data = store_bench()
    once = [title for title in dict.fromkeys(row["title"] for row in data["rows"] if row["rounds"] == 1)] if data["rounds"] > 1 else []
    text = where(data, f"median of {data['rounds']} alternating rounds [lowest–highest], rivals with their ratio to tamis")
    versions = ", ".join(engine["name"] for engine in data["engines"] if engine["engine"] != "tamis")
    pace = f"; puts at an equal rate: {data['put_rate']:,} per second" if "put_rate" in data else ""
    return text + pace + (f"; once: {', '.join(once)}" if once else "") + f". Rivals: {versions}."


def targets():
    judged = [(row, target) for row in store_bench()["rows"] for target in row.get("targets", [])]
    missed = [f"- {row['title']}: {figure(row['median'])} {row['unit']}, {verdict(target)} (bound {figure(target['bound'])})"
              for row, target in judged if not target["met"]]
    if not judged:
        return "None was judged in this run."
    return f"{len(judged) - len(missed)} of {len(judged)} targets met." + ("\n\n" + "\n".join(missed) if missed else "")


def growth(part, columns):
    path = ROOT / "docs/data/store_growth.json"
    if not path.exists():
        return NOT_MEASURED
    data = json.loads(path.read_text())
    lines = ["| " + " | ".join(head for head, _ in columns) + " |", "|---|" + "---:|" * (len(columns) - 1)]
    for row in data["growth"][part]:
        cells = [row[key] if key == "engine" else f"{row[key]:,}" if isinstance(row[key], int) else figure(row[key]) for _, key in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n" + where(data, f"median of {data['rounds']} rounds of lookups.")


def growth_load():
    return growth("load", [("store", "engine"), ("entries", "entries"), ("ns per put", "put_ns"), ("ns per hit", "hit_ns"),
                           ("ns per absent key", "absent_ns"), ("anonymous MiB", "anonymous_mib")])


def growth_runs():
    return growth("runs", [("store", "engine"), ("runs", "runs"), ("ns per hit", "hit_ns"), ("ns per absent key", "absent_ns"),
                           ("µs per seek + 100", "seek_100_us"), ("anonymous MiB", "anonymous_mib")])


def settings():
    path = ROOT / "docs/data/option_bench.json"
    if not path.exists():
        return NOT_MEASURED
    data = json.loads(path.read_text())
    workloads = list(dict.fromkeys((row["workload"], row["title"], row["unit"]) for row in data["rows"]))
    cells = {(row["workload"], row["engine"]): row for row in data["rows"]}
    lines = ["| | " + " | ".join(f"{title}, {unit}" for _, title, unit in workloads) + " |", "|---|" + "---:|" * len(workloads)]
    for engine in data["engines"]:
        is_default = engine["engine"] == "tamis"
        texts = []
        for workload, _, _ in workloads:
            row = cells.get((workload, engine["engine"]))
            texts.append("–" if row is None else spread(row) if is_default else f"{row['ratio']:.2f} ×" if row["ratio"] is not None else figure(row["median"]))
        lines.append(f"| {'the baseline' if is_default else '`' + engine['name'] + '`'} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n\n" + where(data, f"median of {data['rounds']} alternating rounds; below the first row, ratios to it.")


# The figures of the others come from their test trees (LevelDB 1.23, RocksDB 7.8) and their documentation.
COUNTED = [
    ("distinct disk images after a crash", "crash_images", "2 tests, 3 rounds each", "about 50 kills in a default run, one image each"),
    ("runs in which one call, or all from one on, failed", "call_failures", "none", "random, 1 in 128 to 1 in 1,000 calls"),
    ("changed bytes in closed stores", "flips", "12 cases", "sampled"),
    ("operations compared with a map, and between option sets", "operations", "one test, which never calls Get", "expected-state files of db_stress"),
    ("option sets with the same answers", "option_sets", "none", "random flags, not compared with each other"),
    ("processes killed", "kills", "none", "about 50 in 100 minutes"),
]


def testing():
    return json.loads((ROOT / "docs/data/testing.json").read_text())


def counted():
    data = testing()
    lines = ["| what | tamis, in every run of `.ci/run` | minimum | LevelDB | RocksDB |", "|---|---:|---:|---|---|"]
    for what, name, leveldb, rocksdb in COUNTED:
        lines.append(f"| {what} | {data['figures'][name]:,} | {data['promised'][name]:,} | {leveldb} | {rocksdb} |")
    runs = sum(fuzzer["runs"] for fuzzer in data["fuzzers"])
    lines.append(f"| fuzzers, inputs tried | {len(data['fuzzers'])}, {runs:,} | each 10 s | 1 | 3 |")
    run = [mutant for mutant in mutants_data() if mutant["caught_by"]]
    caught = sum(1 for mutant in run if mutant["caught_by"] != "survived")
    lines.append(f"| planted bugs caught (`scripts/mutate`, not in every run) | {caught} of {len(run)}, {len(mutants_data()) - len(run)} more not run | 95 % | not stated | not stated |")
    every = coverage_data().get("modules", {}).get("all")
    reached = f"{share(every, 'line')} / {share(every, 'branch')}" if every else "not measured yet"
    lines.append(f"| lines / branches reached by the fast tests | {reached} | 92 % / – | not stated | not stated |")
    return "\n".join(lines) + f"\n\nCounted {data['date']}. A violation fails the run."


def fuzzers():
    lines = ["| fuzzer | inputs tried | edges reached |", "|---|---:|---:|"]
    lines += [f"| {row['name']} | {row['runs']:,} | {row['edges']:,} |" for row in testing()["fuzzers"]]
    return "\n".join(lines)


def mutants_data():
    """The table's rows, each with the test that caught it; "survived" if none did, None if it was not run."""
    known = {row["name"]: row["caught_by"] for row in json.loads((ROOT / "docs/data/mutants.json").read_text())["mutants"]}
    rows = tomllib.loads((ROOT / "tests/mutants.toml").read_text())["mutant"]
    return [row | {"caught_by": known.get(row["name"])} for row in rows]


def mutants():
    lines = ["| planted bug | rule | module | first test that noticed |", "|---|---|---|---|"]
    for row in mutants_data():
        noticed = {None: "not run", "survived": "**none**"}.get(row["caught_by"], row["caught_by"])
        lines.append(f"| {row['name']} | {row['rule']} | {row['module']} | {noticed} |")
    return "\n".join(lines)


def coverage_data():
    path = ROOT / "docs/data/coverage.json"
    return json.loads(path.read_text()) if path.exists() else {}


def share(counts, what):
    return f"{100 * counts[what + '_covered'] / max(counts[what], 1):.1f} %"


def coverage():
    data = coverage_data()
    if not data:
        return "Not measured yet: `scripts/coverage`."
    lines = ["| module | lines | reached | branches | taken |", "|---|---:|---:|---:|---:|"]
    for module, counts in data["modules"].items():
        lines.append(f"| {module} | {counts['line']:,} | {share(counts, 'line')} | {counts['branch']:,} | {share(counts, 'branch')} |")
    return "\n".join(lines) + f"\n\nMeasured {data['date']} by `scripts/coverage`: g++ -O0, the fast tests only."


def hexdump(name, count):
    """The first bytes of a file; the last ones for a negative count."""
    raw = (ROOT / name).read_bytes()
    begin, end = (0, int(count)) if int(count) >= 0 else (len(raw) + int(count), len(raw))
    lines = []
    for at in range(begin, end, 16):
        piece = raw[at : min(at + 16, end)]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in piece)
        lines.append(f"{at:08x}  {piece.hex(' ', 1):<47}  {text}")
    return "```\n" + "\n".join(lines) + "\n```"


def scale_data(group):
    return json.loads((ROOT / "docs/data/scale.json").read_text())[group]


def scale_bytes(count):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1000 or unit == "TiB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024


def scale_table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def seconds(value):
    return f"{value:.1f} s" if value < 60 else f"{value / 60:.0f} min"


def hours(value):
    return f"{value * 3600:.0f} s" if value < 1 / 60 else f"{value * 60:.0f} min" if value < 1 else f"{value:.1f} h" if value < 10 else f"{value:.0f} h"


def spaced(size):
    return re.sub(r"(\d+)([A-Z]B?)", lambda match: f"{match[1]} {match[2] if match[2].endswith('B') else match[2] + 'iB'}", size)


SCALE_ROWS = [
    ("runs / tables", lambda plan: f"{plan['runs']} / {plan['tables']:,}"),
    ("indexes, all in memory", lambda plan: scale_bytes(plan["index_bytes"])),
    ("filters", lambda plan: f"{scale_bytes(plan['filter_bytes'])}, {8 * plan['filter_bytes'] / plan['entries']:.1f} bits per key"),
    ("beyond memory_bytes", lambda plan: scale_bytes(plan["memory_beyond_budget"])),
    ("reads: absent / present key", lambda plan: f"{plan['reads_per_absent']:.4f} / {plan['reads_per_present']:.2f}"),
    ("write amplification, at that size / from empty", lambda plan: f"{plan['write_amplification']:.1f} / {plan['fill_write_amplification']:.1f}"),
    ("compaction per day at 100 GB/day", lambda plan: hours(plan["compaction_hours_per_day"])),
    ("max load per day", lambda plan: f"{plan['most_load_per_day'] / 1e9:,.0f} GB"),
    ("largest compaction: output / time", lambda plan: f"{plan['largest_compaction_bytes'] / 1e9:,.1f} GB / {hours(plan['largest_compaction_hours'])}"),
    ("compaction during fill", lambda plan: hours(plan["fill_hours"])),
    ("opening: clean / after a crash", lambda plan: f"{seconds(plan['open_seconds'])} / {seconds(plan['open_after_crash_seconds'])}"),
    ("reading all indexes and filters", lambda plan: seconds(plan["warm_seconds"])),
    ("manifest, freshly written", lambda plan: scale_bytes(plan["manifest_bytes"])),
]


def scale_sizes():
    plans = scale_data("by_policy")
    parts = []
    for size in dict.fromkeys(plan["asked"]["size"] for plan in plans):
        of_size = [plan for plan in plans if plan["asked"]["size"] == size]
        beyond = of_size[0]["levels_beyond_simulated"]
        how = "fully simulated" if beyond == 0 else f"{beyond} level{'s' if beyond > 1 else ''} extrapolated"
        parts.append(f"**{spaced(size)}**, `memory_bytes={of_size[0]['asked']['memory_bytes']}`, {of_size[0]['entries']:,} entries; {how}:\n\n"
                     + scale_table([""] + [plan["compaction"] for plan in of_size],
                                   [[name] + [cell(plan) for plan in of_size] for name, cell in SCALE_ROWS]))
    return "\n\n".join(parts)


def scale_memory():
    plans = scale_data("by_memory")
    memories = list(dict.fromkeys(plan["asked"]["memory_bytes"] for plan in plans))
    rows = []
    for size in dict.fromkeys(plan["asked"]["size"] for plan in plans):
        of_size = [plan for plan in plans if plan["asked"]["size"] == size]
        rows.append([spaced(size)] + [f"{plan['reads_per_absent']:.3g} / {plan['reads_per_present']:.2f}; {8 * plan['filter_bytes'] / plan['entries']:.2g} bits, "
                                      f"{100 * min(1, plan['index_share'] / plan['index_bytes']):.0f} %" for plan in of_size])
    return scale_table(["size"] + [spaced(memory) for memory in memories], rows)


def scale_machines():
    plans = scale_data("by_machine")
    rows = [[plan["compaction"], str(plan["compaction_threads"]), str(plan["disks"]), SCALE_ROWS[7][1](plan), hours(plan["fill_hours"]),
             hours(plan["flush_hours_per_day"])] for plan in plans]
    return scale_table(["policy", "compacting threads", "disks of 500 MB/s", "max load per day", "compaction during fill",
                        "flushes per day at 100 GB/day"], rows)


def scale_memtables():
    plans = scale_data("by_memtable")
    cells = [SCALE_ROWS[i] for i in (5, 6, 7, 8, 10)]
    return scale_table([spaced(plans[0]["asked"]["size"]) + ", leveled"] + [f"`memtable_bytes={plan['asked']['memtable_bytes']}`" for plan in plans],
                       [[name] + [cell(plan) for plan in plans] for name, cell in cells])


def scale_constants():
    data = json.loads((ROOT / "docs/data/scale_constants.json").read_text())
    used = scale_data("by_policy")[0]["constants"]
    rows = []
    for name, row in data["constants"].items():
        digits = 0 if row["median"] >= 10 else 2
        rows.append([f"`{name}`", f"{used[name]:g}", f"{row['median']:,.{digits}f} [{row['low']:,.{digits}f}–{row['high']:,.{digits}f}]"])
    return scale_table(["constant", "used", "measured"], rows) + (
        f"\n\nMeasured {data['date']} on a {data['machine']['cores']}-core cloud machine, {data['machine']['instruction_set']}, "
        f"g++ {data['machine']['compiler'].split()[0]}, by `scale_bench --rounds {data['rounds']}`: CPU time, median [lowest–highest].")


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
    language = {".c": "c", ".cc": "cpp", ".h": "cpp", ".txt": "cmake"}.get(pathlib.Path(name).suffix, "sh")
    comment = "//" if language in ("c", "cpp") else "#"
    found = re.search(rf"^ *{comment} \[{mark}\]\n(.*?)^ *{comment} \[/{mark}\]\n", (ROOT / name).read_text(), re.S | re.M)
    if not found:
        sys.exit(f"{name}: no lines between {comment} [{mark}] and {comment} [/{mark}]")
    return f"```{language}\n" + textwrap.dedent(found.group(1)) + "```"


RENDERERS = {"filters": filters, "machine": machine, "wiredtiger": wiredtiger, "large-values": large_values, "deletes": deletes, "sustained": sustained, "workloads": workloads, "beside-writer": beside_writer, "larger": larger, "stores": stores, "stores-where": stores_where, "ratios": ratios, "lost": lost,
             "builds": builds, "promises": promises,
             "targets": targets,
             "growth-load": growth_load, "growth-runs": growth_runs, "counted": counted, "fuzzers": fuzzers,
             "mutants": mutants, "coverage": coverage, "scale-sizes": scale_sizes,
             "scale-memory": scale_memory, "scale-machines": scale_machines, "scale-memtables": scale_memtables, "scale-constants": scale_constants,
             "hex": hexdump, "options": options, "settings": settings, "code": code}


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
