#!/bin/bash
# Merges: numbers and bytes, and what the other verbs say of them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# --- the first merge names the operator ---
run 2 merge s n 1; err_has "the keyspace 'default' has no merge operator; set merge_operator"
run 0 merge s n 1 --operator add_i64; out_is '1\n'; run 0 merge s n 41; out_is '42\n'; run 0 merge s n -- -50; out_is '-8\n'
run 3 merge s n 1 --operator append; err_has "it has the merge operator 'add_i64', which cannot become 'append'"
run 0 merge s n 1 --operator add_i64 --json --sync; out_is '{"ok": true, "value": "-7"}\n'
for bad in x 1.5 '' 9223372036854775808 '1 '; do run 2 merge s n "$bad"; done; err_has "is not a whole number of 64 bits"
run 0 keyspaces s --json; out_has '"merge_operator": "add_i64"'

# --- get, scan, multi-get and explain show the fold ---
run 0 get s n --number; out_is '-7\n'; run 0 get s 6e --hex; out_is 'f9ffffffffffffff\n'; run 0 get s n --number --json; out_has '"value": "-7"'
run 0 merge s m 5; run 0 scan s --number; out_is 'm\t5\nn\t-7\n'; run 0 scan s --number --reverse; out_is 'n\t-7\nm\t5\n'
run 0 put s word text; run 2 get s word --number; err_has 'a value has 4 bytes, and a number has 8'; run 0 delete s word
run 0 explain s n; out_has 'merge operand' operands; run 0 explain s n --json; out_has '"operands": [{'
run 0 flush s; run 0 explain s n --json; out_has '"value_hex"'; run 0 get s n --number; out_is '-7\n'
run 0 stats s --json; out_has '"merge_operands": 0'
run 0 merge s n 1; run 0 flush s; run 0 stats s --json; out_has '"merge_operands": 1'; run 0 stats s; out_has '1 operand in tables, not folded yet'
table=$(for file in s/*.tms; do "$tamis" table "$file" --entries --json | grep -q '"merge"' && echo "$file"; done)
if [ -n "$table" ]; then pass; else fail 'no table has the operand'; fi
run 0 compact s --quiet; run 0 stats s --json; out_has '"merge_operands": 0'; run 0 get s n --number; out_is '-6\n'

# --- numbers without a sign, bytes, keyspaces ---
run 0 merge s high 7 --operator max_u64 --keyspace high; out_is '7\n'; run 0 merge s high 3 --keyspace high; out_is '7\n'
run 0 merge s high 18446744073709551615 --keyspace high; out_is '18446744073709551615\n'; run 2 merge s high --keyspace high -- -1
run 0 get s high --keyspace high --number; out_is '18446744073709551615\n'
run 0 merge log a one, --operator append; out_is 'one,\n'; run 0 merge log a two; out_is 'one,two\n'; run 0 merge log --hex 61 21; run 0 get log a; out_is 'one,two!\n'

# --- a value that cannot be folded is an error for its key alone ---
run 0 put s n text; run 2 merge s n 1; err_has "the merge operator 'add_i64' cannot fold values of 4 and 8 bytes"
run 2 get s n; run 0 get s m --number; out_is '5\n'; run 0 verify s; run 0 compact s --quiet; run 0 explain s n; out_has error 'cannot fold'
run 0 put s --hex 6e 0100000000000000; run 0 get s n --number; out_is '1\n'

# --- copies have values; a dump has the folds ---
run 0 merge s n 1; run 0 dump s --json; cp out dumped; run 0 load copy dumped --format jsonl --quiet; run 0 get copy n --number; out_is '2\n'
run 0 checkpoint s third; run 0 merge third n 1; out_is '3\n'; run 0 repair third --quiet; run 0 merge third n 1; out_is '4\n'
finish
