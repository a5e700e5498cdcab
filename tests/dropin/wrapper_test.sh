#!/usr/bin/env bash
# tamis-as-leveldb runs a program that was linked with LevelDB with our library.
#
#     wrapper_test.sh WRAPPER PROGRAM [TAMIS]
#
# The program is c_interface_test, linked with LevelDB's library.
set -euo pipefail
wrapper=$1 program=$2 tamis=${3:-}
fail() { echo "wrapper_test.sh: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
folder_of_ours=$(dirname "$(readlink -f "$wrapper")")

libraries=$(ldd "$program")
grep 'libleveldb.so.1d => /' <<<"$libraries" | grep -vq "$folder_of_ours" || fail "the program does not load LevelDB's library: $libraries"
libraries=$("$wrapper" ldd "$program")
grep -q "libleveldb.so.1d => $folder_of_ours/" <<<"$libraries" || fail "it does not load ours: $libraries"
[ "$("$wrapper" "$program" "$folder/store")" = ok ] || fail "the program failed"

# Arguments, status, and a LD_LIBRARY_PATH that was there.
[ "$("$wrapper" printf '%s|' 'a b' '' c)" = 'a b||c|' ] || fail "arguments are changed"
status=0
"$wrapper" sh -c 'exit 7' || status=$?
[ "$status" = 7 ] || fail "the status is $status"
[ "$(LD_LIBRARY_PATH=/before "$wrapper" sh -c 'echo "${LD_LIBRARY_PATH##*:}"')" = /before ] || fail "LD_LIBRARY_PATH is lost"
status=0
"$wrapper" 2>"$folder/usage" || status=$?
[ "$status" = 2 ] && grep -q usage "$folder/usage" || fail "without a program: status $status"

# A link to it works; a copy elsewhere says what is missing.
ln -s "$wrapper" "$folder/link"
[ "$("$folder/link" "$program" "$folder/store")" = ok ] || fail "the link failed"
cp "$wrapper" "$folder/copy"
status=0
"$folder/copy" true 2>"$folder/missing" || status=$?
[ "$status" = 1 ] && grep -q 'libleveldb.so.1d is missing' "$folder/missing" || fail "a copy: status $status"

# What the program's interface wrote is a store.
[ -n "$tamis" ] || exit 0
cat >"$folder/keep.c" <<'C'
#include <leveldb/c.h>
int main(int count, char** arguments) {
  char* error = 0;
  leveldb_options_t* options = leveldb_options_create();
  leveldb_options_set_create_if_missing(options, count == 2);
  leveldb_t* db = leveldb_open(options, arguments[1], &error);
  if (error != 0) return 1;
  leveldb_put(db, leveldb_writeoptions_create(), "key", 3, "value", 5, &error);
  leveldb_close(db);
  return error != 0;
}
C
cc "$folder/keep.c" -o "$folder/keep" -lleveldb
"$wrapper" "$folder/keep" "$folder/kept" || fail "keep failed"
[ "$("$tamis" get "$folder/kept" key)" = value ] || fail "tamis does not read what the program wrote"
echo ok
