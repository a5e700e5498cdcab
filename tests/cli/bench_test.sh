#!/bin/bash
# tamis bench, which runs tamis-bench if it was built beside the command. Usage: bench_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 bench --help
out_has "--engine" "--entries" "tamis bench hit absent"

# The command alone, as in the package.
last="tamis bench without tamis-bench"
mkdir alone && cp "$tamis" alone/tamis
PATH=/nowhere "$PWD/alone/tamis" bench hit >out 2>err
if [ $? -eq 3 ]; then pass; else fail "$last: not status 3"; fi
err_has "tamis-bench is not installed" "./scripts/build"
if ! [ -x "$(dirname "$tamis")/tamis-bench" ]; then
  finish
  exit
fi

run 0 bench hit seek_1 --engine tamis --entries 500 --rounds 3
out_has "get, hit" "seek + 1" "checksum" "tamis"
if grep -q "absent" out; then fail "$last: an unrequested row"; else pass; fi

fits_80_columns() { if awk 'length > 80' out | grep -q .; then fail "$last: wider than 80 columns"; else pass; fi; }
fits_80_columns

# A rival built with assertions is slower than it could be, and its name says so.
run 0 bench hit --entries 500 --rounds 1
fits_80_columns
names_assertions() {  # LIBRARY NAME
  local library has=no says=no
  library=$(ldd "$(dirname "$tamis")/tamis-bench" | awk -v name="lib$1.so" 'index($1, name) == 1 {print $3}')
  [ -n "$library" ] || return 0
  nm -D "$library" | grep -q ' U __assert_fail' && has=yes
  grep -q "$2 [0-9.]* with assertions" out && says=yes
  if [ $has = $says ]; then pass; else fail "$last: $2 has assertions: $has, says so: $says"; fi
}
names_assertions rocksdb RocksDB
names_assertions leveldb LevelDB

run 0 bench hit disk --engine tamis --entries 500 --rounds 3 --json --svg charts
json_has rows workload engine median low high unit ratio
if python3 -c 'import json; rows = json.load(open("out"))["rows"]; assert [r["workload"] for r in rows] == ["hit", "disk"]; assert rows[0]["ratio"] == 1; assert rows[0]["rounds"] == 3'; then pass; else fail "$last: unexpected JSON"; fi
for chart in reads cost; do
  if python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "charts/$chart.svg"; then pass; else fail "charts/$chart.svg is not an SVG"; fi
done
run 0 bench hit --engine tamis --entries 500 --rounds 1 --svg one.svg
if grep -q "<svg" one.svg; then pass; else fail "one.svg is not an SVG"; fi
# As a store grows: curves of one contestant and of two.
is_svg() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }
run 0 bench --growth --engine tamis --entries 2000 --rounds 1; out_has "as it grows" "seek + 100"; fits_80_columns
run 0 bench --growth --engine tamis --entries 2000 --rounds 1 --svg curves --json
cp out growth.json
for chart in growth_load growth_runs; do
  if is_svg "curves/$chart.svg"; then pass; else fail "curves/$chart.svg is not an SVG"; fi
  if [ "$(grep -c '<polyline' "curves/$chart.svg")" -eq 3 ]; then pass; else fail "curves/$chart.svg lacks a curve for each operation"; fi
  if grep -q 'nan\|inf' "curves/$chart.svg"; then fail "curves/$chart.svg lacks positions for its points"; else pass; fi
done
run 0 bench --growth --engine tamis,tamis:block_bytes=1KiB --entries 2000 --rounds 1 --svg both.svg
if is_svg both.svg && [ "$(grep -c '<polyline' both.svg)" -eq 12 ]; then pass; else fail "both.svg lacks a curve for each operation and contestant"; fi

# Measurements can be drawn again.
bench=$(dirname "$tamis")/tamis-bench
last="tamis-bench --from"
if "$bench" --from growth.json --svg again && cmp curves/growth_load.svg again/growth_load.svg; then pass; else fail "$last: a different chart"; fi
"$bench" --from no-such-file --svg again 2>err; if [ $? -eq 3 ]; then pass; else fail "$last: not status 3"; fi
err_has "no-such-file: no figures found"
echo '{"rows": 7}' >odd.json
"$bench" --from odd.json --svg again 2>err; if [ $? -eq 3 ]; then pass; else fail "$last: not status 3"; fi
err_has "not the figures of a run"
"$bench" --from growth.json 2>err; if [ $? -eq 2 ]; then pass; else fail "$last: not status 2"; fi
err_has "--svg"

if compgen -G "*.tmp" >/dev/null; then fail "a store was left behind"; else pass; fi

run 0 bench hit --engine tamis,tamis:block_bytes=1KiB --entries 500 --rounds 1
out_has "block_bytes=1KiB" "x tamis"
run 2 bench nonsense
err_has "unknown workload 'nonsense'"
run 2 bench hit --engine nonsense
err_has "unknown engine 'nonsense'"
run 2 bench hit --engine tamis:nonsense=1
err_has "unknown option 'nonsense'"
run 2 bench hit --entries 0
run 3 bench hit --engine tamis --entries 10 --rounds 1 --directory /dev/null
finish
