"""What RedisBloom's flow tests use of the test runner of this name, with servers of server.py.

    RLTest.py FLOW_FOLDER MODULE FILE...

Runs the tests of these files and prints for each one a line: passed, failed or skipped, its name, and the first
complaint. As there, a failed comparison does not end a test; a test is clean if it has none. The client is redis-py.
"""
import contextlib
import inspect
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.modules.setdefault("RLTest", sys.modules["__main__"])
import server  # noqa: E402
import redis  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="tamis-flow-")
servers = {}
complaints = []


class Skipped(Exception):
    pass


class Defaults:
    decode_responses = False


def complain_unless(right, text, message=None):
    if not right:
        complaints.append(message or text)
    return right


class Query:
    """What `expect` returns: the reply, or the error, of one command."""

    def __init__(self, connection, words):
        self.reply, self.failure = None, None
        try:
            self.reply = connection.execute_command(*words)
        except redis.RedisError as error:
            self.failure = str(error)

    def error(self):
        complain_unless(self.failure is not None, f"no error but {self.reply!r}")
        return self

    def contains(self, text):
        complain_unless(text in str(self.failure or self.reply), f"{self.failure or self.reply!r} has no {text!r}")
        return self

    def notContains(self, text):
        complain_unless(text not in str(self.failure or self.reply), f"{self.failure or self.reply!r} has {text!r}")
        return self

    def equal(self, expected):
        complain_unless(self.reply == expected, f"{self.reply!r} is not {expected!r} {self.failure or ''}")
        return self

    def ok(self):
        return self.equal("OK" if isinstance(self.reply, str) else b"OK" if isinstance(self.reply, bytes) else True)

    def true(self):
        complain_unless(self.reply, f"{self.reply!r} is not true {self.failure or ''}")
        return self

    def raiseError(self):
        return self.error()

    noError = lambda self: complain_unless(self.failure is None, f"{self.failure}")  # noqa: E731


class Env:
    def __init__(self, decodeResponses=False, protocol=2, moduleArgs=None, useSlaves=False, **_):
        self.decode, self.protocol = decodeResponses, protocol
        self.arguments = tuple((moduleArgs or "").split())
        self.server = self.started(self.arguments, None, useSlaves)
        self.replica = self.started((), self.server, True) if useSlaves else None
        self.connection = self.connect(self.server)

    @staticmethod
    def started(arguments, master, has_port):
        name = f"{len(arguments)}{' '.join(arguments)}{master is not None}{has_port}"
        if name not in servers:
            options = ("--replicaof", f"127.0.0.1 {master.port}") if master else ()
            folder = pathlib.Path(work.name) / str(len(servers))
            servers[name] = server.Server(folder, *options, arguments=arguments, port=-1 if has_port else 0).start()
        return servers[name]

    def connect(self, to):
        options = {"protocol": self.protocol} if self.protocol != 2 else {}
        return redis.Redis(unix_socket_path=to.address, decode_responses=self.decode, **options)

    def cmd(self, *words, **options):
        return self.connection.execute_command(*words, **options)

    execute_command = cmd

    def expect(self, *words):
        return Query(self.connection, words)

    def assertEqual(self, left, right, message=None, **_):
        complain_unless(left == right, f"{str(left)[:120]} is not {str(right)[:120]}", message)

    def assertNotEqual(self, left, right, **_):
        complain_unless(left != right, f"both are {left!r}")

    def assertTrue(self, value, message=None, **_):
        complain_unless(value, f"{value!r} is not true", message)

    def assertOk(self, value, **_):
        complain_unless(value in (True, "OK", b"OK"), f"{value!r} is not OK")

    def assertGreater(self, left, right, **_):
        complain_unless(left > right, f"{left!r} is not above {right!r}")

    def assertGreaterEqual(self, left, right, **_):
        complain_unless(left >= right, f"{left!r} is below {right!r}")

    def assertLess(self, left, right, **_):
        complain_unless(left < right, f"{left!r} is not below {right!r}")

    def assertLessEqual(self, left, right, **_):
        complain_unless(left <= right, f"{left!r} is above {right!r}")

    def assertAlmostEqual(self, left, right, delta=1e-7, **_):
        complain_unless(abs(left - right) <= delta, f"{left!r} is not near {right!r}")

    def assertContains(self, part, whole, **_):
        complain_unless(part in whole, f"{part!r} is not in {whole!r}")

    def assertRaises(self, error, function, *words, **_):
        try:
            reply = function(*words)
        except error:
            return
        complaints.append(f"{words}: no error but {reply!r}")

    @contextlib.contextmanager
    def assertResponseError(self, **_):
        try:
            yield
        except redis.ResponseError:
            return
        complaints.append("no error")

    def dumpAndReload(self, **_):
        self.cmd("DEBUG", "RELOAD")

    def retry_with_rdb_reload(self):
        yield 1
        self.dumpAndReload()
        yield 2

    restartAndReload = dumpAndReload

    def skip(self):
        raise Skipped()

    def skipOnVersionSmaller(self, version, **_):
        mine = self.connection.info()["redis_version"]
        if [int(part) for part in mine.split(".")] < [int(part) for part in version.split(".")]:
            raise Skipped()

    def skipOnSlave(self):
        pass

    def skipOnCluster(self):
        pass

    def isCluster(self):
        return False

    def getConnection(self, *_):
        return self.connection

    def getSlaveConnection(self, *_):
        return self.connect(self.replica)

    def getClusterConnectionIfNeeded(self):
        return self.connection

    def debugPrint(self, *_, **__):
        pass

    def flush(self):
        self.cmd("FLUSHALL")


def run(name, function, *arguments):
    complaints.clear()
    result = "passed"
    try:
        returned = function(*arguments)
        if inspect.isgenerator(returned):
            for _ in returned:
                pass
    except Skipped:
        result = "skipped"
    except Exception as error:  # pylint: disable=broad-except
        complaints.append(f"{type(error).__name__}: {error}")
    if complaints and result == "passed":
        result = "failed"
    print(f"{result} {name}: {str(complaints[0])[:300] if complaints and result == 'failed' else ''}".replace("\n", " "), flush=True)


def run_file(path):
    scope = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)  # pylint: disable=exec-used
    for name, found in list(scope.items()):
        if inspect.isclass(found) and name.startswith("test"):
            methods = [method for method in vars(found) if method.startswith("test")]
            instance = found()
            for method in methods:
                run(f"{path.stem}:{name}.{method}", getattr(instance, method))
        elif inspect.isfunction(found) and name.lower().startswith("test"):
            run(f"{path.stem}:{name}", found, *([Env()] if inspect.signature(found).parameters else []))


def main():
    folder, module, *files = sys.argv[1:]
    server.MODULE = pathlib.Path(module).resolve()
    sys.path.insert(0, folder)
    try:
        for file in files:
            run_file(pathlib.Path(folder) / file)
    finally:
        for started in servers.values():
            started.stop()


if __name__ == "__main__":
    main()
