#!/usr/bin/env bash
# How many instructions a read served from memory takes, counted by callgrind: the cost of a thousand more of them. For
# hits and absent keys the limit is half of what RocksDB takes (9,183 and 2,534). The bounds here are what we reach, with a
# margin for other compilers.
#
#     get_instructions_test.sh PROGRAM
set -euo pipefail

program=$1
most_hit=2200
most_absent=1100
most_string=2450
most_pinned=2450
most_multi_get=1650
most_scan=350
most_seek=2100

if ! command -v valgrind >/dev/null; then
  echo "valgrind is not installed: skipped"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" make "$folder/store"

instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$folder/store" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
}

failed=0
for what in hit absent string pinned multi_get scan seek; do
  few=$(instructions $what 2000)
  many=$(instructions $what 12000)
  each=$(((many - few) / 10000))
  most=most_$what
  echo "$what: $each instructions, at most ${!most}"
  [ "$each" -gt 100 ] && [ "$each" -le "${!most}" ] || failed=1
  declare "each_$what=$each"
done
echo "a value that is pinned: $each_pinned instructions; as a new string $each_string"
[ "$each_pinned" -le "$each_string" ] || failed=1

# Each on a copy: what they write must not be replayed by the next one.
writes() {
  rm -rf "$folder/copy" && cp -r "$folder/store" "$folder/copy"
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$folder/copy" "$2" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
}
batch=$((($(writes batch 6000) - $(writes batch 1000)) / 5000))
transaction=$((($(writes transaction 6000) - $(writes transaction 1000)) / 5000))
echo "two gets and two puts: $batch instructions; in a transaction $transaction, at most 1.6 times as many"
[ "$batch" -gt 1000 ] && [ $((10 * transaction)) -le $((16 * batch)) ] || failed=1
exit $failed
