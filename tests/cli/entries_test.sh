#!/bin/bash
# Entries in and out: TSV, CSV and JSON lines, values from files, counts. Usage: entries_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

check() { if "${@:2}"; then pass; else fail "$1"; fi; }
err_lines_are() { if [ "$(wc -l <err)" -eq "$1" ]; then pass; else fail "$last: $(wc -l <err) messages, expected $1"; fi; }
# loads FORMAT-OPTIONS TEXT EXPECTED: what the text comes to, as --hex lines.
loads() {
  rm -rf loaded
  # shellcheck disable=SC2059
  printf "$2" >input
  # shellcheck disable=SC2086
  run 0 load loaded $1 --quiet <input
  run 0 dump loaded --hex; out_is "$3"
}
# refuses FORMAT-OPTIONS TEXT MESSAGE...: and creates no store.
refuses() {
  rm -rf refused
  # shellcheck disable=SC2059
  printf "$2" >input
  # shellcheck disable=SC2086
  run 2 load refused $1 <input
  err_has "${@:3}"
  check "$last: a load that failed left a store" test ! -e refused
}

# --- every format copies every byte ---
python3 - >every.hex <<'PYTHON'
for first in range(256):
    print(f"{first:02x}\t{'00ff0a0d092c22' * (first % 3)}")
    print(f"{first:02x}{255 - first:02x}\t{first:02x}")
    print(f"{first:02x}22\t2c{first:02x}0d0a")
print("\t")
for text in ("key", "value", "é", "\u2028", "{", '"', "\\u0000", "\ufeff"):
    print(f"{text.encode().hex()}\t{('value' + text).encode().hex()}")
PYTHON
run 0 load every every.hex --hex --quiet; run 0 dump every --hex; cp out whole
"$tamis" dump --json every | "$tamis" load --json copy1 >out 2>err; run 0 dump copy1 --hex; same out whole
"$tamis" dump --csv every | "$tamis" load --csv copy2 >out 2>err; run 0 dump copy2 --hex; same out whole
for format in tsv csv jsonl; do
  rm -rf copy3; run 0 dump every --format $format --hex; cp out text
  run 0 load copy3 text --format $format --hex --quiet; run 0 dump copy3 --hex; same out whole
done
for format in csv jsonl; do
  rm -rf copy4; run 0 scan every --format $format; cp out text
  run 0 load copy4 text --format $format --quiet; err_is_empty; run 0 dump copy4 --hex; same out whole
done
"$tamis" dump every --csv >every.csv
python3 - <<'PYTHON' >theirs || fail 'Python does not read the CSV'
import csv
with open("every.csv", newline="", encoding="latin-1") as file:
    rows = list(csv.reader(file))
assert rows[0] == ["key", "value"]
for key, value in rows[1:]:
    print(f"{key.encode('latin-1').hex()}\t{value.encode('latin-1').hex()}")
PYTHON
same theirs whole
"$tamis" put header key value; run 0 dump header --csv; out_is 'key,value\nkey,value\n'
"$tamis" dump header --csv | "$tamis" load header2 --csv --quiet; run 0 get header2 key; out_is 'value\n'
"$tamis" load empty /dev/null --quiet
for format in tsv csv jsonl; do "$tamis" dump empty --format $format >text; run 0 load empty2 text --format $format; out_has '0 entries'; done
"$tamis" dump --json empty >text; run 0 load --json empty3 text; out_has '"entries": 0'

