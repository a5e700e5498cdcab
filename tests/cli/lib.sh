# shellcheck shell=bash disable=SC2034
# Helpers of the command's tests: run it, check its output, count.
#
#   run 0 filter info x.tamis      the command must exit with status 0; its output is in $work/out and $work/err
#   out_is / out_has / err_has     what the last run printed

shopt -s lastpipe  # "… | run …" counts here, not in a subshell that forgets it.
tamis=$1
golden=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0
last=

pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  printf 'FAILED: %s\n' "$*"
  sed 's/^/  stdout: /' out | head -5
  sed 's/^/  stderr: /' err | head -5
}

# run STATUS ARGUMENT...: standard input is the caller's.
run() {
  local expected=$1 status
  shift
  last="tamis $*"
  "$tamis" "$@" >out 2>err
  status=$?
  if [ "$status" -eq "$expected" ]; then pass; else fail "$last: status $status, expected $expected"; fi
  # A failure prints a message, on standard error only.
  if [ "$status" -ge 2 ] && ! grep -q '^tamis: ' err; then fail "$last: no message"; fi
}

out_is() { if [ "$(cat out; echo .)" = "$(printf '%b' "$1"; echo .)" ]; then pass; else fail "$last: expected $1"; fi; }
out_has() { for text in "$@"; do if grep -qF -- "$text" out; then pass; else fail "$last: no '$text'"; fi; done; }
err_has() { for text in "$@"; do if grep -qF -- "$text" err; then pass; else fail "$last: no '$text' on stderr"; fi; done; }
err_is_empty() { if [ -s err ]; then fail "$last: stderr is not empty"; else pass; fi; }
out_is_empty() { if [ -s out ]; then fail "$last: stdout is not empty"; else pass; fi; }
json_has() { for field in "$@"; do out_has "\"$field\": "; done; }
same() { if cmp -s "$1" "$2"; then pass; else fail "$last: $1 and $2 differ"; fi; }

# Every line of standard output is one JSON object: braces at both ends.
out_is_json_lines() { if grep -qv '^{.*}$' out || ! [ -s out ]; then fail "$last: not JSON lines"; else pass; fi; }

# patch FILE OFFSET BYTES: overwrites, with printf escapes.
patch() { printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
