#!/bin/bash
# Keyspaces: --keyspace on every verb that reads or writes entries, and tamis keyspaces.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
check() { if "${@:2}"; then pass; else fail "$1"; fi; }
json() { python3 -c "import json, sys; d = [json.loads(line) for line in open('out')]; sys.exit(0 if ($1) else 1)"; }
out_json() { if json "$1"; then pass; else fail "$last: expected $1"; fi; }

# --- the same key in three keyspaces; put and load make those that are missing ---
run 0 put s k default; run 0 put s k users --keyspace users --sync; run 0 put s k logs --keyspace logs; out_is_empty
for keyspace in default users logs; do run 0 get s k --keyspace $keyspace; out_is "$keyspace\\n"; done
run 0 get s k; out_is 'default\n'
run 0 put s other 1 --keyspace users
run 0 scan s; out_is 'k\tdefault\n'; run 0 scan s --keyspace users --reverse; out_is 'other\t1\nk\tusers\n'
run 0 count s; out_is '1\n'; run 0 count s --keyspace users; out_is '2\n'; run 0 count s --keyspace users --prefix o; out_is '1\n'
run 1 multi-get s k other; out_is 'k\tdefault\n'; run 0 multi-get s k other --keyspace users; out_is 'k\tusers\nother\t1\n'
run 0 explain s other --json --keyspace users; out_json 'd[0]["found"] is True'; run 0 explain s other --json; out_json 'd[0]["found"] is False'
run 0 delete s k --keyspace users; run 1 get s k --keyspace users; run 0 get s k; out_is 'default\n'; run 0 get s k --keyspace logs; out_is 'logs\n'

# --- a keyspace that is missing is not made by other verbs, nor for a load that fails ---
for verb in 'get s k' 'delete s k' 'multi-get s k' 'scan s' 'count s' 'dump s' 'explain s k' 'compact s'; do
  # shellcheck disable=SC2086
  run 3 $verb --keyspace none; err_has "s: there is no keyspace 'none'; 'tamis keyspaces s' lists them"; out_is_empty
done
run 3 get s k --keyspace user; err_has "did you mean 'users'?"
printf 'no tab\n' | run 2 load s --keyspace none
run 3 keyspaces s --drop none; err_has "no keyspace 'none'"
run 0 keyspaces s --json; out_json '[row["name"] for row in d] == ["default", "users", "logs"]'
run 2 put s k v --keyspace ''; err_has 'the name of a keyspace has 1 to 255 bytes'; run 2 keyspaces s --create ''; err_has '1 to 255 bytes'
run 2 put none k v --keyspace "$(head -c 256 /dev/zero | tr '\0' n)"; err_has '1 to 255'; check 'a store was made for a bad name' test ! -e none
run 0 put names k v --keyspace "$(head -c 255 /dev/zero | tr '\0' n)"; run 0 put names k v --keyspace $'\xff\n'
run 0 keyspaces names --json; out_json 'd[1]["name"] == "n" * 255 and d[2]["name_hex"] == "ff0a"'; run 0 keyspaces names; out_has 0xff0a

