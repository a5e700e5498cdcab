#!/bin/bash
# tamis import: with the folder that LevelDB has written for tests/golden. Usage: import_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cp -r "$golden/leveldb/folder" old
run 0 import leveldb old new
out_has '32 entries' 'verified: old and new have the same count and the same checksum'
err_is_empty
run 0 dump new --hex
same out "$golden/leveldb/folder.hex"
run 0 keyspaces new; out_has default
if diff -r old "$golden/leveldb/folder" >out; then pass; else fail 'the source was changed'; fi

run 0 import leveldb old json --json
out_is_json_lines
json_has entries bytes checksum verified seconds
run 0 import leveldb old quiet --quiet; out_is_empty
mkdir empty
run 0 import leveldb old/ empty/ --option filter=bloom
run 0 get empty 'empty value'; out_is '\n'

# Where nothing can be imported to.
run 2 import leveldb old new; err_has 'not an empty folder'
run 2 import leveldb old old; err_has 'not an empty folder'
run 2 import leveldb old new/CURRENT; err_has 'not an empty folder'
run 2 import leveldb old; err_has DIR
mkdir other && ln -s other link
for name in . link other/..; do run 2 import leveldb old $name; err_has 'cannot get this one'; done
run 2 import; err_has "'tamis help import' lists them"
run 2 import sqlite old new; err_has "'tamis help' lists them"

# What is no LevelDB store leaves nothing behind.
run 3 import leveldb missing none; err_has 'missing: no LevelDB store is here'
run 4 import leveldb empty none; err_has 'empty/CURRENT' 'does not name a manifest'
mkdir nothing; run 3 import leveldb nothing none; err_has 'there is no file CURRENT'
if [ ! -e none ] && [ ! -e none.importing ]; then pass; else fail 'a failed import has left something'; fi

# Damage is told with file and offset, and nothing is imported.
cp -r old damaged
patch damaged/000005.ldb 100 '\x00\x00'
run 4 import leveldb damaged none
err_has 'damaged/000005.ldb: at offset 0: the checksum of a block'
if [ ! -e none ] && [ ! -e none.importing ]; then pass; else fail 'a failed import has left something'; fi
cp -r old torn
truncate -s -3 torn/000011.log
run 0 import leveldb torn torn-new
err_has 'torn/000011.log: the last 30 bytes, from offset 111, are an incomplete record'

# RocksDB is read by another program.
run 0 import rocksdb --help; out_has 'tamis-import-rocksdb'
finish
