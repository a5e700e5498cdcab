#!/bin/bash
# The command on tamis's own filters. Usage: filters_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

kinds=$("$tamis" filter kinds | awk 'NR > 1 && /^[a-z]/ {print $1}')
seq 1000 >keys
seq 1001 2000 >others

# --- help, version, unknown verbs ---
run 0 version; out_has 'tamis '; err_is_empty
run 0 --version; out_has 'tamis '
run 0 version --json; out_has '{"version": "'
run 0 help; out_has 'filter build'
run 0 --help; out_has 'filter build'
run 0 filter --help; out_has 'filter plot'
run 2; err_has 'tamis help'; out_is_empty
run 2 filter; err_has 'needs a verb'
run 2 filer; err_has "did you mean 'filter'?"
run 2 size; err_has "did you mean 'filter size'?"
run 2 filter biuld; err_has "did you mean 'filter build'?"
run 2 zzzzzzzzzz; err_has 'tamis help'
"$tamis" help | awk '/^  [a-z]/ {print ($1 ~ /^(bucket|filter|import)$/ ? $1 " " $2 : $1)}' >verbs
while read -r verb; do
  # shellcheck disable=SC2086
  run 0 $verb --help; out_has 'Example:' "Usage: tamis $verb"; err_is_empty
  # shellcheck disable=SC2086
  run 0 help $verb; out_has 'Example:'
  # shellcheck disable=SC2086
  run 2 $verb --no-such-option; err_has 'no-such-option'
done <verbs
if awk 'length > 80' out | grep -q .; then fail 'help is wider than 80 columns'; else pass; fi

# --- kinds ---
run 0 filter kinds; out_has line bloom
run 0 filter kinds --json; out_is_json_lines; json_has kind adds removes merges intersects summary

# --- size ---
run 0 filter size --keys 1000000 --fpr 0.01; err_is_empty
for kind in $kinds; do out_has "$kind "; done
run 0 filter size --keys 1000000 --bits-per-key 10 --json; out_is_json_lines
json_has kind bits_per_key hashes bytes fpr bound_ratio
run 0 --json filter size --keys 1000 --memory 64K --kind bloom; out_is_json_lines
run 0 filter size --keys 0 --fpr 0.01
run 0 filter size --keys 1000000 --fpr 0.00000001; out_has 'fuse cannot reach'
run 2 filter size --keys 1000000 --fpr 0.00000001 --kind fuse; err_has ' can'
for rate in 0 1 2 -1 NaN nan inf -inf text '' 0.01x 1e-400; do run 2 filter size --keys 10 --fpr "$rate"; err_has --fpr; done
for count in -1 1.5 ten 99999999999999999999 ''; do run 2 filter size --keys "$count" --fpr 0.01; err_has --keys; done
for memory in -1 0.5 K 1X 99999999999G 1KB; do run 2 filter size --keys 10 --memory "$memory"; err_has --memory; done
for bits in 0 -3 NaN inf 1e9; do run 2 filter size --keys 10 --bits-per-key "$bits"; done
run 2 filter size --keys 18446744073709551615 --fpr 0.01
run 2 filter size --fpr 0.01; err_has '--keys is missing'
run 0 filter size --keys 1000000 --fpr 0.01; mv out expected
run 0 filter size --keys 1000000; same out expected
run 0 filter size --keys 1000000 --kind line --fpr 1e-6; out_has 'ribbon would take 20.'
run 0 filter size --keys 1000000 --kind line --fpr 0.01; if grep -q 'would take' out; then fail 'an unneeded hint'; else pass; fi
run 2 filter size --keys 10 --fpr 0.1 --memory 1M; err_has 'only one of'
run 2 filter size --keys 10 --fpr 0.1 --kind blom; err_has 'unknown filter kind'
run 2 filter size --keys 10 --fpr 0.1 extra; err_has "'extra'"
run 2 filter size --keys 10 --fpt 0.1; err_has "did you mean '--fpr'?"

