"""BF.*: every command, its replies in RESP2 and RESP3, and its errors.  bloom_test.py MODULE"""
from server import ErrorReply, ServerTest, main

FULL = "ERR non scaling filter is full"


class BloomCommands(ServerTest):
    def test_add_creates_a_filter_and_tells_what_is_new(self):
        self.assertEqual(self.redis("BF.ADD", "key", "a"), 1)
        self.assertEqual(self.redis("BF.ADD", "key", "a"), 0)
        self.assertEqual(self.redis("BF.MADD", "key", "a", "b", "b", "c"), [0, 1, 0, 1])
        self.assertEqual(self.redis("BF.MEXISTS", "key", "a", "b", "c", "d"), [1, 1, 1, 0])
        self.assertEqual(self.redis("BF.EXISTS", "key", "c"), 1)
        self.assertEqual(self.redis("BF.CARD", "key"), 3)
        self.assertEqual(self.redis("TYPE", "key"), "tamis--BF")

    def test_a_filter_that_is_not_there_has_nothing(self):
        self.assertEqual(self.redis("BF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.redis("BF.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(self.redis("BF.CARD", "none"), 0)
        self.assertEqual(self.redis("EXISTS", "none"), 0)
        for command in (["BF.INFO", "none"], ["BF.SCANDUMP", "none", 0], ["BF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                        ["BF.LOADCHUNK", "none", 2, "bytes"]):
            self.assertEqual(self.redis.error(*command), "ERR not found")

    def test_items_may_have_any_bytes(self):
        items = [b"", b"\0", b"\0\0", b"\r\n", bytes(range(256)), b"x" * 100_000]
        self.assertEqual(self.redis("BF.MADD", b"a\0key", *items), [1] * len(items))
        self.assertEqual(self.redis("BF.MEXISTS", b"a\0key", *items), [1] * len(items))

    def test_reserve_and_info(self):
        self.assertEqual(self.redis("BF.RESERVE", "key", "0.001", 1000), "OK")
        self.assertEqual(self.redis.error("BF.RESERVE", "key", "0.001", 1000), "ERR item exists")
        info = self.redis("BF.INFO", "key")
        self.assertEqual(info[:2] + info[4:], ["Capacity", 1000, "Number of filters", 1, "Number of items inserted", 0,
                                               "Expansion rate", 2])
        self.assertEqual(info[2], "Size")
        self.assertGreater(info[3], 1000 * 14 / 8)
        self.assertEqual(self.redis("BF.INFO", "key", "size"), [info[3]])
        for option, value in {"CAPACITY": 1000, "FILTERS": 1, "ITEMS": 0, "EXPANSION": 2}.items():
            self.assertEqual(self.redis("BF.INFO", "key", option.lower()), [value])
        self.assertEqual(self.redis.error("BF.INFO", "key", "colour"), "Invalid information value")

    def test_a_chain_grows_by_its_expansion(self):
        for key, expansion, filters, capacity in (("twice", ["EXPANSION", 2], 4, 150), ("standard", [], 4, 150),
                                                  ("same", ["EXPANSION", 1], 10, 100), ("much", ["EXPANSION", 32768], 2, 327690)):
            self.redis("BF.RESERVE", key, "0.000001", 10, *expansion)
            added = self.redis("BF.MADD", key, *range(100))
            self.assertEqual(added, [1] * 100)
            self.assertEqual(self.redis("BF.INFO", key, "FILTERS"), [filters])
            self.assertEqual(self.redis("BF.INFO", key, "CAPACITY"), [capacity])
            self.assertEqual(self.redis("BF.MEXISTS", key, *range(100)), [1] * 100)

    def test_the_rate_is_kept_while_a_chain_grows(self):
        self.redis("BF.RESERVE", "key", "0.01", 100)
        self.redis.many(["BF.MADD", "key", *range(i, i + 100)] for i in range(0, 20_000, 100))
        wrong = sum(sum(reply) for reply in self.redis.many(["BF.MEXISTS", "key", *range(-i - 100, -i)] for i in range(0, 20_000, 100)))
        self.assertLess(wrong, 20_000 * 0.01)
        self.assertGreater(wrong, 0)

    def test_a_filter_that_does_not_grow_is_full(self):
        self.redis("BF.RESERVE", "key", "0.001", 3, "NONSCALING")
        self.assertEqual(self.redis("BF.MADD", "key", "a", "b", "c"), [1, 1, 1])
        self.assertEqual(self.redis.error("BF.ADD", "key", "d"), FULL)
        self.assertEqual(self.redis("BF.MADD", "key", "a", "d", "b"), [0, ErrorReply(FULL)])
        self.assertEqual(self.redis("BF.INFO", "key", "EXPANSION"), [None])
        self.redis("BF.RESERVE", "other", "0.001", 1, "EXPANSION", 0)
        self.redis("BF.ADD", "other", "a")
        self.assertEqual(self.redis.error("BF.ADD", "other", "b"), FULL)

    def test_insert_creates_with_options(self):
        self.assertEqual(self.redis("BF.INSERT", "key", "CAPACITY", 50, "ERROR", "0.02", "EXPANSION", 3, "ITEMS", "a", "b"), [1, 1])
        self.assertEqual(self.redis("BF.INFO", "key", "CAPACITY"), [50])
        self.assertEqual(self.redis("BF.INFO", "key", "EXPANSION"), [3])
        self.assertEqual(self.redis("BF.INSERT", "key", "nocreate", "items", "b", "c"), [0, 1])
        self.assertEqual(self.redis("BF.INSERT", "fixed", "NONSCALING", "CAPACITY", 1, "ITEMS", "ITEMS"), [1])
        self.assertEqual(self.redis.error("BF.ADD", "fixed", "b"), FULL)

    def test_rates_above_a_quarter_become_a_quarter(self):
        self.redis("BF.RESERVE", "high", "0.99", 10_000)
        self.redis("BF.RESERVE", "quarter", "0.25", 10_000)
        self.assertEqual(self.redis("BF.INFO", "high", "SIZE"), self.redis("BF.INFO", "quarter", "SIZE"))
        self.redis("BF.RESERVE", "lowest", "1e-300", 10)
        self.assertEqual(self.redis("BF.ADD", "lowest", "a"), 1)

    def test_wrong_arguments_are_refused(self):
        errors = {
            ("BF.RESERVE", "k", "x", 10): "ERR bad error rate",
            ("BF.RESERVE", "k", "0", 10): "ERR error rate must be in the range (0.000000, 1.000000)",
            ("BF.RESERVE", "k", "1", 10): "ERR error rate must be in the range (0.000000, 1.000000)",
            ("BF.RESERVE", "k", "nan", 10): "ERR bad error rate",
            ("BF.RESERVE", "k", "0.1", "x"): "ERR bad capacity",
            ("BF.RESERVE", "k", "0.1", 0): "ERR capacity must be in the range [1, 1073741824]",
            ("BF.RESERVE", "k", "0.1", 2**62): "ERR capacity must be in the range [1, 1073741824]",
            ("BF.RESERVE", "k", "0.1", 9, "EXPANSION"): "ERR no expansion",
            ("BF.RESERVE", "k", "0.1", 9, "EXPANSION", "x"): "ERR bad expansion",
            ("BF.RESERVE", "k", "0.1", 9, "EXPANSION", 32769): "ERR expansion must be in the range [0, 32768]",
            ("BF.RESERVE", "k", "0.1", 9, "NONSCALING", "EXPANSION", 2): "Nonscaling filters cannot expand",
            ("BF.RESERVE", "k", "0.1", 9, "COLOUR"): "Unknown argument received",
            ("BF.INSERT", "k", "ERROR", 2, "ITEMS", "a"): "Bad error rate",
            ("BF.INSERT", "k", "CAPACITY", 0, "ITEMS", "a"): "Bad capacity",
            ("BF.INSERT", "k", "EXPANSION", -1, "ITEMS", "a"): "Bad expansion",
            ("BF.INSERT", "k", "COLOUR", "red", "ITEMS", "a"): "Unknown argument received",
            ("BF.SCANDUMP", "k2", "x"): "Second argument must be numeric",
            ("BF.LOADCHUNK", "k", "x", "a"): "ERR Second argument must be numeric",
        }
        self.redis("BF.ADD", "k2", "a")
        for command, error in errors.items():
            self.assertEqual(self.redis.error(*command), error, command)
        for command in ("BF.RESERVE k 0.1", "BF.RESERVE k 0.1 9 NONSCALING EXPANSION 2 x", "BF.ADD k", "BF.ADD k a b", "BF.MADD k",
                        "BF.EXISTS k", "BF.EXISTS k a b", "BF.MEXISTS k", "BF.INSERT k ITEMS", "BF.INSERT k NOCREATE ERROR",
                        "BF.INSERT k NOCREATE NOCREATE", "BF.INFO", "BF.INFO k size size", "BF.CARD", "BF.SCANDUMP k", "BF.LOADCHUNK k 1"):
            name = command.split()[0].lower()
            self.assertEqual(self.redis.error(*command.split()), f"ERR wrong number of arguments for '{name}' command", command)
        self.assertEqual(self.redis("EXISTS", "k"), 0)

    def test_keys_of_other_types_are_refused(self):
        self.redis("SET", "text", "a")
        self.redis("CF.ADD", "cuckoo", "a")
        for key in ("text", "cuckoo"):
            for command in (["BF.RESERVE", key, "0.1", 9], ["BF.ADD", key, "a"], ["BF.MADD", key, "a"], ["BF.EXISTS", key, "a"],
                            ["BF.MEXISTS", key, "a"], ["BF.INSERT", key, "ITEMS", "a"], ["BF.INFO", key], ["BF.CARD", key],
                            ["BF.SCANDUMP", key, 0], ["BF.LOADCHUNK", key, 1, "bytes"]):
                self.assertEqual(self.redis.error(*command), "WRONGTYPE Operation against a key holding the wrong kind of value")

    def test_resp3_has_booleans_and_maps(self):
        redis = self.server.client(resp3=True)
        self.assertIs(redis("BF.ADD", "key", "a"), True)
        self.assertIs(redis("BF.ADD", "key", "a"), False)
        self.assertEqual(str(redis("BF.MADD", "key", "a", "b")), "[False, True]")
        self.assertIs(redis("BF.EXISTS", "key", "a"), True)
        self.assertEqual(str(redis("BF.MEXISTS", "key", "a", "z")), "[True, False]")
        info = redis("BF.INFO", "key")
        self.assertEqual({name: value for name, value in info.items() if name != "Size"},
                         {"Capacity": 100, "Number of filters": 1, "Number of items inserted": 2, "Expansion rate": 2})
        self.assertEqual(redis("BF.INFO", "key", "ITEMS"), {"Number of items inserted": 2})
        self.assertIs(type(redis("BF.CARD", "key")), int)


if __name__ == "__main__":
    main()
