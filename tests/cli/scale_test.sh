#!/bin/bash
# tamis plan --size: a store that does not exist. Usage: scale_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

json() { python3 -c "import json, sys; d = json.load(open('out')); sys.exit(0 if ($1) else 1)"; }
out_json() { if json "$1"; then pass; else fail "$last: expected $1"; fi; }
fits_80_columns() { if awk '{ gsub(/[\200-\277]/, ""); if (length > 80) print }' out | grep -q .; then fail "$last: wider than 80 columns"; else pass; fi; }
makes_nothing() { if [ -z "$(ls | grep -vx -e out -e err)" ]; then pass; else fail "$last: made $(ls)"; fi; }

# --- text ---
run 0 plan --size 1GB; err_is_empty; fits_80_columns; makes_nothing
out_has '1.00 GB of keys and values: 8,620,689 entries of 16 + 100 bytes, leveled' 'bits/key' 'on disk' wanted memory reads \
  amplification 'a day of 100 GB' 'after a crash' 'Simulated over'
run 0 plan --size 10TB --option memory_bytes=1G --load-per-day 1TB; fits_80_columns
out_has 'beyond by rule' '! a day of this load needs' 'cannot keep up' '! filters have' '! the metadata of'

# Times in familiar units: a plan of hours has no compactions of 0.0026.
if tr '\n' ' ' <out | tr -s ' ' | grep -qE 'days to fill it; the largest writes [0-9.]+ GB in [0-9.]+ (seconds|minutes|hours)'; then pass; else fail "$last: unreadable times"; fi

# --- JSON ---
run 0 plan --size 1GB --json; out_is_json_lines
out_json 'd["size"] == 10**9 and d["entries"] == 10**9 // 116 and d["compaction"] == "leveled" and d["memory_bytes"] == 256 << 20'
out_json 'set(d) >= set("levels index_bytes filter_bytes wasted_reads reads_per_absent reads_per_present write_amplification compaction_hours_per_day most_load_per_day open_seconds warnings constants".split())'
out_json 'sum(l["tables"] for l in d["levels"]) == d["tables"] and sum(l["runs"] for l in d["levels"]) == d["runs"]'
out_json 'abs(sum(l["keys"] for l in d["levels"]) - d["entries"]) < 10 and d["bytes_on_disk"] > d["size"]'
out_json 'd["memtable_share"] + d["journal_share"] + d["transaction_share"] + d["index_share"] + d["filter_share"] + d["block_share"] == d["memory_bytes"]'
out_json 'd["levels_beyond_simulated"] == 0 and d["warnings"] == []'
cp out once; run 0 plan --size 1GB --json; same out once
run 0 plan --size 1GB --json --load-per-day 200GB; cp out twice
if python3 -c 'import json; a, b = (json.load(open(f))["compaction_hours_per_day"] for f in ("once", "twice")); assert abs(b / a - 2) < 1e-9'; then pass; else fail 'double the load is not double the hours'; fi
run 0 plan --size 1G --json; out_json 'd["size"] == 1 << 30'
run 0 plan --size 1000000000 --json; out_json 'd["size"] == 10**9'
run 0 plan --size 1GB --key-bytes 32 --value-bytes 1000 --json; out_json 'd["entries"] == 10**9 // 1032'
run 0 plan --size 1GB --filter-memory 0 --json; out_json 'd["filter_bytes"] == 0 and d["wasted_reads"] == d["runs"]'
run 0 plan --size 1GB --option filter=none --json; out_json 'd["filter_bytes"] == 0'
run 0 plan --size 1GB --option compaction=tiered --json; out_json 'd["compaction"] == "tiered" and d["runs"] > 5'
run 0 plan --size 1 --json; out_json 'd["entries"] == 1 and d["tables"] == 1'

# --- invalid questions ---
run 2 plan; err_has DIR --size; out_is_empty
run 2 plan --json; err_has DIR --size
run 2 plan store --size 1GB; err_has DIR --size; if [ -e store ]; then fail "$last: made a store"; else pass; fi
run 2 plan store --load-per-day 1GB; err_has --load-per-day --size
run 2 plan store --disk 1GB --key-bytes 3; err_has --size
run 2 plan --size; run 2 plan --size x; err_has --size "'x'"
run 2 plan --size 1PB; err_has --size
run 2 plan --size 99999999999TB; err_has --size
run 2 plan --size 0; err_has '0 bytes'
run 2 plan --size 1GB --key-bytes 0; err_has keys
run 2 plan --size 1GB --key-bytes 2; err_has 'told apart'
run 2 plan --size 1GB --value-bytes 2000000; err_has values
run 2 plan --size 1GB --disk 0; err_has disk
run 2 plan --size 10TB --option fanout=2; err_has levels
run 2 plan --size 10TB --option fanout=100; err_has fanout
run 2 plan --size 1TB --option compaction=manual; err_has manual
run 2 plan --size 1GB --option compaction=none; err_has compaction
run 0 plan --help; out_has --size --load-per-day 'tamis plan --size 1TB'; fits_80_columns

finish
