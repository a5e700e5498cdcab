"""CF.*: every command, its replies in RESP2 and RESP3, and its errors.  cuckoo_test.py MODULE"""
from server import ServerTest, main


class CuckooCommands(ServerTest):
    def test_items_are_added_counted_and_removed(self):
        self.assertEqual(self.redis("CF.ADD", "key", "a"), 1)
        self.assertEqual(self.redis("CF.ADD", "key", "a"), 1)
        self.assertEqual(self.redis("CF.COUNT", "key", "a"), 2)
        self.assertEqual(self.redis("CF.ADDNX", "key", "a"), 0)
        self.assertEqual(self.redis("CF.ADDNX", "key", "b"), 1)
        self.assertEqual(self.redis("CF.MEXISTS", "key", "a", "b", "c"), [1, 1, 0])
        self.assertEqual([self.redis("CF.DEL", "key", "a") for _ in range(3)], [1, 1, 0])
        self.assertEqual(self.redis("CF.EXISTS", "key", "a"), 0)
        self.assertEqual(self.redis("CF.COUNT", "key", "a"), 0)
        self.assertEqual(self.redis("TYPE", "key"), "tamis--CF")

    def test_a_filter_that_is_not_there_has_nothing(self):
        self.assertEqual(self.redis("CF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.redis("CF.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(self.redis("CF.COUNT", "none", "a"), 0)
        self.assertEqual(self.redis.error("CF.DEL", "none", "a"), "Not found")
        for command in (["CF.INFO", "none"], ["CF.SCANDUMP", "none", 0], ["CF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                        ["CF.LOADCHUNK", "none", 2, "bytes"]):
            self.assertEqual(self.redis.error(*command), "ERR not found")

    def test_reserve_and_info(self):
        self.assertEqual(self.redis("CF.RESERVE", "key", 1000, "BUCKETSIZE", 4, "MAXITERATIONS", 50, "EXPANSION", 3), "OK")
        self.assertEqual(self.redis.error("CF.RESERVE", "key", 1000), "ERR item exists")
        self.redis("CF.INSERT", "key", "ITEMS", "a", "b", "c")
        self.redis("CF.DEL", "key", "a")
        info = self.redis("CF.INFO", "key")
        self.assertEqual(info[0], "Size")
        self.assertGreater(info[1], 1000)
        self.assertEqual(info[2:], ["Number of buckets", 256, "Number of filters", 1, "Number of items inserted", 2,
                                    "Number of items deleted", 1, "Bucket size", 4, "Expansion rate", 3, "Max iterations", 50])

    def test_a_filter_grows_and_keeps_what_is_in_it(self):
        self.redis("CF.RESERVE", "key", 10)
        before = self.redis("CF.INFO", "key")[1]
        self.redis.many(["CF.INSERT", "key", "ITEMS", *range(i, i + 100)] for i in range(0, 10_000, 100))
        self.assertEqual(sum(map(sum, self.redis.many(["CF.MEXISTS", "key", *range(i, i + 100)] for i in range(0, 10_000, 100)))), 10_000)
        self.assertGreater(self.redis("CF.INFO", "key")[1], before)
        self.assertEqual(sum(self.redis.many(["CF.DEL", "key", i] for i in range(5_000))), 5_000)
        self.assertEqual(sum(map(sum, self.redis.many(["CF.MEXISTS", "key", *range(i, i + 100)] for i in range(5_000, 10_000, 100)))), 5_000)
        wrong = sum(self.redis("CF.MEXISTS", "key", *range(5_000)))
        self.assertLess(wrong, 5_000 * 0.01)

    def test_a_filter_that_does_not_grow_is_full(self):
        self.redis("CF.RESERVE", "key", 8, "EXPANSION", 0)
        size = self.redis("CF.INFO", "key")[1]
        replies = self.redis("CF.INSERT", "key", "ITEMS", *range(100))
        self.assertEqual(replies[:8], [1] * 8)
        self.assertEqual(replies[-1], -1)
        self.assertEqual(self.redis.error("CF.ADD", "key", "one more"), "Filter is full")
        self.assertEqual(self.redis("CF.INFO", "key")[1], size)
        added = [i for i, reply in enumerate(replies) if reply == 1]
        self.assertEqual(self.redis("CF.MEXISTS", "key", *added), [1] * len(added))

    def test_insert_creates_with_options(self):
        self.assertEqual(self.redis("CF.INSERT", "key", "CAPACITY", 100_000, "ITEMS", "a", "a"), [1, 1])
        self.assertGreater(self.redis("CF.INFO", "key")[1], 100_000)
        self.assertEqual(self.redis("CF.INSERTNX", "key", "NOCREATE", "ITEMS", "a", "b", "b"), [0, 1, 0])

    def test_an_item_added_sixteen_times_stays(self):
        """As docs/COMPATIBILITY.md says: its copies are counted to 16."""
        self.assertEqual(self.redis("CF.INSERT", "key", "ITEMS", *["a"] * 40), [1] * 40)
        self.assertEqual(self.redis("CF.COUNT", "key", "a"), 16)
        self.assertEqual([self.redis("CF.DEL", "key", "a") for _ in range(40)], [1] * 40)
        self.assertEqual(self.redis("CF.EXISTS", "key", "a"), 1)

    def test_wrong_arguments_are_refused(self):
        errors = {
            ("CF.RESERVE", "k", "x"): "Bad capacity",
            ("CF.RESERVE", "k", 3): "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
            ("CF.RESERVE", "k", 7, "BUCKETSIZE", 4): "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
            ("CF.RESERVE", "k", 2**40): "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
            ("CF.RESERVE", "k", 9, "BUCKETSIZE", "x"): "Couldn't parse BUCKETSIZE",
            ("CF.RESERVE", "k", 9, "BUCKETSIZE", 256): "BUCKETSIZE: value must be in the range [1, 255]",
            ("CF.RESERVE", "k", 9, "MAXITERATIONS", 0): "MAXITERATIONS: value must be in the range [1, 65535]",
            ("CF.RESERVE", "k", 9, "EXPANSION", 32769): "EXPANSION: value must be in the range [0, 32768]",
            ("CF.RESERVE", "k", 9, "COLOUR", 1): "Unknown argument received",
            ("CF.INSERT", "k", "CAPACITY", "x", "ITEMS", "a"): "Bad capacity",
            ("CF.INSERT", "k", "CAPACITY", 3, "ITEMS", "a"): "Capacity must be in the range [cf-bucket-size * 2, 1073741824]",
            ("CF.INSERT", "k", "COLOUR", "ITEMS", "a"): "Unknown argument received",
            ("CF.SCANDUMP", "k", -1): "Invalid position",
            ("CF.LOADCHUNK", "k", 0, "a"): "Invalid position",
        }
        for command, error in errors.items():
            self.assertEqual(self.redis.error(*command), error, command)
        for command in ("CF.RESERVE k", "CF.RESERVE k 9 EXPANSION", "CF.ADD k", "CF.ADD k a b", "CF.ADDNX k", "CF.INSERT k ITEMS",
                        "CF.INSERT k NOCREATE CAPACITY", "CF.INSERTNX k ITEMS", "CF.EXISTS k", "CF.EXISTS k a b", "CF.MEXISTS k", "CF.DEL k",
                        "CF.COUNT k", "CF.INFO", "CF.SCANDUMP k", "CF.LOADCHUNK k 1"):
            name = command.split()[0].lower()
            self.assertEqual(self.redis.error(*command.split()), f"ERR wrong number of arguments for '{name}' command", command)
        self.assertEqual(self.redis("EXISTS", "k"), 0)

    def test_keys_of_other_types_are_refused(self):
        self.redis("BF.ADD", "key", "a")
        for command in (["CF.RESERVE", "key", 9], ["CF.ADD", "key", "a"], ["CF.ADDNX", "key", "a"], ["CF.INSERT", "key", "ITEMS", "a"],
                        ["CF.INSERTNX", "key", "ITEMS", "a"], ["CF.EXISTS", "key", "a"], ["CF.MEXISTS", "key", "a"], ["CF.COUNT", "key", "a"],
                        ["CF.DEL", "key", "a"], ["CF.INFO", "key"], ["CF.SCANDUMP", "key", 0], ["CF.LOADCHUNK", "key", 1, "bytes"]):
            self.assertEqual(self.redis.error(*command), "WRONGTYPE Operation against a key holding the wrong kind of value")

    def test_resp3_has_booleans_and_maps(self):
        redis = self.server.client(resp3=True)
        redis("CF.RESERVE", "key", 8, "EXPANSION", 0)
        self.assertIs(redis("CF.ADD", "key", "a"), True)
        self.assertIs(redis("CF.ADDNX", "key", "a"), False)
        self.assertEqual(str(redis("CF.INSERT", "key", "ITEMS", "a", "b")), "[True, True]")
        self.assertEqual(str(redis("CF.INSERTNX", "key", "ITEMS", "a", "c")), "[0, 1]")
        self.assertEqual(str(redis("CF.MEXISTS", "key", "a", "z")), "[True, False]")
        self.assertIs(redis("CF.EXISTS", "key", "a"), True)
        self.assertEqual(str(redis("CF.COUNT", "key", "a")), "2")
        self.assertIs(redis("CF.DEL", "key", "a"), True)
        self.assertEqual(redis("CF.INFO", "key")["Number of items inserted"], 3)
        self.assertIs(redis("CF.INSERT", "key", "ITEMS", *range(100))[-1], False)
        self.assertEqual(redis("CF.INSERTNX", "key", "ITEMS", *range(100, 200))[-1], -1)


if __name__ == "__main__":
    main()
