#!/bin/bash
# Values apart: what the verbs say of value files.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
check() { if "${@:2}"; then pass; else fail "$1"; fi; }
out_json() {
  if python3 -c "import json, sys; d = [json.loads(line) for line in open('out')]; sys.exit(0 if ($1) else 1)"; then pass; else fail "$last: expected $1"; fi
}
apart=(--option value_bytes_apart=100)
long=$(printf 'v%.0s' {1..300})

run 0 put s a "$long" "${apart[@]}"; run 0 put s b "$long" "${apart[@]}" --expires-in 1h; run 0 put s c short "${apart[@]}"
run 0 flush s "${apart[@]}"; check 'one value file' test "$(find s -name '*.values' | wc -l)" = 1

# --- reads need no option ---
run 0 get s a; out_is "$long\n"; run 0 get s c; out_is 'short\n'; run 0 count s; out_is '3\n'
run 0 explain s a; out_has 'value file'; run 0 explain s a --json; out_json 'd[0]["steps"][-1]["where"] == "value file"'
run 0 explain s c --json; out_json 'd[0]["steps"][-1]["where"] == "table"'

# --- stats, table, verify ---
run 0 stats s; out_has 'values apart' 'in 1 files'; run 0 stats s --json; out_json 'd[0]["values"]["values"] == 2 and d[0]["values"]["live_bytes"] == 600'
run 0 table s/*.tms --json; out_json '(d[0]["values_apart"], d[0]["bytes_of_values_apart"]) == (2, 600)'
run 0 table s/*.tms --entries; out_has '300 bytes at 64 of ' '.values' 'short'
run 0 table s/*.tms --entries --json; out_json '["apart" in row for row in d] == [True, True, False] and "value" not in d[0] and d[1]["apart"]["value_bytes"] == 300 and "expires_at" in d[1]'
run 0 verify s --json; out_json 'd[0]["ok"]'

# --- dump, load, checkpoint and repair keep them ---
run 0 dump s --json; cp out dumped
run 0 load copy dumped --format jsonl --quiet "${apart[@]}"; run 0 compact copy --quiet "${apart[@]}"; run 0 dump copy --json; same out dumped
run 0 stats copy --json; out_json 'd[0]["values"]["values"] == 2'
run 0 checkpoint s third; run 0 dump third --json; same out dumped
rm third/CURRENT third/MANIFEST-*; run 0 repair third; run 0 dump third --json; same out dumped; run 0 verify third

# --- damage is named ---
values=$(echo s/*.values); patch "$values" 70 'X'
run 4 get s a; err_has "$values: value at offset 64"; run 0 get s b; run 0 get s c
run 1 verify s; out_has "${values#s/}"; run 4 dump s --json

# --- plan says what it does not know ---
run 0 plan --size 1TB --value-bytes 300 "${apart[@]}"; out_has 'values of 300 bytes go to value files'

finish
