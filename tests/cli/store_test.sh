#!/bin/bash
# The command on stores: every verb, its exit statuses, its JSON. Usage: store_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out_lines_are() { if [ "$(wc -l <out)" -eq "$1" ]; then pass; else fail "$last: $(wc -l <out) lines, expected $1"; fi; }
err_lines_are() { if [ "$(wc -l <err)" -eq "$1" ]; then pass; else fail "$last: $(wc -l <err) messages, expected $1"; fi; }
check() { if "${@:2}"; then pass; else fail "$1"; fi; }
json() { python3 -c "import json, sys; d = json.load(open('out')); sys.exit(0 if ($1) else 1)"; }
out_json() { if json "$1"; then pass; else fail "$last: expected $1"; fi; }
fits_80_columns() { if awk '{ gsub(/[\200-\277]/, ""); if (length > 80) print }' out | grep -q .; then fail "$last: wider than 80 columns"; else pass; fi; }

# --- put, get, delete ---
run 0 put s paris 2102650; out_is_empty; err_is_empty
run 0 get s paris; out_is '2102650\n'; err_is_empty
run 0 get s paris --raw; out_is '2102650'
run 0 put s paris 2102651 --sync
run 0 get s paris; out_is '2102651\n'
run 1 get s rome; out_is_empty; err_has 's: '
run 1 get s rome --quiet; out_is_empty; err_is_empty
run 0 delete s paris; out_is_empty
run 1 get s paris
run 0 delete s paris
run 0 delete s never-there --sync
run 0 put s '' 'the empty key'; run 0 get s ''; out_is 'the empty key\n'
run 0 put s empty ''; run 0 get s empty; out_is '\n'; run 0 get s empty --raw; out_is_empty
run 0 put s -- -key -5; run 0 get s -- -key; out_is '-5\n'
run 2 put s low -5; err_has "after '--'"
run 0 put s 'a	b' 'c	d'; run 0 get s 'a	b'; out_is 'c\td\n'
run 0 put s '[a]' '{"x": [1, 2]}'; run 0 get s '[a]'; out_is '{"x": [1, 2]}\n'
run 2 put; err_has 'DIR is missing'
run 2 put s; err_has 'KEY is missing'
run 2 put s k; err_has 'VALUE is missing'
run 2 put s k v w; err_has "'w'"
run 2 get s; run 2 delete s; run 2 get; run 2 put '' k v; err_has 'DIR is empty'
head -c 65536 /dev/zero | tr '\0' k >longkey
run 0 put s "$(cat longkey)" long; run 0 get s "$(cat longkey)"; out_is 'long\n'
run 0 delete s "$(cat longkey)"; run 1 get s "$(cat longkey)"
# An argument has at most 128 KiB: the longest keys come from a file.
{ head -c 16777216 /dev/zero | tr '\0' k; printf '\tlongest\n'; } >longest
run 0 load longs longest; run 0 scan longs; cmp -s out longest || fail 'scan shows other bytes than were loaded'
run 0 dump longs; cp out dumped; run 0 load longs-again dumped; run 0 verify longs-again; run 0 scan longs-again
cmp -s out longest || fail 'dump and load change the longest key'