# --- CSV ---
loads --csv 'a,1\nb,2\n' '61\t31\n62\t32\n'
loads --csv 'a,1\r\nb,2\r\n' '61\t31\n62\t32\n'
loads --csv 'a,1\r\nb,2' '61\t31\n62\t32\n'
loads --csv 'key,value\r\na,1\r\n' '61\t31\n'
loads --csv '"a ""b"", c","1\n2\r\n3"\r\nd,\n,e\n' '\t65\n61202262222c2063\t310a320d0a33\n64\t\n'
loads --csv '\357\273\277key,value\na,1\n' '61\t31\n'
loads '--csv --header' 'city;name,inhabitants,year\na,1\n' '61\t31\n'
loads '--csv --no-header' 'key,value\n' '6b6579\t76616c7565\n'
loads '--csv --hex' 'key,value\n00ff,0a\n' '00ff\t0a\n'
loads --csv '"a",""\n' '61\t\n'
loads --csv 'a,"x"\n"""",","\n' '22\t2c\n61\t78\n'
refuses --csv 'a,1\nb\n' 'standard input: line 2 has 1 field' KEY,VALUE 'nothing was loaded'
refuses --csv 'a,1\n\n' 'line 2 has 1 field'
refuses --csv 'a,1,2\n' 'line 1 has 3 fields' 'quote values'
refuses --csv 'a,"1\n2"\nb,"3\n4"x\n' 'line 4' 'closing quote'
refuses --csv 'a,"1\n2",3\n' 'line 1 has 3 fields'
refuses --csv 'a,1\nb,"2\nc,3\n' 'line 2' 'never closed'
refuses --csv 'a,b"c\n' 'line 1' 'quote in an unquoted field'
refuses '--csv --hex' 'a,00\n' 'line 1' 'not hexadecimal'
refuses --header 'a\t1\n' '--header is for CSV'
refuses '--csv --crlf' 'a,1\n' '--crlf is for TSV'
refuses '--csv --header --no-header' 'a,1\n' 'only one of --header, --no-header'
run 0 scan header --csv --keys-only; out_is 'key\nkey\n'

# --- JSON lines ---
loads --json '{"key": "a", "value": "1"}\n{"value_hex":"00FF","key":"b"}\r\n' '61\t31\n62\t00ff\n'
loads '--format jsonl' '{"key_hex": "00", "value": "\\u00e9\\u0000", "found": true}' '00\tc3a900\n'
loads '--format jsonl' ' {"key": "a",\t"value": "1"}\n' '61\t31\n'
loads --json 'a\t1\n' '61\t31\n'
loads '--json --csv' 'a,1\n' '61\t31\n'
loads '--json --format tsv' '{\t}\n' '7b\t7d\n'
printf '{"key": "a", "value": "1"}\n' >input; run 0 load j --json input; out_has '"entries": 1, "seconds": '
refuses --json '{"key": "a", "value": "1"}\n{"key": "b"}\n' 'standard input: line 2' "neither 'value' nor 'value_hex'"
refuses --json '{"key": "a", "value": "1"}\n{"key": "b", "value": 2}\n' "line 2: 'value' is not a string; put it in quotes"
refuses --json '{"key": "a", "value": "1", "ttl": 7}\n' "line 1: unknown member 'ttl'"
refuses --json '{"key": "a", "key_hex": "61", "value": "1"}\n' "both 'key' and 'key_hex'"
refuses --json '{"key": "a", "value_hex": "1"}\n' "'value_hex' is not hexadecimal"
refuses --json '{"key": "a", "found": false}\n' "'found'"
refuses '--format jsonl' '["a", "1"]\n' 'line 1 is not a JSON object'
refuses '--format jsonl' 'a\t1\n' 'line 1 is not JSON, at byte 1'
refuses --json '{"key": "a", "value": "1"} x\n' 'line 1 is not JSON, at byte 28'
refuses --json '{"key": "a", "value": "1"}\000{"key": "b"}\n' 'line 1 is not JSON, at byte 27'
refuses --json '{"key": "a\xff", "value": "1"}\n' 'line 1 is not JSON'
refuses --json '{"key": "a", "value": "1"}\n\n' 'line 2 is not JSON'

# --- which format ---
run 2 load x --format xml </dev/null; err_has "--format: 'xml' is not one of tsv, csv, jsonl"
run 2 dump every --format csv --csv; err_has 'only one of --format, --csv'
run 2 dump every --json --csv; err_has 'only one of --json, --csv'
run 2 scan every --json --format tsv; err_has 'only one of --json, --format'
run 0 dump header --json --format jsonl; out_is '{"key": "key", "value": "value", "found": true}\n'

