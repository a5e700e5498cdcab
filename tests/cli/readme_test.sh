#!/bin/bash
# The commands in README.md do what README.md says. Usage: readme_test.sh TAMIS GOLDEN
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir bin && ln -s "$(realpath "$tamis")" bin/tamis && PATH=$PWD/bin:$PATH
sed -n '/run by tests\/cli\/readme_test.sh/,/^```$/p' "$readme" | grep -v '^```' | tail -n +2 >lines

# Each line must succeed, and print the text after its arrow, if any.
while IFS= read -r line; do
  last=$line
  expected=${line#*# → }
  if bash -c "$line" >out 2>err </dev/null; then pass; else fail "$line"; fi
  if [ "$expected" != "$line" ] && [ "$(cat out)" != "$expected" ]; then fail "$line"; fi
done <lines

# The documented output of explain, except for the numbers; a filter must be at work in it.
without_numbers() { sed -E 's/[0-9][0-9.]* ?(ns|us|ms)/TIME/; s/[0-9]+/N/g; s/ +/ /g'; }
sed -n '/<!-- printed by tamis explain/,/^```$/p' "$readme" | grep -v '^```\|^<!--' | without_numbers >expected
last=$(sed -n 's/^<!-- printed by \(tamis explain [^:]*\):.*/\1/p' "$readme")
bash -c "$last" 2>err | without_numbers >out
same expected out
out_has ": no"

if [ "$passed" -ge 10 ]; then pass; else fail "README.md: only $passed lines were found to run"; fi
finish
