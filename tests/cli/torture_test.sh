#!/bin/bash
# tamis torture: succeeds on a sound store, finds what others break, and touches no foreign files.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
check() { if "${@:2}"; then pass; else fail "$1"; fi; }

# --- a short run ---
run 0 torture t --seconds 3 --seed 1; out_has 'rounds' 'kills' 'commits acknowledged' 'no violation' '--seed 1'
err_is_empty; check 'the folder is left behind' test ! -e t
run 0 torture t --seconds 1 --seed 2 --json; out_is_json_lines
json_has ok seed rounds kills kills_opening kills_flushing kills_compacting commits reads followed flips repairs violations
out_has '"ok": true' '"seed": 2' '"violations": []'
run 0 torture t --seconds 0 --seed 3 --quiet; out_is_empty

# --- its folder can be kept, and reused ---
run 0 torture kept --seconds 1 --seed 4 --keep; check 'nothing was kept' test -f kept/TORTURE -a -d kept/store
run 0 verify kept/store
echo mine >kept/notes
run 0 torture kept --seconds 1 --seed 5; check 'a note of mine is gone' test "$(cat kept/notes)" = mine
check 'the store is left behind' test ! -e kept/store

# --- anything else is refused and left untouched ---
run 0 put store k v
mkdir empty
echo text >file
for other in store empty file /; do run 2 torture "$other" --seconds 1; err_has 'torture'; out_is_empty; done
run 0 get store k; out_is 'v\n'
check 'a folder was changed' test -z "$(ls empty)"
run 2 torture ''; run 2 torture; run 2 torture t --seconds x; run 3 torture no/such/parent --seconds 1
run 2 torture-writer store 1 1; run 0 get store k; out_is 'v\n'
echo 'something else' >empty/TORTURE; run 2 torture empty --seconds 1
run 0 help; if grep -q torture-writer out; then fail 'the overview names torture-writer'; else pass; fi
run 0 torture --help; out_has '--seconds' '--seed' '--keep'

# --- somebody empties the tables of the store while it runs ---
"$tamis" torture broken --seconds 120 --seed 6 >out 2>err &
pid=$!
while kill -0 $pid 2>/dev/null; do
  for table in broken/store/*.tms; do [ -f "$table" ] && : >"$table"; done 2>/dev/null
  sleep 0.01
done
wait $pid; check 'emptied tables were not noticed' test $? -eq 1
last='torture of a broken store'; out_has 'VIOLATION in round' 'seed 6' 'are kept: broken'
check 'the files were not kept' test -d broken/store

# --- two at once, and Ctrl-C ---
"$tamis" torture i --seconds 120 --seed 7 >interrupted.out 2>err &
pid=$!
for _ in $(seq 200); do [ -d i/store ] && break; sleep 0.05; done
run 5 torture i --seconds 1; err_has 'another'
kill -INT $pid; wait $pid; check 'Ctrl-C is not 130' test $? -eq 130
cp interrupted.out out; last='torture and Ctrl-C'; out_has 'rounds' 'no violation'
check 'Ctrl-C left files' test ! -e i
finish
