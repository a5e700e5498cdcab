#!/bin/bash
# The command on other systems' filters: everything in the golden index. Usage: foreign_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# The index as lines of "name=value", a line "end" after each entry; its JSON has one field per line.
section() {
  awk -v section="$1" '
    /^ "[a-z]+": \[/ { inside = ($1 == "\"" section "\":") }
    inside && /^  \}/ { print "end" }
    inside && /^ +"[a-z_0-9]+": [^{[]/ {
      name = $1; gsub(/[":]/, "", name)
      value = $0; sub(/^ +"[a-z_0-9]+": /, "", value); sub(/,$/, "", value); gsub(/^"|"$/, "", value)
      print name "=" value
    }' "$golden/index.json"
}

# Calls the function for each entry of the section, with its fields in the array "entry".
for_each() {
  local line
  declare -gA entry=()
  while IFS= read -r line; do
    if [ "$line" != end ]; then entry[${line%%=*}]=${line#*=}; continue; fi
    "$2"
    entry=()
  done < <(section "$1")
}

# What is not in the file must be given as options.
out_of_band() {
  told=(--format "${entry[format]}")
  case ${entry[format]} in
    pychapter) told+=(--bits "${entry[m]}" --hashes "${entry[k]}") ;;
    go-article*) told+=(--hashes "${entry[k]}") ;;
    parquet) told+=(--column "${entry[column]}" --row-group "${entry[row_group]}") ;;
  esac
}

answers_of_out() { sed 's/^.*\tmaybe$/1/; s/^.*\tno$/0/' out; }

probe_golden() {
  out_of_band
  run 0 filter probe "$golden/${entry[file]}" "${told[@]}" --hex --keys "$golden/${entry[probes]}"
  if answers_of_out | cmp -s - "$golden/${entry[answers]}"; then pass; else fail "${entry[id]}: different answers"; fi
  run 0 filter probe "$golden/${entry[file]}" "${told[@]}" --hex --keys "$golden/${entry[keys]}"
  if answers_of_out | grep -q 0; then fail "${entry[id]}: a key is missing"; else pass; fi
  if [ -n "${entry[empty_key]}" ]; then
    run 0 filter probe "$golden/${entry[file]}" "${told[@]}" ''
    if [ "${entry[empty_key]}" = true ]; then out_is '\tmaybe\n'; else out_is '\tno\n'; fi
  fi
  run 0 filter info "$golden/${entry[file]}" "${told[@]}" --json; out_is_json_lines
  out_has "\"format\": \"${entry[format]}\"" '"seed": "public"'
  json_has kind keys bits bits_per_key hashes bytes fill fpr_estimated fpr_designed
}

# Without --format the guess is right, or the message names the right format among those that fit.
guess_golden() {
  out_of_band
  case ${entry[id]} in *mislabelled*) return ;; esac
  "$tamis" filter info "$golden/${entry[file]}" "${told[@]:2}" >out 2>err
  local status=$?
  last="tamis filter info ${entry[file]}"
  if [ $status -eq 0 ]; then out_has "${entry[format]}"; else err_has "${entry[format]}" --format; fi
}

build_golden() {
  [ "${entry[writable]}" = true ] || return
  local arguments=(--format "${entry[format]}") name
  for name in n=expected-keys fp=fpr m=bits k=hashes words=words blocks=blocks bits_per_key=bits-per-key seed=seed \
    item=item variant=variant; do
    [ -z "${entry[${name%%=*}]}" ] || arguments+=("--${name#*=}" "${entry[${name%%=*}]}")
  done
  [ -z "${entry[fpp_or_bits]}" ] || arguments+=(--fpr "${entry[fpp_or_bits]}")
  run 0 filter build "${arguments[@]}" --hex --keys "$golden/${entry[keys]}" -o built; same built "$golden/${entry[file]}"
}

rebuild_golden() {
  local index="$golden/${entry[index]}" expect="$golden/${entry[expect]}"
  run 0 filter rebuild --from-index "$index" --format "${entry[format]}" --expected-keys "${entry[n]}" --fpr "${entry[fp]}" -o built
  same built "$expect"
  run 0 filter rebuild --from-index "$index" --format "${entry[format]}" --like "$expect" -o - --quiet; same out "$expect"
  if [ "${entry[n]}" = "${entry[keys]}" ]; then
    run 0 filter rebuild --from-index "$index" --fpr "${entry[fp]}" -o built; same built "$expect"
  fi
}

verify_golden() {
  local status=1
  [ "${entry[verdict]}" != ok ] || status=0
  run $status filter verify "$golden/${entry[filter]}" --index "$golden/${entry[index]}"; out_has "${entry[verdict]}"
  [ $status -eq 0 ] || out_has "no key is missing when read as ${entry[actual_format]}" 'missing:'
  run $status filter verify "$golden/${entry[filter]}" --index "$golden/${entry[index]}" --json; out_is_json_lines
  out_has "\"verdict\": \"${entry[verdict]}\"" "\"missing\": ${entry[missing_with_implied]}" "\"${entry[actual_format]}\""
  run 0 filter verify "$golden/${entry[filter]}" --index "$golden/${entry[index]}" --format "${entry[actual_format]}"
}

damaged_golden() {
  out_of_band
  local status=0
  [ "${entry[expect]}" != error ] || status=4
  run $status filter probe "$golden/${entry[file]}" "${told[@]}" --hex --keys "$golden/${entry[probes]}"
  case ${entry[expect]} in
    error) err_has "${entry[file]}"; out_is_empty ;;
    all-true) if answers_of_out | grep -q 0; then fail "${entry[id]}: a no"; else pass; fi ;;
    all-false) if answers_of_out | grep -q 1; then fail "${entry[id]}: a maybe"; else pass; fi ;;
  esac
}

