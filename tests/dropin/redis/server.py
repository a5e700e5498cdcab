"""Redis servers with libtamis-redis.so, for the tests, and the protocol to talk to them.

The tests speak RESP themselves: they need no client library, and see what kind of reply came.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77  # What ctest takes for skipped.
SERVER = shutil.which("redis-server")
MODULE = None


class ErrorReply(Exception):
    """An error that the server replied; equal to another with the same text, so that lists of replies compare."""

    def __eq__(self, other):
        return isinstance(other, ErrorReply) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Client:
    """One connection. A reply is an int, bool, float, bytes, str (a status), list, dict or None."""

    def __init__(self, address, resp3=False):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.file = self.socket.makefile("rb")
        if resp3:
            self("HELLO", 3)

    def send(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

    def receive(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return ErrorReply(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"_" or (kind in b"$*" and rest == b"-1"):
            return None
        if kind in b"$=":
            return self.file.read(int(rest) + 2)[:-2]
        if kind in b"*~":
            return [self.receive() for _ in range(int(rest))]
        if kind == b"%":
            return {self.receive(): self.receive() for _ in range(int(rest))}
        raise ValueError(f"unknown reply {line!r}")

    def __call__(self, *words):
        self.send(*words)
        reply = self.receive()
        if isinstance(reply, ErrorReply):
            raise reply
        return reply

    def error(self, *words):
        """The text of the error that this must reply."""
        self.send(*words)
        reply = self.receive()
        assert isinstance(reply, ErrorReply), f"{words}: no error but {reply!r}"
        return str(reply)

    def many(self, commands):
        """All replies; sent together, by thousands."""
        replies = []
        commands = list(commands)
        for begin in range(0, len(commands), 1000):
            part = commands[begin:begin + 1000]
            for words in part:
                self.send(*words)
            replies += [self.receive() for _ in part]
        return replies

    def close(self):
        self.file.close()
        self.socket.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server in a folder of its own. It listens on a socket there; with port -1 also on one, to have or be a replica."""

    def __init__(self, folder, *options, arguments=(), port=0):
        self.folder, self.options, self.arguments = pathlib.Path(folder), options, arguments
        self.port = free_port() if port < 0 else port
        self.folder.mkdir(exist_ok=True)
        path = self.folder.absolute() / "socket"
        self.address = min(str(path), os.path.relpath(path), key=len)  # Paths of sockets are at most 107 bytes long.
        self.process, self.clients = None, []

    def start(self):
        # Options of lists that a later one replaces come last.
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", "socket", "--dir", ".", "--save", "",
                   "--enable-debug-command", "yes", "--logfile", "log", "--daemonize", "no", "--repl-diskless-sync-delay", "0",
                   *self.options, "--loadmodule", str(MODULE), *self.arguments]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"redis-server ended:\n{self.log()}")
            if self.answers():
                return self
            time.sleep(0.01)
        raise RuntimeError("redis-server does not answer")

    def answers(self):
        """Whether it has loaded its data."""
        try:
            client = self.client()
            client.send("PING")
            return client.receive() == "PONG"
        except OSError:
            return False

    def client(self, resp3=False):
        """A connection that is closed when the server is stopped."""
        client = Client(self.address, resp3)
        self.clients.append(client)
        return client

    def log(self):
        path = self.folder / "log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def stop(self):
        for client in self.clients:
            client.close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


class ServerTest(unittest.TestCase):
    """Tests of a server that starts empty, one for all tests of a class."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tamis-redis-")
        cls.server = Server(pathlib.Path(cls.folder.name) / "server", *cls.OPTIONS).start()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.redis = self.server.client()
        self.redis("FLUSHALL")

    def other_server(self, *options, **more):
        server = Server(pathlib.Path(self.folder.name) / f"other{time.monotonic_ns()}", *options, **more)
        self.addCleanup(server.stop)
        return server


def wait_until(happened, what):
    deadline = time.monotonic() + 60
    while not happened():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited a minute for: {what}")
        time.sleep(0.01)


def chunks_of(redis, command, key):
    """All chunks of SCANDUMP: pairs of an iterator and bytes."""
    chunks = [redis(command, key, 0)]
    while chunks[-1][0] != 0:
        chunks.append(redis(command, key, chunks[-1][0]))
    return chunks[:-1]


def main():
    """Runs the tests of the file that calls it; its first argument is the module."""
    global MODULE
    MODULE = pathlib.Path(sys.argv.pop(1)).resolve()
    if SERVER is None:
        print("skipped: redis-server is not installed")
        sys.exit(SKIPPED)
    unittest.main(module="__main__", verbosity=1)
