#!/bin/bash
# tamis import rocksdb with a store that RocksDB writes. Usage: rocksdb_import_test.sh TAMIS GOLDEN ROCKSDB_STORE
rocksdb_store=$3
# shellcheck source=../cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

"$rocksdb_store" make old 20000
cp -a old before
run 0 import rocksdb old new
out_has 'verified: old and new have the same count and the same checksum'
err_is_empty
if diff -r old before >out; then pass; else fail 'the source was changed'; fi
run 0 keyspaces new; out_has default second
for family in default second; do
  run 0 dump new --hex --keyspace $family
  mv out new.hex
  "$rocksdb_store" dump before $family >old.hex
  last="the dumps of $family"
  same old.hex new.hex
  if [ -s old.hex ]; then pass; else fail 'nothing to compare'; fi
done
run 0 import rocksdb old json --json --option filter=bloom
out_is_json_lines
json_has entries checksum verified
run 2 import rocksdb old new; err_has 'not an empty folder'
run 3 import rocksdb missing none; err_has 'missing: RocksDB says'
run 2 import leveldb old none; err_has 'tamis import rocksdb'
if [ ! -e none ]; then pass; else fail 'a failed import has left something'; fi

# Without the program.
mkdir alone && cp "$tamis" alone/tamis
last='tamis without tamis-import-rocksdb'
PATH=/usr/bin:/bin alone/tamis import rocksdb old none >out 2>err
status=$?
if [ $status -eq 3 ]; then pass; else fail "status $status"; fi
err_has 'tamis-import-rocksdb is not installed' librocksdb-dev
finish