# --- add, remove ---
run 0 filter build --kind growing --fpr 0.001 --keys /dev/null -o seen.tamis
run 0 filter add seen.tamis zebra okapi; out_has '2 added' 'growing filter, 2 keys'
run 0 filter add seen.tamis --keys keys --json; out_has '"added": 1000' '"keys": 1002'
run 0 filter probe seen.tamis zebra giraffe; out_is 'zebra\tmaybe\ngiraffe\tno\n'
run 0 filter probe seen.tamis --keys keys; sed 's/$/\tmaybe/' keys >expected; same out expected
run 0 filter remove seen.tamis zebra giraffe; out_has '1 removed' '1,001 keys'
run 0 filter probe seen.tamis zebra okapi; out_is 'zebra\tno\nokapi\tmaybe\n'
run 0 filter add seen.tamis lion --quiet; out_is_empty
run 0 filter info seen.tamis; out_has '1,002'
run 2 filter add seen.tamis; err_has 'either as operands or with --keys'
run 3 filter add no-such-filter zebra; err_has no-such-filter
run 0 filter build --kind ribbon --fpr 0.01 --keys keys -o fixed.tamis
run 2 filter add fixed.tamis zebra; err_has 'cannot be changed' growing
run 0 filter build --kind bloom --fpr 0.01 --keys keys -o x.tamis; run 2 filter remove x.tamis zebra; err_has 'cannot remove'

# --- build, info, probe: every kind ---
for kind in $kinds; do
  run 0 filter build --kind "$kind" --fpr 0.01 --keys keys -o "$kind.tamis"; out_has "$kind filter, 1,000 keys"
  run 0 filter build --kind "$kind" --fpr 0.01 --keys keys -o again.tamis; same "$kind.tamis" again.tamis
  run 0 filter info "$kind.tamis"; out_has "$kind" '1,000' '[' public
  run 0 filter info --json "$kind.tamis"; out_is_json_lines; out_has '"format": "tamis"' '"keys": 1000' '"seed": "public"'
  json_has kind format keys bits bits_per_key hashes bytes fill fpr_estimated fpr_designed seed
  run 0 filter probe "$kind.tamis" --keys keys
  sed 's/$/\tmaybe/' keys >expected; same out expected
  run 0 filter probe "$kind.tamis" --keys others
  if [ "$(grep -c 'maybe$' out)" -lt 50 ] && [ "$(wc -l <out)" -eq 1000 ]; then pass; else fail "$kind errs too often"; fi
  # Damage: every damaged or truncated file is refused, whichever byte it is.
  cp "$kind.tamis" damaged; printf x >>damaged; run 4 filter info damaged; err_has damaged
  size=$(stat -c %s "$kind.tamis")
  for length in 1 7 8 40 $((size / 2)) $((size - 1)); do
    head -c "$length" "$kind.tamis" >damaged; run 4 filter probe damaged 1; err_has damaged
  done
  for offset in 0 3 7 8 9 12 16 24 32 48 56 $((size / 2)) $((size - 1)); do
    cp "$kind.tamis" damaged
    byte=$(od -An -tu1 -j "$offset" -N1 damaged | tr -d ' ')
    patch damaged "$offset" "\\0$(printf %o $((byte ^ 129)))"; run 4 filter probe damaged 1; out_is_empty
  done
  # No keys: a filter that answers no.
  run 0 filter build --kind "$kind" --fpr 0.01 --keys /dev/null -o empty.tamis
  run 0 filter probe empty.tamis a ''; out_is 'a\tno\n\tno\n'
  run 0 filter info --json empty.tamis; out_has '"keys": 0' '"bits_per_key": null'
done
run 0 filter build --kind bloom --bits-per-key 12 --keys keys -o x.tamis --quiet; out_is_empty
run 0 filter build --kind bloom --keys keys -o x.tamis; same x.tamis bloom.tamis; err_is_empty
run 0 filter build --kind line --fpr 1e-6 --keys keys -o x.tamis; err_has 'note: at this rate line takes' 'ribbon would take'
run 0 filter build --kind line --fpr 1e-6 --keys keys -o x.tamis --quiet; err_is_empty
run 0 filter build --kind bloom --memory 4K --keys keys -o x.tamis --json; json_has kind bytes fpr_designed
if [ "$(stat -c %s x.tamis)" -le 4096 ]; then pass; else fail 'larger than --memory'; fi
run 0 filter build --kind bloom --fpr 0.01 --keys keys -o x.tamis --seed 7
run 0 filter info x.tamis; out_has 'public, 7'
run 0 filter build --kind bloom --fpr 0.01 --keys keys -o x.tamis --keyed
run 0 filter info x.tamis --json; out_has '"seed": "keyed"'
run 0 filter build --kind line --fpr 0.01 --keys keys -o x.tamis --prefix-rule first:2
run 0 filter probe x.tamis 12zzz; out_is '12zzz\tmaybe\n'
run 0 filter info x.tamis; out_has 'first:2'

