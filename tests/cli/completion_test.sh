#!/bin/bash
# The manual page and the completions say what --help says. Usage: completion_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 manual && sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\f[BIR]//g' out >page && cp out tamis.1
for shell in bash zsh fish; do run 0 completion $shell && cp out "script.$shell"; done
run 2 completion tcsh
err_has "bash, zsh, fish"
run 2 completion

# holds TEXT OPTION WHERE
holds() { if grep -qwF -e "$2" <<<"$1"; then pass; else fail "$3: no '$2' of tamis $verb"; fi; }

# Every verb of the overview, every option of its --help.
"$tamis" help | sed -nE 's/^  ([a-z-]+( [a-z-]+)?)  +.*/\1/p' >verbs
if [ "$(wc -l <verbs)" -ge 30 ]; then pass; else fail "tamis help lists only $(wc -l <verbs) verbs"; fi
while read -r verb; do
  in_page=$(sed -n "/^\.SS $verb\$/,/^\.S/p" page)
  in_bash=$(grep -E "^ +'$verb'\) candidates='-" script.bash)
  in_zsh=$(sed -n "/^  '$verb')\$/,/;;\$/p" script.zsh)
  in_fish=$(grep -F "'__tamis_verb_is $verb' " script.fish)
  holds "$in_page" "tamis $verb" "manual page"
  # shellcheck disable=SC2086
  for option in $("$tamis" $verb --help | sed -nE 's/^  (-[^ ]+).*/\1/p' | tr ',' ' '); do
    holds "$in_page" "$option" "manual page"
    holds "$in_bash" "$option" bash
    holds "$in_zsh" "$option" zsh
    case $option in
      --*) holds "$in_fish" "-l ${option#--}" fish ;;
      *) holds "$in_fish" "-s ${option#-}" fish ;;
    esac
  done
done <verbs

# completes EXPECTED WORD...: what bash offers for the last word, sorted, on one line.
completes() {
  local expected=$1
  shift
  # shellcheck disable=SC2016
  bash --norc -c '. ./script.bash; COMP_WORDS=(tamis "$@"); COMP_CWORD=$#; _tamis; printf "%s\n" "${COMPREPLY[@]}"' _ "$@" |
    sort | paste -sd ' ' >out 2>err
  if [ "$(cat out)" = "$expected" ]; then pass; else fail "bash completes 'tamis $*' otherwise than by '$expected'"; fi
}
if bash -n script.bash; then pass; else fail "bash does not accept its script"; fi
completes filter fil
completes filter help fil
completes filter --json fil
completes build filter bu
completes "kinds" filter ki
completes "--kind" filter build --ki
completes ribbon filter build --kind rib
completes "--sync" put cities paris 1 --sy
completes "memory_bytes= memtable_bytes=" get cities paris --option mem
completes "bash fish zsh" completion ""
completes count cou
completes "csv jsonl tsv" load cities --format ""
completes guava filter info --format gua
completes "" count cities --prefix ""
completes "--from-file" put pictures logo --fr
completes "" get cit  # A folder: bash looks for it itself.
completes "" filter build --keys ""

if command -v zsh >/dev/null; then
  if zsh -n script.zsh; then pass; else fail "zsh does not accept its script"; fi
else
  echo "skipped: there is no zsh to try its script"
fi
if command -v fish >/dev/null; then
  fish_completes() { fish --no-config -c 'source script.fish; complete -C "$argv"' -- "$2" 2>err | cut -f1 | sort | paste -sd ' ' >out
    if [ "$(cat out)" = "$1" ]; then pass; else fail "fish completes '$2' otherwise than by '$1'"; fi; }
  fish_completes filter "tamis fil"
  fish_completes build "tamis filter bu"
  fish_completes --kind "tamis filter build --ki"
  fish_completes ribbon "tamis filter build --kind rib"
  fish_completes jsonl "tamis dump cities --format js"
else
  echo "skipped: there is no fish to try its script"
fi

if command -v man >/dev/null && command -v groff >/dev/null; then
  last="man tamis.1"
  MANROFFSEQ='' MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -l tamis.1 >out 2>err
  err_is_empty
  out_has "key-value store built around filters" "tamis put DIR KEY (VALUE | --from-file FILE)" "Common options: --json, --hex" "memory_bytes" "EXIT STATUS"
else
  echo "skipped: there is no man to show the page"
fi
finish