run 0 filter formats; out_has cassandra-new pychapter 'Sarthak Makhija' distributed-systems-engineer
run 0 filter formats --json; out_is_json_lines; json_has format system writable summary
for_each filters probe_golden
for_each filters guess_golden
for_each filters build_golden
for_each rebuild rebuild_golden
for_each verify verify_golden
for_each damaged damaged_golden

# --- refusals ---
lab=$golden/lab/user-100-fpr0.05.bf
new=$golden/cassandra/rebuild/mixed-1000-nb
run 2 filter info "$lab" --format lap; err_has 'lap'
run 2 filter probe "$golden/pychapter/user-100-m959-k7.bloom" --format pychapter a; err_has bits
run 4 filter probe "$golden/pychapter/user-100-m959-k7.bloom" --format pychapter --bits 99999999999 --hashes 7 a
run 2 filter probe "$golden/pychapter/user-100-m959-k7.bloom" --format pychapter --bits 959 --hashes 0 a
run 2 filter probe "$golden/pychapter/user-100-m959-k7.bloom" --format pychapter --bits 959 --hashes 5000000000 a
cp "$lab" big; patch big 4 '\0377\0377\0377\0377\0377\0377\0377\0377'; run 4 filter info big --format lab; err_has big
cp "$lab" zero; patch zero 0 '\0\0\0\0'; run 4 filter info zero --format lab; err_has zero
cp "$lab" many; patch many 0 '\0377\0377\0377\0377'; run 4 filter info many --format lab; err_has many
cp "$new/nb-1-big-Filter.db" nb-1-big-Filter.db; printf x >>nb-1-big-Filter.db; run 4 filter info nb-1-big-Filter.db
run 4 filter info - --format cassandra-new <nb-1-big-Filter.db; err_has 'standard input'
run 0 filter info --format cassandra-new - <"$new/nb-1-big-Filter.db"; out_has cassandra-new
# --- convert ---
old=$golden/cassandra/rebuild/mixed-1000-me/me-1-big-Filter.db
run 0 filter convert "$old" --to cassandra-new -o nb-2-big-Filter.db; out_has cassandra-new
run 0 filter convert nb-2-big-Filter.db --to cassandra-old -o - --quiet; same out "$old"
run 0 filter convert "$golden/go/article-user-100-p0.01.bitset" --hashes 7 --to go-article-json -o article; out_has '--hashes 7'
run 2 filter convert "$lab" --to guava -o x; err_has 'lab cannot become guava' 'build it from the keys'
run 2 filter convert "$lab" --to parquet -o x; err_has 'parquet can be read, not written'
run 2 filter convert "$lab" --to tamis -o x; err_has 'hash keys with XXH3' 'from the keys'
run 2 filter convert "$lab" -o x; err_has '--to is missing'
run 2 filter convert "$lab" --to lap -o x; err_has "'lap'"
if [ -e x ]; then fail 'a refused conversion left a file'; else pass; fi
# Questions name the option that answers them.
row_group='\x19\x1c\x3c\x15\x0c\x29\x18\x01a\xb6\x08\x00\x00\x00'
printf 'PAR1\x49\x2c%b%b\x00\x1f\x00\x00\x00PAR1' "$row_group" "$row_group" >two.parquet
run 2 filter info two.parquet; err_has 'say which column and row group; there are: a (row group 0) a (row group 1) (with --column and --row-group)'
run 2 filter info two.parquet --format parquet; err_has '(with --column and --row-group)'
run 2 filter info "$golden/pychapter/user-100-m959-k7.bloom" --format pychapter; err_has '(with --bits and --hashes)'
seq 10 >keys
# Only Cassandra uses a rate of 1 to mean that there is no filter.
run 0 filter build --format cassandra-new --fpr 1 --keys keys -o all; if [ -s all ]; then fail 'not empty'; else pass; fi
run 0 filter probe all --format cassandra-new stranger; out_is 'stranger\tmaybe\n'
run 0 filter rebuild --from-index "$new/nb-1-big-Index.db" --fpr 1 -o all; if [ -s all ]; then fail 'not empty'; else pass; fi
run 2 filter build --format lab --kind line --fpr 0.01 --keys keys -o x; err_has 'only one of'
run 2 filter build --keys keys -o x; err_has '--kind, --format'
run 2 filter build --format lab --memory 1M --keys keys -o x; err_has '--memory goes with --kind'
run 2 filter build --kind line --fpr 0.01 --words 4 --keys keys -o x; err_has '--words goes with --format'
run 2 filter build --format nobody --keys keys -o x; err_has nobody cassandra-new
run 2 filter build --format parquet --keys keys -o x; err_has parquet
run 2 filter build --format lab --words 7 --keys keys -o x; err_has words
for rate in 0 1 2 -1 NaN text; do run 2 filter build --format lab --fpr "$rate" --keys keys -o x; err_has --fpr; done
for hashes in 0 4000000000 -1; do run 2 filter build --format lab --bits 100 --hashes "$hashes" --keys keys -o x; done
run 2 filter build --format lab --bits 18446744073709551615 --hashes 3 --keys keys -o x
run 2 filter build --format spark --seed text --keys keys -o x; err_has --seed
run 0 filter build --format spark --item long --keys keys -o spark
run 0 filter probe spark --format spark --item long 7; out_is '7\tmaybe\n'
run 2 filter build --format spark --item date --keys keys -o x; err_has date
"$tamis" filter formats --json | awk '/"writable": true/' | sed 's/^{"format": "\([^"]*\)".*/\1/' >writable
while read -r format; do
  run 0 filter build --format "$format" --keys /dev/null -o none
done <writable
run 2 filter rebuild --from-index "$new/nb-1-big-Index.db" --format cassandra-new -o x; err_has --fpr
run 2 filter rebuild --from-index "$new/nb-1-big-Index.db" --format guava --fpr 0.01 -o x; err_has guava
run 3 filter rebuild --from-index no-such-file --format cassandra-new --fpr 0.01 -o x; err_has no-such-file
run 4 filter rebuild --from-index "$new/nb-1-big-Filter.db" --format cassandra-new --fpr 0.01 -o x
head -c 100 "$new/nb-1-big-Index.db" >nb-2-big-Index.db
run 4 filter verify "$new/nb-1-big-Filter.db" --index nb-2-big-Index.db; err_has nb-2-big-Index.db
run 2 filter verify "$new/nb-1-big-Filter.db"; err_has --index
run 3 filter verify no-such-file --index "$new/nb-1-big-Index.db"
run 1 filter verify "$golden/cassandra/rebuild/uuid-2000-oa/oa-1-big-Filter.db" --index "$new/nb-1-big-Index.db"
out_has damaged 'more; --json lists all'
if [ -e x ]; then fail 'a failed build left its output'; else pass; fi

finish
