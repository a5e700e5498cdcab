#!/bin/bash
# tamis import leveldb with stores that LevelDB writes. Usage: leveldb_import_test.sh TAMIS GOLDEN LEVELDB_STORE
leveldb_store=$3
# shellcheck source=../cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

# What LevelDB lists of a store is what tamis lists of its import.
"$leveldb_store" make old 200000
cp -a old before
run 0 import leveldb old new
out_has '200,000 entries, 23,200,000 bytes' 'verified: old and new have the same count and the same checksum'
run 0 verify new
run 0 dump new --hex
mv out new.hex
"$leveldb_store" dump old >old.hex
last='the dumps'
same old.hex new.hex
if [ ! -e new.importing ]; then pass; else fail 'new.importing is left'; fi

# Killed at any time, an import leaves no DIR, and the next one begins anew.
rm -rf old && mv before old
kills=0
for sign in . CURRENT '*.journal' '*.tms'; do
  rm -rf killed
  "$tamis" import leveldb old killed >/dev/null 2>err & child=$!
  # shellcheck disable=SC2086
  while kill -0 $child 2>/dev/null && ! ls killed.importing/$sign >/dev/null 2>&1; do :; done
  { kill -KILL $child; wait $child; } 2>/dev/null
  if [ -d killed.importing ]; then
    kills=$((kills + 1))
    if [ ! -e killed ]; then pass; else fail "killed when there was $sign: DIR is there"; fi
  fi
done
if [ "$kills" -gt 0 ]; then pass; else fail 'no import was killed in the middle'; fi
rm -rf killed
run 0 import leveldb old killed
run 0 dump killed --hex
same out old.hex
if [ ! -e killed.importing ]; then pass; else fail 'killed.importing is left'; fi

# What is in DIR.importing and not of an import is kept.
mkdir mine.importing && echo text >mine.importing/notes
run 3 import leveldb old mine
err_has 'mine.importing' 'move it away'
same mine.importing/notes <(echo text)
finish
