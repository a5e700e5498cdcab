#!/bin/bash
# Values that expire: put --expires-in, and what the other verbs say of them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
check() { if "${@:2}"; then pass; else fail "$1"; fi; }
json() { python3 -c "import json, sys, time; now = time.time() * 1000; d = [json.loads(line) for line in open('out')]; sys.exit(0 if ($1) else 1)"; }
out_json() { if json "$1"; then pass; else fail "$last: expected $1"; fi; }
# due_in SECONDS: the due time of the last output's first entry is so many seconds away, or a few less.
due_in() { out_json "$1 * 1000 - 60000 < d[0][\"expires_at\"] - now <= $1 * 1000"; }

# --- put and get ---
run 0 put s soon gone --expires-in 1ms; run 0 put s plain 1; run 0 put s long 2 --expires-in 30min --sync; out_is_empty
sleep 0.01
run 1 get s soon; out_is_empty; err_has "key 'soon' not found"; run 1 get s soon --json; out_is '{"key": "soon", "found": false}\n'
run 0 get s long; out_is '2\n'; run 0 get s long --json; due_in 1800
run 0 get s plain --json; out_is '{"key": "plain", "value": "1", "found": true}\n'
run 0 put s day 3 --expires-in 1d; run 0 get s day --json; due_in 86400
run 0 put s day 3 --expires-in never; run 0 get s day --json; out_is '{"key": "day", "value": "3", "found": true}\n'; run 0 delete s day
for bad in 5 x 1y -1s ''; do run 2 put none k v --expires-in "$bad"; done; check 'a bad time made a store' test ! -e none
run 2 put none k v --expires-in 5x; err_has "--expires-in '5x': expected never, or a number of ms, s, min, h or d"

# --- an expired value hides the one beneath it, is absent for --if-absent, and is replaced ---
run 0 put s over beneath; run 0 flush s; run 0 put s over above --expires-in 1ms; sleep 0.01; run 1 get s over; run 0 flush s; run 1 get s over
run 0 put s over again --if-absent --expires-in 1h; run 0 get s over; out_is 'again\n'; run 1 put s over twice --if-absent
run 0 delete s over

# --- scan, count, multi-get, explain ---
run 0 scan s; out_is 'long\t2\nplain\t1\n'; run 0 scan s --reverse; out_is 'plain\t1\nlong\t2\n'; run 0 count s; out_is '2\n'
run 0 scan s --json; due_in 1800; out_json '"expires_at" not in d[1] and len(d) == 2'
run 1 multi-get s soon long; out_is 'long\t2\n'
run 0 explain s long --json; out_json 'd[0]["found"] is True'; run 0 explain s soon --json; out_json 'd[0]["found"] is False'
run 0 put s brief 1 --expires-in 1ms; sleep 0.01; run 0 explain s brief; out_has expired; run 0 delete s brief

# --- dump and load keep due times; formats without a column for them refuse ---
run 2 dump s; err_has "the value of the key 'long' expires, and only JSON lines hold when; use --json"; run 2 dump s --csv; err_has --json; run 2 dump s --hex
run 0 put s --hex ff 00 --expires-in 1h; run 0 put s ada 1815 --keyspace users --expires-in 2h
run 0 dump s --json; cp out dumped; out_json '["expires_at" in row for row in d] == [True, False, True, True]'
run 0 load copy dumped --format jsonl --quiet; run 0 dump copy --json; same out dumped
run 0 compact copy --quiet; run 0 dump copy --json; same out dumped; run 0 verify copy --json; out_json 'd[0]["ok"]'
run 0 checkpoint copy third; run 0 dump third --json; same out dumped
printf '{"key": "past", "value": "1", "expires_at": 1}\n' >input; run 0 load copy input --format jsonl; run 1 get copy past
for bad in '"1"' -1 1.5 null 99999999999999999999; do
  printf '{"key": "a", "value": "1", "expires_at": %s}\n' "$bad" >input; run 2 load none input --format jsonl; err_has 'line 1'
done
check 'a bad time made a store' test ! -e none

# --- stats and table ---
run 0 put plain k v; run 0 flush plain; run 0 stats plain; if grep -q expir out; then fail 'stats speaks of expiry in a store without'; else pass; fi
run 0 put due a 1 --expires-in 1h; run 0 put due b 2 --expires-in 1h; run 0 put due c 3; run 0 flush due
run 0 stats due; out_has 'expiry' '2 entries with a due time, about 0 expired; 0 tables dropped unread'
run 0 stats due --json; out_json '(d[0]["expiring_entries"], d[0]["expired_entries"], d[0]["tables_expired"]) == (2, 0, 0)'
run 0 table due/*.tms --entries --json; out_json '["expires_at" in row for row in d] == [True, True, False]'

# --- a default of the keyspace ---
run 0 keyspaces s --create sessions --option default_expiry=30min; run 0 put s ada 1 --keyspace sessions
run 0 get s ada --keyspace sessions --json; due_in 1800
run 0 put s grace 1 --keyspace sessions --expires-in never; run 0 get s grace --keyspace sessions --json; out_json '"expires_at" not in d[0]'

# --- repair keeps due times ---
run 0 flush s; run 0 dump s --json; cp out dumped; rm s/CURRENT s/MANIFEST-*; run 0 repair s; run 0 dump s --json; same out dumped; run 1 get s soon
finish
