#!/bin/bash
# The command's error messages: the whole line and the exit status, for every error that can be provoked here.
# A message says what happened, where, and what to do; scripts and people rely on the status.
# Usage: messages_test.sh TAMIS GOLDEN
export LC_ALL=C
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# says STATUS LINE ARGUMENT...: exactly this line on standard error. Checksums, which differ between stores, are written
# #.
says() {
  local line=$2 status=$1
  shift 2
  run "$status" "$@"
  sed -E 's/\b[0-9a-f]{16}\b/#/g' err >masked
  if [ "$(cat masked)" = "tamis: $line" ]; then pass; else fail "$last: expected 'tamis: $line'"; fi
}
skip() { echo "skipped: $1"; }
# flip FILE OFFSET: changes one byte.
flip() { patch "$1" "$2" "\\x$(printf '%02x' $(($(od -An -tu1 -j "$2" -N1 "$1") ^ 65)))"; }

seq -f 'k%05.0f' 5000 | awk '{ print $1 "\tvalue of " $1 }' >entries
mkdir folder; : >empty; echo text >file
"$tamis" put s paris 2102650
number='a whole number from 0 to 18446744073709551615'

# --- verbs, options and operands: 2 ---
says 2 "no verb given; 'tamis help' lists them"
says 2 "unknown verb 'gte'; did you mean 'get'?" gte s k
says 2 "unknown verb 'milk'; 'tamis help' lists them" milk
says 2 "unknown verb 'sise'; did you mean 'filter size'?" sise
says 2 "unknown verb '--milk'; 'tamis help' lists them" --milk
says 2 "'filter' needs a verb; 'tamis help filter' lists them" filter
says 2 "unknown verb 'filter sise'; did you mean 'filter size'?" filter sise
says 2 "unknown option '--limmit'; did you mean '--limit'?" scan s --limmit 3
says 2 "unknown option '--milk'; see 'tamis get --help'" get s k --milk
says 2 "unknown option '-5'; put an operand that begins with '-' after '--'; see 'tamis put --help'" put s low -5
says 2 "unknown option '--milk'; see 'tamis filter kinds --help'" filter kinds --milk
says 2 "--limit needs a value; see 'tamis scan --help'" scan s --limit
says 2 "--limit was given more than once; see 'tamis scan --help'" scan s --limit 1 --limit 2
says 2 "--option needs a value; see 'tamis get --help'" get s k --option
says 2 "DIR is missing; see 'tamis get --help'" get
says 2 "KEY is missing; see 'tamis get --help'" get s
says 2 "VALUE is missing; see 'tamis put --help'" put s k
says 2 "unexpected argument 'w'; see 'tamis put --help'" put s k v w
says 2 "DIR is empty; it names the store's folder" get '' k
says 2 "--limit: 'x' is not $number" scan s --limit x
says 2 "--limit: '-1' is not $number" scan s --limit -1
says 2 "--limit: '99999999999999999999' is not $number" scan s --limit 99999999999999999999
says 2 "--batch: must be at least 1" load s --batch 0
says 2 "--filter-memory: 'x' is not a size in bytes, such as 65536, 64K, 10M or 2G" plan s --filter-memory x
says 2 "the key 'zz' is not hexadecimal, which --hex expects" get s --hex zz
says 2 "the key '0' is not hexadecimal, which --hex expects: two digits per byte" get s --hex 0
says 2 "--from: 'x' is not hexadecimal, which --hex expects: two digits per byte" scan s --hex --from x
says 2 "--read-only: this verb changes the store; remove the option" put s k v --read-only
says 2 "give only one of --entries, --blocks; see 'tamis table --help'" table x --entries --blocks