# --- bad calls of build ---
run 2 filter build --kind line --fpr 0.01 --keys keys; err_has '--output is missing'
run 2 filter build --kind line --fpr 1 --keys keys -o x; err_has "--fpr: '1' is not a rate"
run 2 filter build --kind lime --fpr 0.01 --keys keys -o x; err_has 'unknown filter kind'
run 2 filter build --kind line --fpr 0.01 --keys keys -o x --seed 1 --keyed; err_has 'mutually exclusive'
run 2 filter build --kind line --fpr 0.01 --keys keys -o x --seed -1; err_has --seed
run 2 filter build --kind line --fpr 0.01 --keys keys -o x --prefix-rule last:2; err_has 'prefix rule'
run 2 filter build --kind fuse --fpr 1e-9 --keys keys -o x; err_has ' can'
run 3 filter build --kind line --fpr 0.01 --keys no-such-file -o x; err_has no-such-file
run 3 filter build --kind line --fpr 0.01 --keys . -o x; err_has 'is a folder'
run 3 filter build --kind line --fpr 0.01 --keys keys -o no-such-directory/x; err_has no-such-directory
run 3 filter build --kind line --fpr 0.01 --keys keys -o /dev/full; err_has /dev/full
if [ -e x ]; then fail 'a failed build left its output'; else pass; fi

# --- lines ---
printf 'a\n\nb\r\nlast' >lines
run 0 filter build --kind bloom --fpr 0.0001 --keys lines -o l.tamis; out_has '4 keys'; err_has 'lines: line 3 ends with a carriage return'
run 0 filter probe l.tamis --keys lines; out_is 'a\tmaybe\n\tmaybe\nb\r\tmaybe\nlast\tmaybe\n'
run 0 filter probe l.tamis '' last b; out_is '\tmaybe\nlast\tmaybe\nb\tno\n'
printf 'a\r\nb\r\n' >crlf
run 0 filter build --kind bloom --fpr 0.0001 --keys crlf -o crlf.tamis; err_has 'carriage return' crlf
if [ "$(wc -l <err)" -eq 1 ]; then pass; else fail 'more than one warning'; fi
run 0 filter build --kind bloom --fpr 0.0001 --keys crlf -o crlf.tamis --quiet; err_is_empty
run 0 filter probe crlf.tamis a; out_is 'a\tno\n'
printf 'C3A9\n00ff\n\n' >hex
run 0 filter build --kind bloom --fpr 0.0001 --keys hex --hex -o hex.tamis; out_has '3 keys'
run 0 filter probe hex.tamis --hex --keys hex; out_is 'c3a9\tmaybe\n00ff\tmaybe\n\tmaybe\n'
run 0 filter probe hex.tamis é; out_is 'é\tmaybe\n'
run 0 filter probe hex.tamis --json é; out_is '{"key": "é", "answer": "maybe"}\n'
printf '\0\377\n' >raw
run 0 filter probe hex.tamis --json --keys raw; out_is '{"key_hex": "00ff", "answer": "maybe"}\n'
run 0 filter probe hex.tamis --json 'a"\
	'; out_is '{"key": "a\\"\\\\\\n\\t", "answer": "no"}\n'
printf 'c3\nxy\n' >bad; run 2 filter probe hex.tamis --hex --keys bad; err_has 'bad: line 2'
printf 'c3\r\n' >bad; run 2 filter probe hex.tamis --hex --keys bad; err_has 'bad: line 1' 'carriage return'
printf 'c3a\n' >bad; run 2 filter build --kind line --fpr 0.1 --hex --keys bad -o x; err_has 'bad: line 1'
run 2 filter probe hex.tamis --hex xy; err_has "'xy'"
run 0 filter probe l.tamis -- -key --json --; out_is '-key\tno\n--json\tno\n--\tno\n'
run 0 filter probe l.tamis version '[a]' '{}' size; out_is 'version\tno\n[a]\tno\n{}\tno\nsize\tno\n'
run 2 filter probe l.tamis -key; err_has "after '--'"