# --- CR LF in TSV: data, with a warning; --crlf treats it as the line end ---
printf 'a\t1\r\nb\t2\r\n' >crlf
run 0 load c1 crlf; err_has 'crlf: line 1 ends with a carriage return' 'part of the value' --crlf; err_lines_are 1
run 0 get c1 --hex 61; out_is '310d\n'
run 0 load c2 crlf --crlf; err_is_empty; run 0 dump c2; out_is 'a\t1\nb\t2\n'
printf 'a\t1\nb\t2\r\nc\t3\r\n' >mixed
run 0 load c3 mixed; err_has 'mixed: line 2 ends with a carriage return'; err_lines_are 1
run 0 load c4 mixed --crlf; run 0 dump c4; out_is 'a\t1\nb\t2\nc\t3\n'
printf '61\t31\r\n' >hex; run 0 load c5 hex --hex --crlf; run 0 dump c5; out_is 'a\t1\n'
run 2 load c6 hex --hex; err_has 'carriage return; load with --crlf'

# --- a load that fails at once leaves nothing, one that fails later keeps its batches ---
refuses '' 'no tab\n' 'line 1'
mkdir folder; run 2 load folder <input; check 'files were left in a folder' test -z "$(ls folder)"
printf 'a\t1\nb\t2\nbad\n' >input; run 2 load later input --batch 2; err_has 'first 2 entries'; run 0 count later; out_is '2\n'
printf 'bad\n' >input; run 2 load later input; run 0 count later; out_is '2\n'

# --- values from files ---
head -c 100000 /dev/urandom >bytes; printf '\0\n' >>bytes
run 0 put files picture --from-file bytes; out_is_empty; run 0 get files picture --raw; same out bytes
run 0 put files piped --from-file - <bytes; run 0 get files piped --raw; same out bytes
run 0 put files --hex 00ff --from-file bytes --json; out_has '"ok": true'; run 0 get files --hex 00ff --raw; python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(open("out").read()))' >back; same back bytes
run 0 put files nothing --from-file /dev/null; run 0 get files nothing --raw; out_is_empty
run 0 put files dash -; run 0 get files dash; out_is -'\n'
run 0 put cas k 1 --if-absent; out_is_empty; run 1 put cas k 2 --if-absent; run 1 put cas k 2 --if-value 3 --json; out_has '"changed": false'
run 0 put cas k 2 --if-value 1 --json; out_has '"changed": true'; run 1 put cas other 2 --if-value ''; run 0 get cas k; out_is '2\n'
run 1 delete cas k --if-value 1; run 0 get cas k; out_is '2\n'; run 0 delete cas k --if-value 2; run 1 get cas k
run 2 put cas k 1 --if-absent --if-value 1; err_has 'exclude each other'
run 2 put files k v --from-file bytes; err_has 'not both'
run 2 put files k; err_has 'VALUE is missing'
run 2 put files k --from-file; err_has '--from-file needs a value'
run 3 put none k --from-file no-such-file; err_has no-such-file; check 'a store was made for nothing' test ! -e none
run 3 put none k --from-file folder; err_has 'is a folder'
truncate -s 1073741825 sparse; run 2 put none k --from-file sparse; err_has 'sparse: is larger than 1.00 GiB, the max size of a value'; rm sparse
check 'a store was made for a value that is too large' test ! -e none
# A value may be larger than the store's memory.
head -c 3000000 /dev/urandom >larger; run 0 put small k --from-file larger --option memory_bytes=1M; run 0 get small k --raw --option memory_bytes=1M; same out larger
run 0 dump small --hex; mv out hex; run 0 load small-again hex --hex --option memory_bytes=1M; run 0 get small-again k --raw; same out larger

# --- count ---
seq -f 'k%06.0f' 20000 | awk '{ print $1 "\tvalue of " $1 }' >entries
run 0 load n entries --quiet; run 0 count n; out_is '20000\n'; err_is_empty
run 0 flush n --quiet; run 0 load n entries --quiet; run 0 delete n k000001; run 0 put n k000002 again
run 0 count n; out_is '19999\n'
run 0 count n --prefix k01; out_is '10000\n'
run 0 count n --from k019999; out_is '2\n'
run 0 count n --from k000003 --to k000005; out_is '2\n'
run 0 count n --prefix k0000 --to k00001; out_is '8\n'
run 0 count n --hex --prefix 6b3032; out_is '1\n'
run 0 count n --json; out_is '{"count": 19999}\n'
run 0 count n --prefix x; out_is '0\n'
run 0 count empty; out_is '0\n'
run 3 count none; err_has 'none: no store is here'; check 'count made a store' test ! -e none
run 2 count; err_has 'DIR is missing'
run 2 count n --hex --from x; err_has --from

finish
