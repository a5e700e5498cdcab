#!/bin/bash
# stats of a store that another process writes: its counters, and how old they are.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
check() { if "${@:2}"; then pass; else fail "$1"; fi; }
json() { python3 -c "import json; d = json.load(open('out')); print($1)"; }

# --- a process that loads what arrives until it is told to end ---
mkfifo pipe
"$tamis" load live pipe --quiet >load.out 2>load.err &
writer=$!
(
  while [ ! -e stop ]; do
    seq 20000 | sed 's/.*/key&\tvalue & of a store that is written while others look at it/'
    sleep 0.1
  done
) >pipe &
feeder=$!

# --- its counters appear, with its number and their age ---
for _ in $(seq 200); do
  "$tamis" stats live --json >out 2>err && grep -q '"writer": ' out && break
  sleep 0.1
done
last='stats of a live store'
out_is_json_lines; err_has "this is what that process has committed"
check 'it is another process' test "$(json 'd["writer"]["process_id"]')" = "$writer"
check 'they are old' test "$(json 'd["writer"]["age_ms"] < 60000')" = True
check 'nothing was written' test "$(json 'd["writes"] > 0 and d["bytes_written_by_users"] > 0')" = True
check 'it has no memory' test "$(json 'd["memory"]["used"] > 0')" = True
run 0 stats live; out_has "Counters of process $writer, as of " ' s ago' 'since opened'
run 0 get live key1; run 0 checkpoint live copy; check 'the copy has counters' test ! -e copy/COUNTERS

# --- a damaged file is no obstacle ---
printf 'damaged' | dd of=live/COUNTERS bs=1 seek=200 conv=notrunc status=none; run 0 stats live; run 0 verify live

# --- they end with it ---
touch stop; wait $feeder; wait $writer; check "load failed: $(cat load.err)" test $? -eq 0
check 'COUNTERS is left' test ! -e live/COUNTERS
run 0 stats live --json; err_is_empty; check 'there is a writer' test "$(json '"writer" in d')" = False
run 0 stats live; check 'it tells of a process' test -z "$(grep 'Counters of' out)"
run 0 verify live
finish
