#!/bin/bash
# The pipeline of docs/MIGRATING.md from RocksDB, verbatim. Usage: migrating_test.sh TAMIS GOLDEN
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/MIGRATING.md
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v ldb >/dev/null; then
  echo 'skipped: there is no ldb (Debian: rocksdb-tools)'
  exit 0
fi
mkdir bin && ln -s "$(realpath "$tamis")" bin/tamis && PATH=$PWD/bin:$PATH

# Empty keys and values, bytes that break lines, and values that look like ldb's own output.
{
  ldb --db=OLD --create_if_missing put paris 2102650
  ldb --db=OLD put --hex 0x 0x31
  ldb --db=OLD put --hex 0x00FF0A 0x
  ldb --db=OLD put arrow 'a ==> b'
} >/dev/null
seq -f 'k%05.0f ==> value' 5000 | ldb --db=OLD load >/dev/null

pipeline=$(grep '^ldb --db=OLD dump' "$page")
last=$pipeline
if bash -o pipefail -c "$pipeline" >out 2>err; then pass; else fail "$last"; fi
out_has '5,004 entries'
if ldb --db=OLD dump --hex | grep -qx 'Keys in range: 5004'; then pass; else fail 'ldb counts differently'; fi
run 0 get NEW arrow; out_is 'a ==> b\n'
run 0 get NEW --hex 00ff0a --raw; out_is_empty
run 0 get NEW ''; out_is '1\n'
run 0 get NEW k04321; out_is 'value\n'
finish