# --- hexadecimal and JSON ---
run 0 put s --hex 00ff 0A0d; run 0 get s --hex 00FF; out_is '0a0d\n'
run 0 get s --hex 00ff --raw; out_is '0a0d'
run 2 put s --hex xy 00; err_has "'xy'"
run 2 put s --hex 00 0; err_has "'0'"
run 2 get s --hex 0; err_has "'0'"
run 0 get s --hex 00ff --json; out_is '{"key_hex": "00ff", "value_hex": "0a0d", "found": true}\n'
run 0 put s é 'ü"\'; run 0 get s é --json; out_is '{"key": "é", "value": "ü\\"\\\\", "found": true}\n'
run 0 --json get s é; out_json 'd["found"] is True and d["key"] == "é"'
run 1 get s rome --json; out_is '{"key": "rome", "found": false}\n'; err_is_empty
run 0 put s j 1 --json; out_json 'd["ok"]'
run 0 put s --hex 6b ff; run 0 get s k --json; out_is '{"key": "k", "value_hex": "ff", "found": true}\n'

# --- multi-get ---
run 0 put m a 1; run 0 put m b 2; run 0 put m c 3
run 0 multi-get m c a a; out_is 'c\t3\na\t1\na\t1\n'
run 1 multi-get m c x a; out_is 'c\t3\na\t1\n'
run 1 multi-get m c x --json; out_is '{"key": "c", "value": "3", "found": true}\n{"key": "x", "found": false}\n'
run 0 multi-get m --hex 61; out_is '61\t31\n'
run 0 multi-get m; out_is_empty

# --- data in the journal, which an opening must replay ---
run 0 stats m --json; out_json 'd["levels"] == [] and d["journal"]["files"] == 1 and d["journal"]["bytes"] > 0 and d["journal"]["records"] == 0'

# --- missing stores: only put and load create one ---
for verb in 'get x k' 'delete x k' 'multi-get x k' 'scan x' 'count x' 'dump x' 'explain x k' 'stats x' 'plan x' 'flush x' 'compact x' \
  'checkpoint x y' 'verify x' 'repair x'; do
  # shellcheck disable=SC2086
  run 3 $verb; err_has x; out_is_empty
  check "$verb made a store" test ! -e x
done
run 3 get x k; err_has 'tamis put' 'tamis load'
mkdir folder; run 3 get folder k; err_has folder 'tamis load'
check 'a look left files' test -z "$(ls folder)"
touch file; run 3 put file k v; err_has file
run 0 put deep/er/store k v; run 0 get deep/er/store k; out_is 'v\n'
run 0 put folder k v; run 0 get folder k; out_is 'v\n'

# --- options ---
run 0 options; out_has memory_bytes filter_memory background_threads; fits_80_columns
run 0 options --json; out_is_json_lines; json_has name default range effect; out_lines_are 20
run 0 get m a --option memory_bytes=16MiB --option codec=lz4; out_is '1\n'
run 0 put m a 1 --option codec=lz4 --option prefix_rule=until:,
run 2 get m a --option memory_byte=16MiB; err_has "did you mean 'memory_bytes'?"
run 2 get m a --option memory_bytes=16; err_has memory_bytes "'16'" '256KiB'
run 2 get m a --option memory_bytes; err_has 'NAME=VALUE'
run 2 get m a --option filter=blom; err_has ribbon
run 0 get m a --option journal=mapped; out_is '1\n'
run 2 get m a --option memory_bytes=1M --option filter_memory=2M; err_has filter_memory
run 0 get m a --read-only; out_is '1\n'
run 2 put m a 9 --read-only; run 0 get m a; out_is '1\n'
run 3 put x a 1 --read-only; check 'read-only made a store' test ! -e x

# --- 200 separate puts ---
for i in $(seq 200); do "$tamis" put many "key$i" "value $i" || fail "put $i"; done
run 0 scan many --keys-only; out_lines_are 200
run 0 get many key137; out_is 'value 137\n'
run 0 verify many; out_has ok

# --- load ---
seq -f 'k%06.0f' 20000 | awk '{ print $1 "\tvalue of " $1 }' >entries
run 0 load l entries; out_has '20,000 entries' 'entries/s' bytes; err_is_empty
run 0 get l k012345; out_is 'value of k012345\n'
run 0 load l2 - <entries --json; out_json 'd["entries"] == 20000 and d["bytes"] == 20000 * (7 + 16) and d["seconds"] >= 0'
run 0 load l3 <entries --quiet; out_is_empty; err_is_empty
run 0 load l4 entries --batch 7000 --ack acks --sync
check 'acknowledgements' test "$(cut -f1 acks | paste -sd ' ')" = '7000 14000 20000'
run 0 load l4 entries --batch 1 --ack - --quiet; check 'one line per batch' test "$(wc -l <out)" -eq 20000
for s in l l2 l3 l4; do run 0 dump $s; same out entries; done
run 0 load e /dev/null; out_has '0 entries'; run 0 dump e; out_is_empty; run 0 verify e; out_has ok
run 3 load f no-such-file; err_has no-such-file; check 'a store was made for nothing' test ! -e f
run 2 load l entries --batch 0; err_has --batch
run 2 load l entries --batch x; err_has --batch
run 3 load l entries --ack no-such-folder/x; err_has no-such-folder
run 2 load l a b; err_has "'b'"
printf 'a\tb\tc\n\tempty key\nempty value\t\nlast\tline' >odd
run 0 load o odd; out_has '4 entries'
run 0 get o a; out_is 'b\tc\n'; run 0 get o ''; out_is 'empty key\n'; run 0 get o last; out_is 'line\n'
run 0 get o 'empty value' --raw; out_is_empty
printf 'a\t1\nb\t2\nno tab\nc\t3\n' >bad
run 2 load b bad; err_has 'bad: line 3' tab; check 'a load that failed left a store' test ! -e b
run 2 load b <bad; err_has 'standard input: line 3'
run 2 load b bad --batch 2; err_has 'line 3' 'first 2 entries'; run 0 multi-get b a b; run 1 get b c
printf '\n' >bad; run 2 load b bad; err_has 'line 1'
{ printf 'ok\t1\n'; printf k; cat longest; } >bad; run 2 load b bad; err_has 'line 2' '16777217'
printf 'a\t1\r\nb\t2\r\n' >crlf
run 0 load c crlf; err_has 'carriage return' crlf; err_lines_are 1
run 0 load c crlf --quiet; err_is_empty
run 0 get c --hex 61; out_is '310d\n'
printf '61\t31\n00ff\t0A\n\t\n' >hexed
run 0 load h hexed --hex; out_has '3 entries'
run 0 dump h --hex; out_is '\t\n00ff\t0a\n61\t31\n'
printf '61\t3\n' >bad; run 2 load h bad --hex; err_has 'bad: line 1'
printf '6x\t31\n' >bad; run 2 load h bad --hex; err_has 'bad: line 1'
printf '61\t31\r\n' >bad; run 2 load h bad --hex; err_has 'carriage return'
head -c 3000000 /dev/zero | tr '\0' v >large; { printf 'large\t'; cat large; printf '\n'; } >large-line
run 0 load big large-line; run 0 get big large --raw; same out large

# --- scan ---
run 0 load n <<<$'a\t1\nab\t2\nabc\t3\nb\t4\nba\t5\nc\t6'
run 0 scan n; out_is 'a\t1\nab\t2\nabc\t3\nb\t4\nba\t5\nc\t6\n'; cp out forwards
run 0 scan n --reverse; tac forwards >backwards; same out backwards
run 0 scan n --prefix ab; out_is 'ab\t2\nabc\t3\n'
run 0 scan n --prefix ab --reverse; out_is 'abc\t3\nab\t2\n'
run 0 scan n --prefix x; out_is_empty
run 0 scan n --from ab --to b; out_is 'ab\t2\nabc\t3\n'
run 0 scan n --from ab --to b --reverse; out_is 'abc\t3\nab\t2\n'
run 0 scan n --from b --to a; out_is_empty
run 0 scan n --from '' --to ''; out_is_empty
run 0 scan n --from bb; out_is 'c\t6\n'
run 0 scan n --to ab; out_is 'a\t1\n'
run 0 scan n --limit 2; out_is 'a\t1\nab\t2\n'
run 0 scan n --limit 2 --reverse; out_is 'c\t6\nba\t5\n'
run 0 scan n --limit 0; out_is_empty
run 0 scan n --keys-only --prefix b; out_is 'b\nba\n'
run 0 scan n --prefix a --from abb; out_is 'abc\t3\n'
run 0 scan n --hex --prefix 62; out_is '62\t34\n6261\t35\n'
run 0 scan n --json --limit 1; out_is '{"key": "a", "value": "1", "found": true}\n'
run 0 scan n --json --limit 1 --keys-only; out_is '{"key": "a", "found": true}\n'
run 2 scan n --limit x; run 2 scan n --hex --from x; err_has --from
"$tamis" scan l 2>err | head -1 >out; out_is 'k000001\tvalue of k000001\n'; err_is_empty

# --- dump and load again ---
python3 - >everything.hex <<'PYTHON'
for first in range(256):
    print(f"{first:02x}\t{'00ff0a0d09' * (first % 3)}")
    print(f"{first:02x}{255 - first:02x}\t{first:02x}")
PYTHON
sort everything.hex >sorted.hex
run 0 load d1 everything.hex --hex; run 0 dump d1 --hex; sort out >again; same again sorted.hex; cp out dumped
run 0 load d2 dumped --hex; run 0 dump d2 --hex; same out dumped
run 2 dump d1; err_has --hex
run 0 dump d1 --json; out_is_json_lines; out_lines_are 512
run 0 put t k 'two
lines'; run 2 dump t; err_has 6b 'line end' --hex
run 0 put t2 'a	b' v; run 2 dump t2; err_has 6109 tab
run 0 put t3 k $'tab\tand\rreturn'; run 0 dump t3; cp out lines; run 0 load t4 lines --quiet; run 0 get t4 k; out_is 'tab\tand\rreturn\n'

# --- flush, compact, stats, plan, explain ---
run 0 load p entries --option compaction=manual --quiet
run 0 flush p --option compaction=manual; out_has 'before:' 'now:' '20,000 entries'
sed 's/value/second value/' entries | head -1000 | run 0 load p --option compaction=manual
run 0 flush p --option compaction=manual --json; out_json 'd["tables"] == 2 and d["tables_before"] == 1 and d["entries"] == 21000'
run 0 stats p; out_has 'level' 'bits/key' memory journal; fits_80_columns
run 0 stats p --json
out_json 'sum(l["runs"] for l in d["levels"]) == 2 and sum(l["entries"] for l in d["levels"]) == 21000'
out_json 'all(set(l) >= set("level runs tables bytes entries tombstones filter_kind bits_per_key filter_bytes fpr_designed fpr_observed probes negatives false_positives".split()) for l in d["levels"])'
out_json 'd["memory"]["budget"] == 256 << 20 and d["memory"]["used"] > 0 and "cache" in d and "journal" in d'
out_json '"write_amplification" in d and "space_amplification" in d'
run 0 plan p; out_has 'wasted reads' planned 'uniform bits'; fits_80_columns
run 0 plan p --json
out_json 'len(d["runs"]) == 2 and all(set(r) >= set("level run keys bits_per_key bytes fpr".split()) for r in d["runs"])'
out_json 'd["wasted_reads"] <= d["wasted_reads_uniform"] and sum(r["keys"] for r in d["runs"]) == 21000'
run 0 plan p --filter-memory 1K --json; out_json 'd["filter_memory"] <= 1024'
run 0 plan p --filter-memory 0 --json; out_json 'd["wasted_reads"] == 2'
run 2 plan p --filter-memory x; err_has --filter-memory
run 0 explain p k012345; out_has '"k012345"' found memtable table; fits_80_columns
run 0 explain p k012345 --json
out_json 'd["found"] is True and d["value"] == "value of k012345" and d["reads"] == 1 and d["nanoseconds"] > 0 and d["metadata_reads"] >= 0'
out_json 'all(set(s) >= set("where level run table filter block outcome".split()) for s in d["steps"])'
out_json 'd["steps"][-1]["outcome"] == "found" and d["steps"][-1]["block"]["source"] == "disk" and d["steps"][-1]["filter"]["verdict"] == "maybe"'
run 0 explain p k01234x --json; out_json 'd["found"] is False and "value" not in d'
run 0 explain p a; out_has 'not asked' 'outside its keys'; fits_80_columns
run 0 explain p a --json; out_json 'len(d["steps"]) == 3 and all(s["outcome"] == "outside" and s["filter"] is None and s["table"] for s in d["steps"][1:])'
run 0 explain p --hex 6b30 --json; out_json 'd["key_hex"] == "6b30"'
run 0 compact p; out_has '1 table, 20,000 entries'
run 0 get p k000007; out_is 'second value of k000007\n'
run 0 delete p k000007; run 0 compact p --from k --to l --json; out_json 'd["entries"] == 19999'
run 1 get p k000007
run 0 stats many; fits_80_columns; run 0 plan many; run 0 explain many key1; fits_80_columns
run 0 flush many; run 0 flush many --quiet; out_is_empty

# --- checkpoint ---
run 0 checkpoint p copy; out_has 'copy:'
run 0 dump p; cp out p.dump; run 0 dump copy; same out p.dump
run 0 put copy only here; run 1 get p only; run 0 verify copy
run 2 checkpoint p copy; err_has copy
run 2 checkpoint p
run 0 checkpoint p linked --json; out_json 'd["path"] == "linked" and d["tables"] == 1'
cp -r linked copy2  # A checkpoint's tables may be links to the store's own files: do not damage those.
cp -r linked copy3

# --- verify, repair ---
run 0 verify p; out_has ok; err_is_empty
run 0 put only_journal a 1; run 0 put only_journal b 2
run 0 verify only_journal; out_has 'ok: 0 tables, 0 B, 0 entries read; 2 entries in the journal, '
run 0 verify only_journal --json; out_json 'd["journal_entries"] == 2 and d["journal_bytes"] > 0'
run 0 verify p --json; out_json 'd["ok"] is True and d["problems"] == []'
table=$(basename "$(find copy2 -name '*.tms' | head -1)")
flip() { byte=$(od -An -tu1 -j "$2" -N1 "$1" | tr -d ' '); patch "$1" "$2" "\\0$(printf %o $((byte ^ 129)))"; }
flip "copy2/$table" 5000
run 1 verify copy2; out_has "$table" problem
run 1 verify copy2 --json
out_json 'd["ok"] is False and len(d["problems"]) >= 1 and all(set(p) == {"file", "offset", "what"} for p in d["problems"])'
run 4 dump copy2; err_has "$table"
manifest=$(find copy3 -name '*MANIFEST*' -o -name '*.manifest' | head -1)
if [ -n "$manifest" ]; then
  flip "$manifest" 20
  run 4 get copy3 k000001; err_has copy3 repair; run 1 verify copy3; run 1 verify copy3 --json; out_json 'd["ok"] is False'
  run 0 repair copy3 --dry-run; out_has 'dry run' Kept
  run 4 get copy3 k000001
  run 0 repair copy3; out_has Kept "$(basename "$manifest")"
  run 0 dump copy3; same out p.dump; run 0 verify copy3
else
  fail 'no manifest was found'
fi
run 0 repair copy2 --json
out_json 'd["dry_run"] is False and len(d["lost"]) >= 1 and all(set(p) == {"file", "offset", "what"} for p in d["lost"])'
out_json 'd["tables_kept"] >= 0 and d["entries"] > 0 and d["journal_entries"] == 0 and isinstance(d["doubts"], list)'
run 0 verify copy2; run 0 dump copy2
check 'repair lost more than a block' test "$(wc -l <out)" -gt 19000
check 'repair invented entries' test "$(sort out p.dump | uniq -d | wc -l)" -eq "$(wc -l <out)"

# --- table ---
table=$(find p -name '*.tms' | head -1)
run 0 table "$table"; out_has entries k020000 'index section' codec; fits_80_columns
run 0 table "$table" --json; out_json 'd["entries"] == 19999 and d["smallest_key"] == "k000001" and d["filter"] != "none"'
run 0 table "$table" --blocks; out_has separator; fits_80_columns
run 0 table "$table" --blocks --json; out_is_json_lines; json_has block offset stored_bytes block_bytes entries codec first_key separator
run 0 table "$table" --entries; out_lines_are 19999; cut -f1,4 out >columns; same columns p.dump
run 0 table "$table" --entries --json; out_is_json_lines; json_has key sequence kind value
run 0 table "$table" --entries --hex; out_has 6b303030303031
run 2 table "$table" --entries --blocks; run 2 table; run 3 table no-such.tms; err_has no-such.tms
run 4 table entries; err_has entries
cp "$table" damaged.tms; flip damaged.tms 5000; run 4 table damaged.tms --entries; err_has damaged.tms; run 4 table damaged.tms --blocks
run 0 put deletes k v; run 0 flush deletes --option compaction=manual; run 0 delete deletes k
run 0 flush deletes --option compaction=manual
for table in deletes/*.tms; do "$tamis" table "$table" --entries; done | cut -f1,3,4 | sort >out
out_is 'k\tdelete\t\nk\tput\tv\n'

# --- two processes ---
mkfifo pipe
"$tamis" load p pipe >/dev/null 2>loader.err &
pid=$!
exec 3>pipe
printf 'held\topen\n' >&3
for _ in $(seq 100); do "$tamis" get p k000001 2>&1 | grep -q 'locked by' && break; sleep 0.05; done
run 5 put p a b; err_has "pid $pid"; out_is_empty
run 5 repair p; err_has "$pid"
run 0 get p k000001; err_has "$pid"
run 0 verify p; err_has "$pid"; run 0 stats p; err_has "$pid"
exec 3>&-
wait $pid; check 'the loader failed' test $? -eq 0
run 0 get p held; out_is 'open\n'
"$tamis" scan p >scan1 & first=$!
"$tamis" scan p >scan2 & second=$!
wait $first; one=$?
wait $second; check 'two readers at once' test $one -eq 0 -a $? -eq 0

# --- Ctrl-C ---
rm acks
"$tamis" load i <(cat entries; exec sleep 20 2>/dev/null) --batch 5000 --ack acks --quiet 2>err &
pid=$!
for _ in $(seq 100); do [ "$(tail -n 1 acks 2>/dev/null)" = 20000 ] && break; sleep 0.05; done
kill -INT $pid; wait $pid; check 'Ctrl-C is not 130' test $? -eq 130
run 0 verify i; run 0 dump i; same out entries
rm acks
(while cat entries 2>/dev/null; do :; done) | "$tamis" load j --batch 100 --ack acks --quiet 2>err &
pid=$!
for _ in $(seq 100); do [ -s acks ] && break; sleep 0.05; done
kill -INT $pid; wait $pid; check "Ctrl-C in the middle is not 130" test $? -eq 130; run 0 verify j; out_has ok
rm acks
"$tamis" load kill <(while cat entries 2>/dev/null; do :; done) --batch 100 --ack acks --quiet 2>err &
pid=$!
for _ in $(seq 100); do [ -s acks ] && [ "$(wc -l <acks)" -gt 20 ] && break; sleep 0.05; done
kill -KILL $pid; wait $pid 2>/dev/null
acknowledged=$(tail -n 1 acks)
[ "$acknowledged" -gt 20000 ] && acknowledged=20000
run 0 dump kill; check "fewer entries than the $acknowledged acknowledged" test "$(wc -l <out)" -ge "$acknowledged"
run 0 verify kill; out_has ok

# --- no demo leaves anything behind ---
mkdir tmp
# One signal only (--foreground): a second Ctrl-C does not wait for the folder to be removed.
TMPDIR=$PWD/tmp timeout --foreground -s INT 1 "$tamis" demo >/dev/null 2>err
check 'the demo was not interrupted' test $? -eq 124
check 'the demo left files' test -z "$(ls tmp)"

finish
