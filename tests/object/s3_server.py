#!/usr/bin/env python3
"""A small S3 server for tests: one bucket in memory, signatures checked, faults on demand.

    s3_server.py [--etags bare|quoted]

Prints its port. Then reads commands from standard input, one per line, and answers each with "ok" or a number; ends when
the input does. Its bucket is `test`, in region `here`, for the access key `key` with the secret `secret`.

    fault KIND METHOD COUNT   what befalls the next COUNT requests of that method:
                              500-done, 500-not-done, 412-done, cut-done, cut-not-done (the connection ends without an
                              answer), truncated (the body ends early), slow (half a second), skewed (the clock)
    versioned / quota / denied   the bucket keeps versions, is full, may not be written
    connections, requests, uploads   how many there were; uploads: how many are under way
"""
import datetime
import hashlib
import hmac
import http.server
import re
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

SECRET, REGION = b"secret", "here"


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects, self.uploads, self.faults = {}, {}, []
        self.flags = set()
        self.connections = self.requests = self.next_upload = 0

    def take_fault(self, method):
        for fault in self.faults:
            if fault[1] == method and fault[2] > 0:
                fault[2] -= 1
                return fault[0]
        return None


STATE = State()


def etag_of(body):
    return '"' + hashlib.md5(body).hexdigest() + '"'


