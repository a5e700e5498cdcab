#!/usr/bin/env python3
"""Writes docs/data/scale.json: the output of `tamis plan --size` for the stores in docs/SCALE.md. --check recomputes
some plans and compares: they are arithmetic, so they are the same on every machine."""
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/scale.json"
SIZES = {"100GB": "8G", "1TB": "64G", "10TB": "512G"}  # With memory that fits filters and indexes.
POLICIES = ["leveled", "tiered", "lazy"]
MEMORIES = ["256M", "8G", "64G", "512G"]
MACHINES = [(1, 1), (7, 1), (31, 1), (31, 4)]
MEMTABLES = ["32M", "256M", "1G", "4G"]


def command():
    built = [ROOT / folder / "tamis" for folder in ("build-test", "build") if (ROOT / folder / "tamis").exists()]
    if not built:
        sys.exit("docs/data/scale.json comes from the command, which is not built: run scripts/build first")
    return max(built, key=lambda path: path.stat().st_mtime)


def ask(size, machine=(), **options):
    words = [command(), "plan", "--size", size, "--json", *machine]
    for name, value in options.items():
        words += ["--option", f"{name}={value}"]
    plan = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return {"asked": {"size": size, **options}, **plan}


def by_policy():
    return [ask(size, memory_bytes=memory, compaction=policy) for size, memory in SIZES.items() for policy in POLICIES]


def by_machine():
    """Compacting threads and disks, for 1 TB."""
    return [ask("1TB", ("--compaction-threads", str(threads), "--disks", str(disks)), memory_bytes=SIZES["1TB"], compaction=policy)
            for policy in ("leveled", "tiered") for threads, disks in MACHINES]


def differences(old, new, where=""):
    if isinstance(old, dict):
        if old.keys() != new.keys():
            return [f"{where}: different fields"]
        return [line for key in old for line in differences(old[key], new[key], f"{where}.{key}")]
    if isinstance(old, list):
        if len(old) != len(new):
            return [f"{where}: {len(old)} and {len(new)}"]
        return [line for at, pair in enumerate(zip(old, new)) for line in differences(*pair, f"{where}[{at}]")]
    if isinstance(old, float) and isinstance(new, (int, float)) or isinstance(new, float) and isinstance(old, int):
        return [] if math.isclose(old, new, rel_tol=1e-9) else [f"{where}: {old}, now {new}"]
    return [] if old == new else [f"{where}: {old}, now {new}"]


def main():
    plans = by_policy()
    if "--check" in sys.argv:
        found = differences(json.loads(DATA.read_text())["by_policy"], plans)
        print("\n".join(found[:20]) or f"{len(plans)} plans unchanged")
        sys.exit(1 if found else 0)
    data = {
        "by_policy": plans,
        "by_machine": by_machine(),
        "by_memory": [ask(size, memory_bytes=memory) for size in SIZES for memory in MEMORIES],
        "by_memtable": [ask("10TB", memory_bytes="512G", memtable_bytes=memtable) for memtable in MEMTABLES],
    }
    DATA.write_text(json.dumps(data, indent=1) + "\n")


main()