# --- bad calls of probe and info ---
run 2 filter probe l.tamis; err_has --keys
run 2 filter probe l.tamis a --keys keys
run 2 filter probe; err_has 'FILE is missing'
run 3 filter probe no-such-file a; err_has no-such-file
run 3 filter info no-such-file; err_has no-such-file
run 3 filter info .; err_has 'is a folder'
run 2 filter info
run 3 filter probe l.tamis --keys no-such-file; err_has no-such-file
: >empty; run 4 filter info empty; err_has empty
cp l.tamis newer; patch newer 8 '\0377'; run 4 filter info newer; err_has newer
if [ "$(id -u)" -ne 0 ]; then
  cp l.tamis secret; chmod 0 secret; run 3 filter info secret; err_has 'Permission denied'
fi

# --- standard input and output ---
run 0 filter build --kind bloom --fpr 0.01 --keys - -o stdin.tamis <keys; same stdin.tamis bloom.tamis
run 0 filter build --kind bloom --fpr 0.01 --keys keys -o - ; same out bloom.tamis; err_has 'bloom filter'
run 0 filter build --kind bloom --fpr 0.01 --keys keys -o - --quiet; same out bloom.tamis; err_is_empty
run 0 filter info - <bloom.tamis; out_has bloom
run 0 filter probe - 5 <bloom.tamis; out_is '5\tmaybe\n'
run 0 filter probe bloom.tamis --keys - <keys; sed 's/$/\tmaybe/' keys >expected; same out expected
run 2 filter probe - --keys - <keys
run 0 filter probe <(cat bloom.tamis) --keys <(echo 5); out_is '5\tmaybe\n'
run 0 filter info --format tamis bloom.tamis; out_has bloom
"$tamis" filter probe bloom.tamis --keys keys >/dev/full 2>err
if [ $? -eq 3 ] && grep -q 'standard output' err; then pass; else fail 'full standard output'; fi

# --- union, intersect ---
seq 1 600 >a; seq 401 1000 >b
for name in a b; do run 0 filter build --kind bloom --memory 4K --keys $name -o $name.tamis; done
run 0 filter union a.tamis b.tamis -o union.tamis; out_has 'bloom filter'
run 0 filter probe union.tamis --keys keys; sed 's/$/\tmaybe/' keys >expected; same out expected
run 0 filter intersect a.tamis b.tamis -o both.tamis
run 0 filter probe both.tamis 500; out_is '500\tmaybe\n'
run 0 filter probe both.tamis --keys a
if [ "$(grep -c 'maybe$' out)" -lt 250 ]; then pass; else fail 'the intersection holds too much'; fi
run 0 filter union a.tamis - -o - <b.tamis; same out union.tamis
run 2 filter union a.tamis line.tamis -o x; err_has line.tamis
run 2 filter union a.tamis hex.tamis -o x; err_has 'size'
run 0 filter build --kind bloom --memory 4K --keys b -o seeded.tamis --seed 9
run 2 filter union a.tamis seeded.tamis -o x; err_has 'seed' seeded.tamis
run 2 filter intersect ribbon.tamis ribbon.tamis -o x; err_has 'bloom'
run 2 filter union a.tamis b.tamis; err_has '--output'
run 2 filter union a.tamis -o x; err_has 'B is missing'
run 2 filter union - - -o x
run 3 filter union a.tamis no-such-file -o x
run 4 filter union a.tamis keys -o x

# --- signals ---
seq 200000 >many
"$tamis" filter probe bloom.tamis --keys many 2>err | head -1 >out
out_is '1\tmaybe\n'; err_is_empty
"$tamis" filter probe bloom.tamis --keys <(echo 1; exec sleep 20) >out 2>err &
pid=$!
sleep 0.3
out_is '1\tmaybe\n'  # Answered before the input ends.
kill -INT $pid; wait $pid
if [ $? -eq 130 ]; then pass; else fail 'Ctrl-C is not 130'; fi

# --- plot ---
run 0 filter plot --kind bloom --kind line -o plot.svg; out_has '2 kinds'
if grep -q '^</svg>$' plot.svg && grep -q 'prefers-color-scheme:dark' plot.svg && grep -q '>line</text>' plot.svg; then
  pass
else
  fail 'the plot is incomplete'
fi
if sed 's/xmlns="[^"]*"//' plot.svg | grep -q 'http'; then fail 'the plot refers to other resources'; else pass; fi
run 0 filter plot --kind line -o plot.svg --json; out_is_json_lines; json_has kind bits_per_key fpr_predicted fpr_measured
run 2 filter plot; err_has '--output'
run 2 filter plot --kind blom -o x; err_has 'unknown filter kind'
run 3 filter plot --kind line -o no-such-directory/x

finish