# --- options of a store: 2 ---
names='memory_bytes, memtable_bytes, block_bytes, table_bytes, codec, codec_last, filter, filter_memory, filter_reserve_percent, prefix_rule, range_filter_bits, compaction, value_bytes_apart, fanout, default_expiry, merge_operator, journal, background_threads, background_bytes_per_second, direct_reads'
says 2 "unknown option 'memory_byte'; did you mean 'memory_bytes'?" get s k --option memory_byte=1M
says 2 "unknown option 'milk'; the options are $names" get s k --option milk=1
says 2 "--option: 'memory_bytes' is not NAME=VALUE, such as memory_bytes=64MiB" get s k --option memory_bytes
says 2 "option memory_bytes: '16' is invalid; expected 256KiB to 1TiB" get s k --option memory_bytes=16
says 2 "option fanout: 'ten' is invalid; expected 2 to 100" get s k --option fanout=ten
says 2 "option compaction: 'level' is invalid; expected leveled, tiered, lazy, manual" get s k --option compaction=level
says 2 "option filter_memory: '2MiB' is invalid; expected auto, or 0 to memory_bytes" get s k --option memory_bytes=1M --option filter_memory=2M
says 2 "option prefix_rule: 'first:0' is invalid; expected none, first:N (N from 1 to 65535), until:C (one character or 0xHH)" get s k --option prefix_rule=first:0

# --- keys: 1 when absent, 2 when impossible ---
says 1 "s: key 'rome' not found" get s rome
says 1 "s: key '' not found" get s ''
says 1 "s: key 0x00ff not found" get s --hex 00ff
long=$(head -c 65536 /dev/zero | tr '\0' k)
says 1 "s: key '${long:0:40}'... not found" get s "$long"
{ printf 'a\t1\n'; head -c 16777217 /dev/zero | tr '\0' k; printf '\tv\n'; } >lines
says 2 "lines: line 2: the key has 16777217 bytes; the max is 16777216; nothing was loaded" load s lines

# --- lines ---
printf 'a\t1\nb\t2\nno tab\n' >lines
says 2 "lines: line 3 has no tab; each line is KEY<TAB>VALUE; nothing was loaded" load s lines
says 2 "lines: line 3 has no tab; each line is KEY<TAB>VALUE; only the first 2 entries were loaded; reloading them is harmless" load s lines --batch 2
says 2 "standard input: line 3 has no tab; each line is KEY<TAB>VALUE; nothing was loaded" load s <lines
printf 'a\t1\nno tab\n' >lines
says 2 "lines: line 2 has no tab; each line is KEY<TAB>VALUE; only the first entry was loaded; reloading it is harmless" load s lines --batch 1
printf '6\t31\n' >lines
says 2 "lines: line 1: the key is not hexadecimal, which --hex expects: two digits per byte; nothing was loaded" load s lines --hex
printf '61\t3x\n' >lines
says 2 "lines: line 1: the value is not hexadecimal, which --hex expects; nothing was loaded" load s lines --hex
printf '61\t31\r\n' >lines
says 2 "lines: line 1: the value is not hexadecimal: it ends with a carriage return; load with --crlf; nothing was loaded" load s lines --hex
printf 'a\t1\r\n' >lines
says 0 "warning: lines: line 1 ends with a carriage return, which is part of the value; if lines end with CR LF, load with --crlf" load s lines
printf 'a,1\nb\n' >lines
says 2 "lines: line 2 has 1 field; each record is KEY,VALUE; nothing was loaded" load s lines --csv
printf 'a,1\nb,2,3\n' >lines
says 2 "lines: line 2 has 3 fields; each record is KEY,VALUE; quote values that contain commas; nothing was loaded" load s lines --csv
printf 'a,"1\nb,2\n' >lines
says 2 "lines: line 1: a quote is opened and never closed; close it, or quote the field and double the quote; nothing was loaded" load s lines --csv
printf 'a,"1"2\n' >lines
says 2 "lines: line 1: expected a comma or the end of the line after a closing quote; double a quote inside a field; nothing was loaded" load s lines --csv
printf 'a,1"2\n' >lines
says 2 "lines: line 1: quote in an unquoted field; quote the field and double the quote; nothing was loaded" load s lines --csv
example='each line is an object such as {"key": "paris", "value": "2102650"}'
printf '{"key": "a", "value": 1}\n' >lines
says 2 "lines: line 1: 'value' is not a string; put it in quotes; nothing was loaded" load s lines --json
printf '{"key": "a"}\n' >lines
says 2 "lines: line 1 has neither 'value' nor 'value_hex'; $example; nothing was loaded" load s lines --json
printf '{"key": "a", "value": "1", "ttl": 3}\n' >lines
says 2 "lines: line 1: unknown member 'ttl'; remove it or move it into the value; nothing was loaded" load s lines --json
printf '{"key": "a", value}\n' >lines
says 2 "lines: line 1 is not JSON, at byte 14 of the line; $example; nothing was loaded" load s lines --json
says 2 "--format: 'xml' is not one of tsv, csv, jsonl" dump s --format xml
says 2 "give only one of --json, --csv" dump s --json --csv
says 2 "--header is for CSV; add --csv" load s lines --header
says 2 "give the value as a word or with --from-file, not both" put s k v --from-file lines
says 3 "no-file: cannot open: No such file or directory" put s k --from-file no-file
says 3 "no-file: cannot open: No such file or directory" load s no-file
says 3 "folder: is a folder, not a file" load s folder
says 3 "no-folder/acks: cannot create: No such file or directory" load s entries --ack no-folder/acks
printf '610a\t31\n' | "$tamis" load breaks --hex --quiet
says 2 "the key of the entry with key (in hexadecimal) 610a contains a line end, which would break its line; use --hex, --csv or --json" dump breaks

