#!/bin/sh
# Usage: from_leveldb_test.sh FROM_LEVELDB TAMIS
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/old" lyon 522250
"$1" "$folder/old" "$(printf 'a\nx')" "$(printf '\tb')"
"$1" "$folder/old" '' ''
"$1" "$folder/old" | "$2" load "$folder/new" --hex --quiet
"$2" dump "$folder/new" --hex
echo "done"
