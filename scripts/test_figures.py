#!/usr/bin/env python3
"""Prints what the tests counted, and fails if a count is below its promised minimum.

    scripts/test_figures.py FILE [--json FILE]

FILE is what a test run wrote to $TAMIS_FIGURES: lines "name value"; the values of a name are summed. --json writes
docs/data/testing.json from it.
"""
import collections
import datetime
import json
import pathlib
import sys

# Per run of .ci/run. Higher is welcome; lower means that tests were removed.
PROMISED = {
    "crash_images": 20_000,
    "call_failures": 2_500,
    "flips": 65_536,
    "operations": 1_500_000,  # Model and metamorphic tests together.
    "option_sets": 24,
    "kills": 200,
    "kills_in_load": 15,
    "kills_in_flush": 15,
    "kills_in_compaction": 15,
}
FUZZ = "fuzz_"


def read(path):
    sums = collections.Counter()
    for line in pathlib.Path(path).read_text().splitlines():
        name, value = line.split()
        sums[name] += int(value)
    sums["operations"] = sums["model_operations"] + sums["metamorphic_operations"]
    return sums


def fuzzers(sums):
    names = sorted(name[len(FUZZ):-len("_runs")] for name in sums if name.startswith(FUZZ) and name.endswith("_runs"))
    return [{"name": name, "runs": sums[f"{FUZZ}{name}_runs"], "edges": sums[f"{FUZZ}{name}_edges"]} for name in names]


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    sums = read(sys.argv[1])
    figures = {name: value for name, value in sorted(sums.items()) if not name.startswith(FUZZ)}
    short = []
    for name, value in figures.items():
        least = PROMISED.get(name)
        print(f"{name:24} {value:>12,}" + (f"   at least {least:,}" if least else ""))
        if least and value < least:
            short.append(name)
    short += [name for name in PROMISED if name not in figures]
    if len(sys.argv) == 4:
        data = {"date": datetime.date.today().isoformat(), "figures": figures, "promised": PROMISED, "fuzzers": fuzzers(sums)}
        pathlib.Path(sys.argv[3]).write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    print(f"too few: {', '.join(short)}" if short else "all at or above their minimum")
    sys.exit(1 if short else 0)


main()
