"""A store, tamis-web serving it, and requests to it: for the tests of the page."""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

KEYS = 6000
RUNS = 4


class Store:
    """A store with several runs, one of them of several tables; nobody has it open."""

    def __init__(self, tamis):
        self.tamis = os.path.abspath(tamis)
        self.folder = tempfile.TemporaryDirectory(prefix="tamis-web-")
        self.path = str(pathlib.Path(self.folder.name) / "cities")
        options = ("--option", "compaction=manual", "--option", "table_bytes=64KiB")
        for run in range(RUNS):
            lines = "".join(f"city-{key:06}\tvalue {key} of run {run}, some bytes longer\n" for key in range(run, KEYS // (run + 1), run + 1))
            self.run("load", self.path, "-", "--quiet", *options, text=lines)
            self.run("flush", self.path, *options)
            if run == 0:
                self.run("compact", self.path, *options)
        self.run("put", self.path, "in-memory", "newest")

    def run(self, *words, text=None):
        done = subprocess.run([self.tamis, *words], input=text, text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"tamis {' '.join(words)}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def entries(self):
        return sum(level["entries"] for level in self.json("stats", self.path)["levels"])


class Server:
    """`tamis web`, until close()."""

    def __init__(self, store):
        folder, name = os.path.split(store.path)
        self.process = subprocess.Popen([store.tamis, "web", name, "--json"], cwd=folder, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"tamis web ended with status {self.process.wait()}")
        self.url = json.loads(line)["url"]
        parts = urllib.parse.urlsplit(self.url)
        self.port = parts.port
        self.token = parts.path.strip("/")

    def close(self):
        self.process.terminate()
        self.process.wait()

    def request(self, path, method="GET", headers=None, host=None, body=None):
        """Status, headers and body. `path` begins behind the port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for value in [f"127.0.0.1:{self.port}"] if host is None else host:
            connection.putheader("Host", value)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        answer = response.status, dict(response.getheaders()), response.read().decode()
        connection.close()
        return answer

    def api(self, name, **parameters):
        status, _, body = self.request(f"/{self.token}/api/{name}?{urllib.parse.urlencode(parameters, doseq=True)}")
        return status, json.loads(body)


class Checks:
    """Counts what was checked, and says what failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, holds, *shown):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}", *shown)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