class Answer(Exception):
    def __init__(self, status, code="", body=b"", headers=()):
        super().__init__(code)
        self.status, self.body, self.headers = status, body, dict(headers)
        if code:
            self.body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>a message</Message><Region>{REGION}</Region></Error>".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        with STATE.lock:
            STATE.connections += 1
        super().setup()

    def log_message(self, *_):
        pass

    def check_signature(self, path, query):
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d+)/([\w-]+)/s3/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=(\w+)",
                             self.headers.get("Authorization", ""))
        if not found:
            raise Answer(403, "AccessDenied")
        key, day, region, names, signature = found.groups()
        if key != "key":
            raise Answer(403, "InvalidAccessKeyId")
        if region != REGION:
            raise Answer(400, "AuthorizationHeaderMalformed")
        for needed in ("host", "x-amz-date", "x-amz-content-sha256"):
            if needed not in names.split(";"):
                raise Answer(403, "AccessDenied")
        pairs = sorted(part.partition("=")[::2] for part in query.split("&") if part)
        canonical = "\n".join([
            self.command, path, "&".join(f"{name}={value}" for name, value in pairs),
            "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";")), names,
            self.headers["x-amz-content-sha256"]])
        scope = f"{day}/{region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
        secret = b"AWS4" + SECRET
        for part in (day, region, "s3", "aws4_request"):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        if hmac.new(secret, text.encode(), hashlib.sha256).hexdigest() != signature:
            raise Answer(403, "SignatureDoesNotMatch")

    def refuse_conditions(self, key):
        """If-Match as radosgw takes it with --etags bare: without quotes, so that quoted ones match nothing."""
        there = STATE.objects.get(key)
        if self.headers.get("If-None-Match") == "*" and there is not None:
            raise Answer(200 if "versioned" in STATE.flags else 412, "" if "versioned" in STATE.flags else "PreconditionFailed")
        wanted = self.headers.get("If-Match")
        if wanted is None:
            return
        if there is None:
            raise Answer(404, "NoSuchKey")
        has = etag_of(there)
        if wanted != (has.strip('"') if BARE else has):
            raise Answer(412, "PreconditionFailed")

    def put(self, key, query, body):
        if "denied" in STATE.flags:
            raise Answer(403, "AccessDenied")
        if "quota" in STATE.flags:
            raise Answer(403, "QuotaExceeded")
        if "uploadId" in query:
            STATE.uploads[query["uploadId"]][int(query["partNumber"])] = body
        else:
            self.refuse_conditions(key)
            STATE.objects[key] = body
        return Answer(200, headers={"ETag": etag_of(body)})

    def post(self, key, query, body):
        if "uploads" in query:
            STATE.next_upload += 1
            upload = f"up+load/{STATE.next_upload}"
            STATE.uploads[upload] = {}
            return Answer(200, body=f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode())
        if query["uploadId"] not in STATE.uploads:
            raise Answer(404, "NoSuchUpload")
        parts = STATE.uploads[query["uploadId"]]
        asked = re.findall(rb"<PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag>", body)
        if [(int(number), tag.decode()) for number, tag in asked] != [(number, etag_of(part)) for number, part in sorted(parts.items())]:
            raise Answer(400, "InvalidPart")
        STATE.objects[key] = b"".join(part for _, part in sorted(parts.items()))
        del STATE.uploads[query["uploadId"]]
        return Answer(200, body=f"<CompleteMultipartUploadResult><ETag>{escape(etag_of(STATE.objects[key]))}</ETag></CompleteMultipartUploadResult>".encode())

    def list(self, query):
        prefix, start = query.get("prefix", ""), query.get("continuation-token", query.get("start-after", ""))
        keys = sorted((key for key in STATE.objects if key.startswith(prefix) and key > start), key=str.encode)
        page = keys[:int(query["max-keys"])][:3]  # Short pages, so that few objects need several.
        more = len(page) < len(keys)
        xml = f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            xml += f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>"
        for key in page:
            body = STATE.objects[key]
            xml += f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size><ETag>{escape(etag_of(body), {chr(34): '&quot;'})}</ETag></Contents>"
        return Answer(200, body=(xml + "</ListBucketResult>").encode())

    def get(self, key, query):
        if not key:
            if "versioning" in query:
                status = "<Status>Enabled</Status>" if "versioned" in STATE.flags else ""
                return Answer(200, body=f"<VersioningConfiguration>{status}</VersioningConfiguration>".encode())
            return self.list(query)
        if key not in STATE.objects:
            raise Answer(404, "NoSuchKey")
        body = STATE.objects[key]
        headers = {"ETag": etag_of(body)}
        if self.headers.get("If-None-Match") == headers["ETag"]:
            raise Answer(304)
        asked = self.headers.get("Range")
        if asked is None:
            return Answer(200, body=body, headers=headers)
        begin, end = (int(number) for number in asked.removeprefix("bytes=").split("-"))
        if begin >= len(body):
            raise Answer(416, "InvalidRange")
        end = min(end, len(body) - 1)
        return Answer(206, body=body[begin:end + 1], headers={**headers, "Content-Range": f"bytes {begin}-{end}/{len(body)}"})

    def delete(self, key, query):
        if "uploadId" in query:
            STATE.uploads.pop(query["uploadId"], None)
        else:
            STATE.objects.pop(key, None)
        return Answer(204)

    def answer_to(self, key, query, body):
        if self.command == "PUT":
            return self.put(key, query, body)
        if self.command == "POST":
            return self.post(key, query, body)
        return self.get(key, query) if self.command == "GET" else self.delete(key, query)

    def handle_request(self):
        path, _, raw_query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        query = dict(urllib.parse.parse_qsl(raw_query, keep_blank_values=True))
        bucket, _, key = urllib.parse.unquote(path[1:]).partition("/")
        with STATE.lock:
            STATE.requests += 1
            fault = STATE.take_fault(self.command)
            if fault and fault.endswith("not-done"):
                answer = Answer(500, "InternalError")
            else:
                try:
                    self.check_signature(path, raw_query)
                    if bucket != "test":
                        raise Answer(404, "NoSuchBucket")
                    if fault == "skewed":
                        raise Answer(403, "RequestTimeTooSkewed")
                    answer = self.answer_to(key, query, body)
                except Answer as refusal:
                    answer = refusal
        if fault == "slow":
            time.sleep(0.5)
        if fault == "500-done":
            answer = Answer(500, "InternalError")
        if fault == "412-done":
            answer = Answer(412, "PreconditionFailed")
        self.write(answer, fault)

    def write(self, answer, fault):
        if fault and fault.startswith("cut"):
            self.close_connection = True
            return
        when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=fault == "skewed")
        self.send_response_only(answer.status)
        self.send_header("Date", when.strftime("%a, %d %b %Y %H:%M:%S GMT"))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if fault == "truncated":
            self.wfile.write(answer.body[:len(answer.body) // 2])
            self.close_connection = True
        elif answer.status not in (204, 304):
            self.wfile.write(answer.body)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request


def run_command(line):
    words = line.split()
    with STATE.lock:
        if words[0] == "fault":
            STATE.faults.append([words[1], words[2], int(words[3])])
        elif words[0] in ("connections", "requests"):
            return getattr(STATE, words[0])
        elif words[0] == "uploads":
            return len(STATE.uploads)
        else:
            STATE.flags.add(words[0])
    return "ok"


BARE = "bare" in sys.argv


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    for line in sys.stdin:
        print(run_command(line), flush=True)


if __name__ == "__main__":
    main()