# --- list, create, drop ---
run 0 keyspaces s; out_has 'keyspace  id  entries  tables' 'users      1'
run 0 keyspaces s --create packed --option codec_last=zstd --option fanout=4 --option memory_bytes=16M
out_is "keyspace 'packed' created with codec_last=zstd fanout=4\\n"
run 0 keyspaces s --json; out_json 'd[3] == {"name": "packed", "id": 3, "entries": 0, "tables": 0, "bytes": 0, "memtable_bytes": d[3]["memtable_bytes"], "options": {"codec_last": "zstd", "fanout": "4"}}'
run 0 keyspaces s --create packed --option fanout=5 --json; out_json 'd[0]["created"] is False and d[0]["options"] == {"codec_last": "zstd", "fanout": "5"}'
run 0 keyspaces s; out_has 'codec_last=zstd fanout=5'
seq -f 'k%05.0f' 3000 | awk '{ print $1 "\tvalue of " $1 }' >entries
run 0 load s entries --keyspace packed --quiet; run 0 compact s --keyspace packed --quiet
table=$(for file in s/*.tms; do "$tamis" table "$file" | grep -q '^keyspace *packed$' && echo "$file"; done)
run 0 table "$table" --blocks; out_has zstd
run 0 keyspaces s --drop packed; out_is "keyspace 'packed' dropped with 3,000 entries in 1 table, $(sed -n 's/.*, //p' out)\\n"
check 'a dropped table is still there' test ! -e "$table"
run 3 scan s --keyspace packed; run 0 put s k again --keyspace packed; run 0 scan s --keyspace packed; out_is 'k\tagain\n'
run 0 keyspaces s --drop packed --json; out_json 'd[0]["dropped"] is True and d[0]["id"] == 4 and d[0]["options"] == {}'
run 0 keyspaces s --create quiet --quiet; out_is_empty; run 0 keyspaces s --drop quiet --quiet; out_is_empty
run 2 keyspaces s --drop default; err_has 'default'; run 2 keyspaces s --create a --drop b; err_has 'only one of'
run 2 keyspaces s --create bad --option codec=gzip; err_has codec; run 2 keyspaces s --create bad --option nonsense=1
run 2 keyspaces s --create users --read-only; run 0 keyspaces s --json; out_json 'len(d) == 3'
run 3 keyspaces none; run 3 keyspaces none --drop x; check 'a list made a store' test ! -e none
run 0 keyspaces made --create first; run 0 keyspaces made --json; out_json 'len(d) == 2'

# --- dump never loses the other keyspaces silently ---
run 2 dump s; err_has 's: the store has 3 keyspaces' '--json' '--keyspace NAME'; out_is_empty
run 2 dump s --csv; run 2 dump s --hex; out_is_empty
run 0 dump s --keyspace default; out_is 'k\tdefault\n'; run 0 dump s --keyspace users --csv; out_is 'key,value\nother,1\n'
run 0 put s --hex ff 00 --keyspace logs
run 0 dump s --json; cp out dumped
out_json '[row.get("keyspace") for row in d] == [None, "users", "logs", "logs"] and d[3]["key_hex"] == "ff"'
run 0 load copy dumped --json; out_json 'd[0]["entries"] == 4'; run 0 dump copy --json; same out dumped
run 0 dump s --keyspace users --json; out_is '{"key": "other", "value": "1", "found": true}\n'
run 0 dump names --json; mv out dumped; run 0 load names-again dumped --json; run 0 dump names-again --json; same out dumped

# --- load: an entry's own keyspace comes before --keyspace; a batch over keyspaces is one ---
printf '{"key": "a", "value": "1"}\n{"key": "b", "value": "2", "keyspace": "x"}\n{"key": "c", "value": "3", "keyspace_hex": "79"}\n' >input
run 0 load l input --format jsonl --keyspace z; run 0 dump l --json; out_json '[(row["key"], row["keyspace"]) for row in d] == [("a", "z"), ("b", "x"), ("c", "y")]'
run 0 load one input --format jsonl --batch 3 --ack acks; check 'more than one batch' test "$(cat acks)" = 3
run 0 load l input --format jsonl --batch 1 --ack acks; check 'not three batches' test "$(wc -l <acks)" = 3
for bad in '"keyspace": ""' '"keyspace": 1' '"keyspace": "a", "keyspace_hex": "61"' '"keyspace_hex": "6"' "\"keyspace\": \"$(head -c 256 /dev/zero | tr '\0' n)\""; do
  printf '{"key": "a", "value": "1", %s}\n' "$bad" >input; run 2 load none input --format jsonl; err_has 'line 1' 'nothing was loaded'
done
check 'a bad keyspace made a store' test ! -e none
printf 'a\t1\n' | run 0 load tsv --keyspace users; run 0 get tsv a --keyspace users; out_is '1\n'; run 0 count tsv; out_is '0\n'

# --- the verbs of the whole store ---
run 0 stats tsv --json; out_json '[row["name"] for row in d[0]["keyspaces"]] == ["default", "users"]'
run 0 stats tsv; out_has 'keyspace  id  entries'; run 0 put plain k v; run 0 stats plain; if grep -q keyspace out; then fail 'stats lists the only keyspace'; else pass; fi
run 0 load big entries --quiet; run 0 load big entries --keyspace users --quiet; run 0 flush big --json; out_json 'd[0]["tables"] == 2'
for keyspace in default users; do
  run 0 load big entries --keyspace $keyspace --quiet
  for key in k00001 k00002; do run 0 delete big $key --keyspace $keyspace; done
done
run 0 flush big; run 0 compact big --json; out_json 'd[0]["entries"] == 5996'
run 0 delete big k00003; run 0 delete big k00003 --keyspace users
run 0 compact big --keyspace users --json; run 0 keyspaces big --json; out_json '[row["entries"] for row in d] == [2999, 2997]'
run 0 compact big --from k0 --to k1; run 0 keyspaces big --json; out_json '[row["entries"] for row in d] == [2997, 2997]'
run 0 verify big --json; out_json 'd[0]["ok"] and d[0]["entries"] == 5994'
run 0 put big fresh 1 --keyspace users
run 0 checkpoint big big-copy; run 0 dump big --json; mv out dumped; run 0 dump big-copy --json; same out dumped
cp -r big-copy damaged; for file in damaged/*.tms; do patch "$file" 100 'damage'; done
run 1 verify damaged --json; out_json 'len(set(p["file"] for p in d[0]["problems"])) == 3'
rm big/CURRENT big/MANIFEST-*; run 0 repair big --dry-run --json
out_json 'set(doubt["keyspace"] for doubt in d[0]["doubts"]) == {"default", "users"}'
run 0 repair big; out_has 'keyspace "users"'; run 0 dump big --json; same out dumped
finish
