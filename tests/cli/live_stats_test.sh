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

# --- for Prometheus ---
run 0 stats live --prometheus; out_has '# TYPE tamis_writes_total counter' 'tamis_level_tables{level="0"} '
out_has 'tamis_keyspace_entries{keyspace="default"} ' 'tamis_put_duration_seconds_bucket{le="+Inf"} '
check 'nothing was written' test "$(awk '$1 == "tamis_writes_total" { print ($2 > 0) }' out)" = 1
check 'no put was timed' test "$(awk '$1 == "tamis_put_duration_seconds_count" { print ($2 > 0) }' out)" = 1
run 2 stats live --prometheus --json; err_has '--prometheus and --json'

# --- top: one frame where there is no terminal; the writer is not disturbed ---
run 0 top live --once; err_is_empty
out_has "live: written by process $writer, counters of " 'per second' 'puts' 'memory    [' 'backlog' 'stalls' 'level  runs  tables'
check 'it uses escapes' test -z "$(grep -F "$(printf '\033')" out)"
check 'it is too wide' test -z "$(awk 'length > 80' out)"
run 0 top live --interval 0.2; out_has 'per second'
run 2 top live --interval 0; run 2 top live --interval 9999; run 3 top nowhere --once
if script -qec true /dev/null >/dev/null 2>&1; then
  # top_on_terminal KEY: with a terminal, until the key is pressed.
  top_on_terminal() {
    last="top until $1"
    (sleep 3; printf "$1") | script -qec "trap : INT; stty -g >before; '$tamis' top live --interval 0.2; echo \$? >status; stty -g >after" /dev/null >out 2>err
    out_has "$(printf '\033')[?1049h" "$(printf '\033')[?25l" "$(printf '\033')[?25h$(printf '\033')[?1049l" 'per second'
    check 'it drew once' test "$(grep -c 'written by process' out)" -gt 2
    same before after
  }
  top_on_terminal q; check 'q is a failure' test "$(cat status)" = 0
  top_on_terminal '\003'; check 'Ctrl-C is no interrupt' test "$(cat status)" = 130
fi

# --- a damaged file is no obstacle ---
printf 'damaged' | dd of=live/COUNTERS bs=1 seek=200 conv=notrunc status=none; run 0 stats live; run 0 verify live

# --- they end with it ---
touch stop; wait $feeder; wait $writer; check "load failed: $(cat load.err)" test $? -eq 0
check 'COUNTERS is left' test ! -e live/COUNTERS
run 0 stats live --json; err_is_empty; check 'there is a writer' test "$(json '"writer" in d')" = False
run 0 stats live; check 'it tells of a process' test -z "$(grep 'Counters of' out)"
run 0 top live --once; out_has 'live: no process writes this store' 'level  runs'
run 0 put live after top
run 0 verify live
finish
