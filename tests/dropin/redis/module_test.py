"""The module as such: what it exports, its settings, and who may use its commands.  module_test.py MODULE"""
import subprocess

import server
from server import ServerTest, main

COMMANDS = {
    "bf.reserve": "OW", "bf.add": "RW", "bf.madd": "RW", "bf.insert": "RW", "bf.exists": "RO", "bf.mexists": "RO", "bf.info": "RO",
    "bf.card": "RO", "bf.scandump": "RO", "bf.loadchunk": "RW", "cf.reserve": "OW", "cf.add": "RW", "cf.addnx": "RW", "cf.insert": "RW",
    "cf.insertnx": "RW", "cf.exists": "RO", "cf.mexists": "RO", "cf.count": "RO", "cf.del": "RW", "cf.info": "RO", "cf.scandump": "RO",
    "cf.loadchunk": "RW",
}


class Module(ServerTest):
    def test_it_exports_one_function_and_needs_no_library_of_ours(self):
        names = subprocess.run(["nm", "-D", "--defined-only", server.MODULE], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in names.splitlines()], ["RedisModule_OnLoad"])
        needed = subprocess.run(["readelf", "-d", server.MODULE], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("libtamis", needed.split("NEEDED", 1)[1])

    def test_clients_find_it_by_name(self):
        (fields,) = self.redis("MODULE", "LIST")
        self.assertEqual(fields[:4], [b"name", b"bf", b"ver", 20600])

    def test_commands_say_what_they_do_and_where_their_key_is(self):
        listed = {command[0].decode() for command in self.redis("COMMAND") if command[0].startswith((b"bf.", b"cf."))}
        self.assertEqual(listed, set(COMMANDS))
        for name, use in COMMANDS.items():
            (info,) = self.redis("COMMAND", "INFO", name)
            flags = set(info[2])
            self.assertEqual("readonly" in flags, use == "RO", name)
            self.assertEqual("write" in flags, use != "RO", name)
            self.assertEqual("denyoom" in flags, use != "RO" and name != "cf.del", name)
            self.assertEqual(info[3:6], [1, 1, 1], name)
            key_use = info[8][0][1]  # FLAGS of the first key specification.
            self.assertIn(use, key_use, name)
        self.assertEqual(self.redis("COMMAND", "GETKEYS", "BF.INSERT", "key", "ITEMS", "a"), [b"key"])
        self.assertIn(b"Bloom filter", str(self.redis("COMMAND", "DOCS", "BF.ADD")).encode())

    def test_a_user_who_may_read_cannot_write(self):
        has_categories = b"bloom" in self.redis("ACL", "CAT")  # From Redis 7.4 on; before, commands are named one by one.
        self.redis("ACL", "SETUSER", "reader", "on", ">secret", "~*", *(["+@read"] if has_categories else ["+bf.exists"]))
        self.redis("ACL", "SETUSER", "one", "on", ">secret", "%R~seen*", "+bf.exists", "+bf.add")
        self.redis("BF.ADD", "seen", "a")
        client = self.server.client()
        client("AUTH", "reader", "secret")
        self.assertEqual(client("BF.EXISTS", "seen", "a"), 1)
        self.assertTrue(client.error("BF.ADD", "seen", "b").startswith("NOPERM"))
        client("AUTH", "one", "secret")
        self.assertEqual(client("BF.EXISTS", "seen", "a"), 1)
        self.assertTrue(client.error("BF.ADD", "seen", "b").startswith("NOPERM"))
        self.assertTrue(client.error("BF.EXISTS", "other", "b").startswith("NOPERM"))

    def test_settings_decide_about_filters_made_by_their_first_item(self):
        settings = self.redis("CONFIG", "GET", "bf.*")
        self.assertEqual(dict(zip(settings[::2], settings[1::2])), {
            b"bf.bf-error-rate": b"0.01", b"bf.bf-initial-size": b"100", b"bf.bf-expansion-factor": b"2", b"bf.cf-initial-size": b"1024",
            b"bf.cf-bucket-size": b"2", b"bf.cf-max-iterations": b"20", b"bf.cf-expansion-factor": b"1"})
        for name, value in (("bf-initial-size", 5000), ("bf-expansion-factor", 4), ("cf-initial-size", 5000), ("cf-bucket-size", 4),
                            ("cf-max-iterations", 9), ("cf-expansion-factor", 0)):
            before = self.redis("CONFIG", "GET", f"bf.{name}")[1]
            self.redis("CONFIG", "SET", f"bf.{name}", value)
            self.addCleanup(self.redis, "CONFIG", "SET", f"bf.{name}", before)
        self.redis("BF.ADD", "bloom", "a")
        size = self.redis("BF.INFO", "bloom", "SIZE")[0]
        self.assertEqual(self.redis("BF.INFO", "bloom", "CAPACITY"), [5000])
        self.assertEqual(self.redis("BF.INFO", "bloom", "EXPANSION"), [4])
        self.redis("CF.ADD", "cuckoo", "a")
        self.assertEqual(self.redis("CF.INFO", "cuckoo")[10:], ["Bucket size", 4, "Expansion rate", 0, "Max iterations", 9])
        self.redis("CONFIG", "SET", "bf.bf-error-rate", "0.0001")
        self.addCleanup(self.redis, "CONFIG", "SET", "bf.bf-error-rate", "0.01")
        self.redis("BF.ADD", "sharper", "a")
        self.assertGreater(self.redis("BF.INFO", "sharper", "SIZE")[0], size)
        self.assertIn("must be in the range", self.redis.error("CONFIG", "SET", "bf.bf-error-rate", "1.0"))
        self.assertIn("must be between", self.redis.error("CONFIG", "SET", "bf.cf-bucket-size", 256))

    def test_the_line_that_loads_it_has_settings(self):
        loaded = self.other_server(arguments=("ERROR_RATE", "0.002", "initial_size", "70", "cf-bucket-size", "3")).start().client()
        self.assertEqual(loaded("CONFIG", "GET", "bf.bf-error-rate")[1], b"0.002")
        self.assertEqual(loaded("CONFIG", "GET", "bf.cf-bucket-size")[1], b"3")
        loaded("BF.ADD", "key", "a")
        self.assertEqual(loaded("BF.INFO", "key", "CAPACITY"), [70])
        for arguments, reason in ((("colour", "red"), "unknown setting 'colour'"), (("ERROR_RATE",), "each setting needs a value"),
                                  (("ERROR_RATE", "2"), "must be in the range"), (("INITIAL_SIZE", "0"), "must be in the range [1,")):
            refused = self.other_server(arguments=arguments)
            with self.assertRaises(RuntimeError):
                refused.start()
            self.assertIn(reason, refused.log())

    def test_it_cannot_be_loaded_twice(self):
        self.assertEqual(self.redis("PING"), "PONG")
        again = self.other_server("--loadmodule", str(server.MODULE))
        with self.assertRaises(RuntimeError):
            again.start()


if __name__ == "__main__":
    main()
