#!/bin/bash
# tamis bucket, on a small S3 server of our own. Usage: bucket_test.sh TAMIS GOLDEN
# shellcheck source=lib.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AWS_CA_BUNDLE http_proxy HTTP_PROXY all_proxy ALL_PROXY
export HOME=$work AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_REGION=here

run 0 bucket check --help
out_has "--endpoint" "tamis bucket check s3://"
run 2 bucket check
run 2 bucket check bucket/prefix; err_has "s3://bucket/prefix"
run 2 bucket check s3://test --endpoint here; err_has "not an endpoint"

coproc server { exec python3 "$here/../object/s3_server.py"; }
read -r port <&"${server[0]}"
tell() { echo "$1" >&"${server[1]}"; read -r answer <&"${server[0]}"; }
export AWS_ENDPOINT_URL=http://127.0.0.1:$port

"$tamis" bucket check s3://test/some/prefix >out 2>err
if grep -q "no buckets" err || grep -q "libcurl" err; then
  finish  # A build or a machine without.
  exit
fi
run 0 bucket check s3://test/some/prefix
out_has "yes  takes an object" "yes  leaves an existing object alone" "PUT of 4 KiB" "ok: everything needed is there"
if grep -v "^NO   is asked over an encrypted" out | grep -q "^NO"; then fail "$last: something is missing"; else pass; fi
if awk 'length > 80' out | grep -q .; then fail "$last: wider than 80 columns"; else pass; fi
run 0 bucket check s3://test --json
json_has ok url endpoint region answers latencies what yes needed why request median_ms slowest_ms
run 0 bucket check s3://test --quiet
out_is_empty

run 3 bucket check s3://other; err_has "there is no such bucket"
AWS_ACCESS_KEY_ID=other run 2 bucket check s3://test; err_has "access key 'other'"
AWS_SECRET_ACCESS_KEY=other run 2 bucket check s3://test; err_has "secret key"
AWS_REGION=there run 2 bucket check s3://test; err_has "set AWS_REGION=here"
AWS_ACCESS_KEY_ID='' AWS_SECRET_ACCESS_KEY='' run 2 bucket check s3://test; err_has "no S3 credentials" ".aws/credentials"
mkdir .aws
printf '[work]\naws_access_key_id = key\naws_secret_access_key = secret\n' >.aws/credentials
AWS_ACCESS_KEY_ID='' AWS_SECRET_ACCESS_KEY='' AWS_PROFILE=work run 0 bucket check s3://test --quiet

# A bucket that keeps old versions is not written to.
tell requests; before=$answer
tell versioned
run 1 bucket check s3://test
out_has "NO   keeps no old versions" "1 needed answer is missing"
tell requests
if [ "$answer" -eq $((before + 1)) ]; then pass; else fail "$last: $((answer - before)) requests"; fi

finish
