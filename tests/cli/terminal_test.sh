#!/bin/bash
# Display for people: nothing wider than a terminal of 80 columns, and colour only on a terminal.
# Usage: terminal_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

escape=$(printf '\033')
fits() { if awk '{ gsub(/[\200-\277]/, ""); if (length > 80) print }' out | grep -q .; then fail "$last: wider than 80 columns"; else pass; fi; }
is_plain() { if grep -qF "$escape" out err; then fail "$last: escapes outside a terminal"; else pass; fi; }

# A store with several levels, a long key and a large one, so that columns reach their full width.
seq -f 'a-key-of-middling-length-%09.0f' 60000 | awk '{ print $1 "\tvalue of " $1 }' >entries
"$tamis" load s entries --quiet --option memtable_bytes=256K --option memory_bytes=4M
"$tamis" put s "$(head -c 3000 /dev/zero | tr '\0' k)" "$(head -c 3000 /dev/zero | tr '\0' v)"
"$tamis" flush s --quiet --option compaction=manual
cut -f1 entries >keys
"$tamis" filter build --kind ribbon --fpr 0.001 --keys keys -o ribbon --quiet
"$tamis" filter build --kind cuckoo --fpr 0.001 --keys keys -o cuckoo --quiet
table=$(find s -name '*.tms' | head -1)

export LC_ALL=C
for words in 'stats s' 'explain s a-key-of-middling-length-000012345' 'explain s nothing' "explain s $(head -c 3000 /dev/zero | tr '\0' k)" \
  'top s --once' 'plan s' 'plan s --filter-memory 10K' 'verify s' "table $table" "table $table --blocks" 'filter size --keys 10000000000 --fpr 0.0001' \
  'filter info ribbon' 'filter info cuckoo' 'filter kinds' 'filter formats' 'options' 'help' 'help filter' 'compact s' 'repair s --dry-run'; do
  # shellcheck disable=SC2086
  run 0 $words; fits; is_plain
done
"$tamis" help | sed -n 's/^  \([a-z-]* \?[a-z-]*\)  .*/\1/p' | sed 's/ *$//' >verbs
[ "$(wc -l <verbs)" -gt 25 ] || fail 'the verbs were not found in the help'
while read -r verb; do
  # shellcheck disable=SC2086
  run 0 help $verb; fits; is_plain
done <verbs

# On a terminal headings are bold and errors red, unless NO_COLOR says otherwise.
if ! script -qec true /dev/null >/dev/null 2>&1; then
  echo 'skipped: colours; there is no script(1) to make a terminal'
  finish
  exit
fi
on_terminal() { last="on a terminal: tamis $*"; script -qec "'$tamis' $*" /dev/null </dev/null >out 2>err; }
has() { if grep -qF -- "$1" out; then pass; else fail "$last: no '$1'"; fi; }
unset NO_COLOR
on_terminal stats s; has "${escape}[1mlevel  runs"
on_terminal explain s nothing; has "${escape}[1mwhere"
on_terminal plan s; has "${escape}[1mlevel"
on_terminal filter kinds; has "${escape}[1mkind"
on_terminal get s nothing; has "${escape}[1;31mtamis:${escape}[0m s: key 'nothing' not found"
# On a terminal, a benchmark counts its steps before it begins; its measurements are the same.
if [ -x "$(dirname "$tamis")/tamis-bench" ]; then
  on_terminal bench hit absent_100 sync_1 --engine tamis --entries 300 --rounds 2; has 'get, hit (ns' ; has 'fsync per put'
  on_terminal bench --growth --engine tamis --entries 300 --rounds 1; has 'as it grows'
fi
export NO_COLOR=1
for words in 'stats s' 'explain s nothing' 'plan s' 'filter kinds' 'get s nothing' 'help get'; do
  # shellcheck disable=SC2086
  on_terminal $words; is_plain
done
finish