# --- no store: 3 ---
how="'tamis put' or 'tamis load' creates one"
says 3 "none: no store is here; $how" get none k
says 3 "none: no store is here; $how" repair none
says 3 "folder: no store is here; $how" scan folder
says 3 "folder: no store is here; $how" verify folder
says 3 "file: is a file, not a store's folder" get file k
says 3 "file: is a file, not a store's folder" put file k v
says 3 "file: is a file, not a store's folder" repair file
says 3 "file/s: cannot stat: Not a directory" put file/s k v
says 2 "folder: exists already; name a new folder" checkpoint s folder
says 3 "none.tms: cannot open: No such file or directory" table none.tms
says 3 "folder: is a folder; name one of its .tms files" table folder

# --- damage and newer formats: 4 ---
"$tamis" load whole entries --option compaction=manual --quiet && "$tamis" flush whole --option compaction=manual --quiet
"$tamis" load whole entries --option compaction=manual --quiet
table=$(basename whole/*.tms) journal=$(basename whole/*.journal)
fresh() { rm -rf d; cp -r whole d; }
repair="run 'tamis repair' to recover what is left"
fresh; rm d/CURRENT
says 4 "d: CURRENT is missing, but files of a store are here; 'tamis repair' can make a new one" get d k
fresh; echo MANIFEST-000001 >d/CURRENT
for verb in "get d k" "put d k v" "verify d" "stats d" "repair d" "repair d --dry-run"; do
  says 3 "d: this is a LevelDB or RocksDB folder; 'tamis import' copies it into a new store (docs/MIGRATING.md)" $verb
done
mkdir -p other; echo text >other/000001.tms
says 3 "other: no file here is provably a tamis file (000001.tms has no tamis magic); nothing was changed" repair other
mkdir -p backup; echo held >backup/LOCK
says 3 "backup: LOCK is not a tamis file; another program seems to use this folder; choose another one" put backup k v
fresh; head -c 16 /dev/zero >d/CURRENT
says 4 "d/CURRENT: at offset 0: 16 bytes are too few for a header of 128; $repair" get d k
fresh; flip d/CURRENT 50
says 4 "d/CURRENT: at offset 0: the header's checksum is #, its bytes have #; $repair" put d k v
fresh; manifest=$(echo d/MANIFEST-*); rm "$manifest"
says 4 "$manifest: missing, though d/CURRENT names it; $repair" get d k
fresh; manifest=$(echo d/MANIFEST-*); : >"$manifest"
says 4 "$manifest: at offset 0: 0 bytes are too few for a header of 4096; $repair" get d k
fresh; rm "d/$table"
says 4 "d/$table: the table is missing; 'tamis repair' goes on without it" get d k
fresh; rm "d/$journal"
says 4 "d/$journal: the journal is missing; 'tamis repair' goes on without it" get d k
fresh; flip "d/$journal" 3
says 4 "d/$journal: at offset 0: not a tamis journal: the magic is wrong; $repair" get d k
fresh; flip "d/$table" 1000
says 4 "d/$table: block at offset 64: its checksum is #, its bytes have #; $repair" scan d --to k00001x
run 1 verify d; out_has "d/$table: block at offset 64: its checksum is " "1 problem; $repair: 1 table, "
says 4 "d/$table: block at offset 64: its checksum is #, its bytes have #; if it belongs to a store, run 'tamis repair' on the store's folder" table "d/$table" --entries
says 4 "empty: at offset 0: 0 bytes are too few for a table; if it belongs to a store, run 'tamis repair' on the store's folder" table empty
fresh; printf 'TAMISCUR\3\0\4\0\x80\0\0\0' >d/CURRENT; head -c 104 /dev/zero >>d/CURRENT; printf '\xa7\x5b\x28\x46\xd6\xd3\x79\x85' >>d/CURRENT
for verb in 'get d k' 'put d k v' 'stats d'; do
  # shellcheck disable=SC2086
  says 4 "d/CURRENT: format version 3 is newer than this build reads (2); use a newer tamis" $verb
done

# --- locked: 5 ---
fresh; mkfifo pipe
"$tamis" load d pipe >/dev/null 2>&1 &
pid=$!
exec 3<>pipe  # Does not wait for the reader, which may have failed.
# Looked up, not tried: opening the store now could lock out the other process.
for _ in $(seq 100); do grep -q "^pid $pid " d/LOCK && break; sleep 0.05; done
for verb in 'put d k v' 'repair d' 'compact d'; do
  # shellcheck disable=SC2086
  says 5 "d/LOCK: locked by pid $pid; try again once that process has closed the store" $verb
done
# Verbs that only read follow the other process.
there=$("$tamis" scan d --keys-only --limit 1 2>/dev/null)
note="tamis: note: d/LOCK: locked by pid $pid; this is what that process has committed"
for verb in "get d $there" 'scan d' 'count d' 'stats d' 'explain d k' 'verify d' 'dump d' 'keyspaces d' 'checkpoint d copy'; do
  # shellcheck disable=SC2086
  "$tamis" $verb >out 2>err || fail "$verb beside a writer: $(cat err)"
  [ "$(head -1 err)" = "$note" ] || fail "$verb beside a writer said: $(cat err)"
done
"$tamis" get copy "$there" >out || fail "the copy of a live store lacks a key"
exec 3>&-
wait $pid

# --- the machine refuses: 3 ---
permission="Permission denied; check its owner and permissions, and its folder's"
unprivileged=$tamis
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups "$tamis" version >/dev/null 2>&1; then
  chmod 755 "$work"
  printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups %s "$@"\n' "$tamis" >nobody
  chmod 755 nobody; unprivileged=$work/nobody
fi
if [ "$(id -u)" -ne 0 ] || [ "$unprivileged" != "$tamis" ]; then
  privileged=$tamis tamis=$unprivileged
  fresh; chmod 555 d; chmod 444 d/*; chmod 555 .
  says 3 "d/LOCK: cannot open: $permission" put d k v
  says 3 "d/LOCK: cannot open: $permission" repair d
  says 3 "new: cannot create directory: $permission" put new k v
  says 3 "x: cannot create: $permission" filter build --kind bloom --fpr 0.01 --keys entries -o x
  chmod 0 d
  says 3 "d: cannot list: $permission" get d k
  says 3 "d: cannot list: $permission" put d k v
  chmod 755 . d; chmod 0 entries
  says 3 "entries: cannot open: $permission" load s entries
  chmod 644 entries d/*; tamis=$privileged
else
  skip 'permissions: this is root, and setpriv cannot become anybody else'
fi
full='No space left on device; free space on that disk'
if [ -w /dev/full ]; then
  last='stats s >/dev/full'
  "$tamis" stats s >/dev/full 2>err; status=$?; : >out
  if [ "$status" -eq 3 ] && [ "$(cat err)" = "tamis: standard output: cannot write: $full" ]; then pass; else fail "$last: status $status"; fi
  # No output is possible, so the status must tell.
  "$tamis" get none k >out 2>/dev/full; status=$?
  if [ "$status" -eq 3 ]; then pass; else fail "get none k 2>/dev/full: status $status"; fi
  says 3 "/dev/full: cannot write: $full" filter build --kind bloom --fpr 0.01 --keys entries -o /dev/full
fi
fresh
# shellcheck disable=SC2016
limited() { bash -c 'ulimit "$1" "$2"; shift 2; exec "$@"' - "$1" "$2" "$tamis" "${@:3}"; }
last='put with no bytes left to write'
limited -f 0 put d k v 2>&1 >out | cat >err; status=${PIPESTATUS[0]}
if [ "$status" -eq 3 ] && grep -qxE 'tamis: d/[A-Z0-9.a-z-]+: cannot write .*: File too large; raise the file size limit \(ulimit -f\) or use another file system' err; then pass; else fail "$last: status $status"; fi
if grep -q __ubsan_handle "$tamis"; then
  skip 'too many open files: a sanitizer opens some itself'
else
  last='get with no files left to open'
  limited -n 4 get d k >out 2>err; status=$?
  if [ "$status" -eq 3 ] && grep -qxE 'tamis: d[^:]*: cannot [a-z]+: Too many open files; raise the open file limit \(ulimit -n\)' err; then pass; else fail "$last: status $status"; fi
fi

# A disk of one megabyte and a read-only one, where a user may mount them.
cat >disks.sh <<'SCRIPT'
tamis=$1
mkdir disk && mount -t tmpfs -o size=1m tmpfs disk || exit 77
"$tamis" load disk/s entries --option compaction=manual --quiet
head -c 2000000 /dev/zero >disk/ballast 2>/dev/null
"$tamis" load disk/s entries; echo $?
rm disk/ballast
"$tamis" put disk/s k v; echo $?
mount -o remount,ro disk || exit 77
"$tamis" put disk/s k v; echo $?
"$tamis" put disk/new k v; echo $?
"$tamis" get disk/s k; echo $?
SCRIPT
unshare -rm bash disks.sh "$tamis" >out 2>err; status=$?
last='a full disk and one that can only be read'
if [ "$status" -ne 0 ]; then
  skip 'a full disk and one that can only be read: nobody may mount here'
else
  out_is '3\n0\n3\n3\nv\n0\n'
  err_has "$full; nothing was loaded" 'tamis: disk/s/LOCK: cannot open: Read-only file system; remount it for writing or use another folder' \
    'tamis: disk/new: cannot create directory: Read-only file system; remount it for writing or use another folder'
fi

# --- filters ---
build() { "$tamis" filter build --keys entries --quiet "$@"; }
build --kind bloom --fpr 0.01 -o bloom; build --kind bloom --fpr 0.001 -o larger; build --kind bloom --fpr 0.01 --seed 7 -o seeded
build --kind ribbon --fpr 0.01 -o ribbon; build --kind split --fpr 0.01 -o split
kinds='line, ribbon, fuse, bloom, split, cuckoo, counting, scalable, sliced, growing'
rate='a rate between 0 and 1 (exclusive), such as 0.01 for one in a hundred'
alike='build them with the same kind, size and seed'
damaged='the file is damaged or not a filter; restore or rebuild it'
says 2 "--keys is missing; see 'tamis filter size --help'" filter size
says 2 "give only one of --fpr, --bits-per-key, --memory; see 'tamis filter size --help'" filter size --keys 10 --fpr 0.1 --memory 1K
says 2 "--fpr: '1' is not $rate" filter size --keys 10 --fpr 1
says 2 "--bits-per-key: '0' is not a number above 0" filter size --keys 10 --bits-per-key 0
says 2 "unknown filter kind 'blom'; did you mean 'bloom'?" filter size --keys 10 --fpr 0.1 --kind blom
says 2 "unknown filter kind 'milk'; the kinds are $kinds" filter size --keys 10 --fpr 0.1 --kind milk
says 2 "split cannot reach a rate of 1e-12; ribbon can" filter build --kind split --fpr 1e-12 --keys entries -o x
says 2 "unknown format 'guvaa'; did you mean 'guava'?" filter build --format guvaa --keys entries -o x
says 2 "--seed and --keyed are mutually exclusive" filter build --kind bloom --fpr 0.01 --keys entries -o x --seed 1 --keyed
says 2 "entries: line 1 is not hexadecimal, which --hex expects" filter build --kind bloom --fpr 0.01 --keys entries --hex -o x
says 3 "no-folder/x: cannot create: No such file or directory" filter build --kind bloom --fpr 0.01 --keys entries -o no-folder/x
says 3 "folder: is a folder, not a file" filter info folder
says 3 "none: cannot open: No such file or directory" filter info none
says 4 "empty: is empty, so it holds no filter; if its format allows an empty file, name the format with --format" filter info empty
says 2 "entries: nothing in the file tells its format, say which; possible: rocksdb-raw, leveldb-raw, badger, pychapter (with --format; 'tamis filter formats' lists them)" filter info entries
says 4 "entries: at offset 0: not a tamis filter: the magic is wrong; $damaged" filter info entries --format tamis
head -c 100 bloom >short
says 4 "short: at offset 32: 100 bytes are too few for a header of 128: the file is cut; $damaged" filter probe short k
cp bloom bad; flip bad 500
says 4 "bad: at offset 120: the checksum is #, the file's bytes have #; $damaged" filter probe bad k
cp bloom newer; patch newer 8 '\x02'
says 4 "newer: at offset 10: format version 2 is newer than this build reads (1); use a newer tamis" filter info newer
says 2 "give keys either as operands or with --keys" filter probe bloom
says 2 "bloom, larger: the filters cannot be joined: they differ in size; $alike" filter union bloom larger -o x
says 2 "bloom, seeded: the filters cannot be joined: they differ in seed; $alike" filter intersect bloom seeded -o x
says 2 "bloom, split: the filters cannot be joined: they differ in kind; $alike" filter union bloom split -o x
says 2 "ribbon: a ribbon filter cannot be changed; these kinds can: line, bloom, split, cuckoo, counting, scalable, growing" filter union bloom ribbon -o x
says 2 "--output is missing; see 'tamis filter union --help'" filter union bloom bloom
says 2 "'cassandra-nw' is no Cassandra format; those are cassandra-new, cassandra-old, cassandra-old-h1h2" filter verify bloom --index entries --format cassandra-nw

# --- Ctrl-C: 130, and how far it got ---
"$tamis" load i <(cat entries; exec sleep 20 2>/dev/null) --batch 1000 --ack acks >out 2>err &
pid=$!
for _ in $(seq 100); do [ "$(tail -n 1 acks 2>/dev/null)" = 5000 ] && break; sleep 0.05; done
kill -INT $pid; wait $pid; status=$?
last='load and Ctrl-C'
if [ "$status" -eq 130 ]; then pass; else fail "$last: status $status"; fi

finish
