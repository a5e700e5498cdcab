#!/bin/bash
# What README.md says to type does what README.md says it does. Usage: readme_test.sh TAMIS GOLDEN
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir bin && ln -s "$(realpath "$tamis")" bin/tamis && PATH=$PWD/bin:$PATH
sed -n '/run by tests\/cli\/readme_test.sh/,/^```$/p' "$readme" | grep -v '^```' | tail -n +2 >lines

# Each line must succeed, and print what stands behind its arrow, if it has one.
while IFS= read -r line; do
  last=$line
  expected=${line#*# → }
  if bash -c "$line" >out 2>err </dev/null; then pass; else fail "$line"; fi
  if [ "$expected" != "$line" ] && [ "$(cat out)" != "$expected" ]; then fail "$line"; fi
done <lines

if [ "$passed" -ge 10 ]; then pass; else fail "README.md: only $passed lines were found to run"; fi
finish
