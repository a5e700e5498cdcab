#!/usr/bin/env bash
# Runs the test of the C API in a temporary folder, with valgrind if asked: no wrong access, no leak. What
# the library keeps until the process ends is reachable, and not a leak.
#
#     capi_test.sh PROGRAM SOURCES [valgrind]
set -euo pipefail
program=$1
sources=$2
run=(${RUN:-})  # An emulator.
if [ "${3:-}" = valgrind ]; then
  command -v valgrind >/dev/null || { echo "skipped: there is no valgrind"; exit 77; }
  run=(valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=1)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${run[@]}" "$program" "$folder" "$sources"
