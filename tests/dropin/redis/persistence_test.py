"""Filters in RDB and AOF files, copies, replicas and chunks; damaged ones.  persistence_test.py MODULE"""
import pathlib
import random

from server import ErrorReply, ServerTest, chunks_of, main, wait_until

SEED = 20261119
INCOMPLETE = "ERR the filter is incomplete: send its remaining chunks with LOADCHUNK"


def crc64(data):
    """That of DUMP: Jones' polynomial, reflected."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return crc


def fnv1a(data):
    """That of the head of a dump."""
    total = 0xcbf29ce484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return total


def fill(redis):
    """Filters of every kind, with items."""
    redis("BF.RESERVE", "chain", "0.01", 20, "EXPANSION", 3)
    redis("BF.MADD", "chain", *range(500))
    redis("BF.INSERT", "fixed", "CAPACITY", 100, "NONSCALING", "ITEMS", *range(50))
    redis("BF.MADD", "standard", *range(200))
    redis("CF.INSERT", "growing", "CAPACITY", 10, "ITEMS", *range(500))
    redis("CF.DEL", "growing", 3)
    redis("CF.RESERVE", "cuckoo", 1000, "EXPANSION", 0, "BUCKETSIZE", 7, "MAXITERATIONS", 9)
    redis("CF.INSERT", "cuckoo", "ITEMS", *range(500), *range(20))
    redis("BF.RESERVE", "empty", "0.5", 1)
    redis("CF.RESERVE", "none", 4)
    return ["chain", "fixed", "standard", "growing", "cuckoo", "empty", "none"]


def state(redis, keys):
    """All that a filter is: its bytes, what INFO says, and answers."""
    found = []
    for key in keys:
        sort = redis("TYPE", key)[-2:]
        found += [redis("DEBUG", "DIGEST-VALUE", key), redis(f"{sort}.INFO", key)[2:], redis(f"{sort}.MEXISTS", key, *range(1000))]
    return found


class Persistence(ServerTest):
    OPTIONS = ("--rdbcompression", "no")  # Of compressed bytes, others may mean the same.

    def test_an_rdb_file_has_all_of_it(self):
        keys = fill(self.redis)
        before = state(self.redis, keys)
        self.redis("DEBUG", "RELOAD")
        self.assertEqual(state(self.redis, keys), before)
        self.assertEqual(self.redis("BF.ADD", "chain", 3), 0)
        self.assertEqual(self.redis("CF.DEL", "growing", 4), 1)

    def test_a_server_that_was_killed_has_what_was_saved(self):
        server = self.other_server().start()
        redis = server.client()
        keys = fill(redis)
        before = state(redis, keys)
        redis("SAVE")
        server.kill()
        redis = server.start().client()
        self.assertEqual(state(redis, keys), before)

    def test_an_aof_file_has_all_of_it_before_and_after_its_rewrite(self):
        # Restarted with other settings: the file says how each filter was made.
        server = self.other_server("--appendonly", "yes", "--aof-use-rdb-preamble", "no").start()
        redis = server.client()
        keys = fill(redis)
        before = state(redis, keys)
        server.kill()
        server.arguments = ("INITIAL_SIZE", "7", "cf-expansion-factor", "0")
        redis = server.start().client()
        self.assertEqual(state(redis, keys), before)
        redis("BGREWRITEAOF")
        wait_until(lambda: b"aof_rewrite_in_progress:0" in redis("INFO", "persistence"), "the rewrite")
        wait_until(lambda: b"aof_rewrite_scheduled:0" in redis("INFO", "persistence"), "the rewrite")
        base = next((server.folder / "appendonlydir").glob("*.base.aof")).read_bytes()
        self.assertIn(b"BF.LOADCHUNK", base)
        self.assertIn(b"CF.LOADCHUNK", base)
        self.assertNotIn(b"BF.MADD", base)
        server.kill()
        redis = server.start().client()
        self.assertEqual(state(redis, keys), before)

    def test_a_replica_has_the_same_bytes(self):
        master = self.other_server(port=-1).start()
        redis = master.client()
        keys = fill(redis)
        replica = self.other_server("--replicaof", f"127.0.0.1 {master.port}", arguments=("bf-initial-size", "9", "bf-error-rate", "0.2"),
                                    port=-1).start()
        copy = replica.client()
        wait_until(lambda: b"master_link_status:up" in copy("INFO", "replication"), "the replica")
        redis("BF.MADD", "chain", *range(400, 900))  # A part of these is there.
        redis("CF.ADD", "growing", "again")
        redis("CF.DEL", "cuckoo", 7)
        redis("CF.ADDNX", "cuckoo", "new")
        redis("BF.MADD", "made later", *range(300))
        redis("BF.INSERT", "fixed later", "NONSCALING", "ERROR", "0.003", "ITEMS", *range(150))
        redis("CF.INSERT", "cuckoo later", "CAPACITY", 33, "ITEMS", *range(150))
        (first, head), (last, chunk) = chunks_of(redis, "CF.SCANDUMP", "growing")
        redis("CF.LOADCHUNK", "loaded", first, head)
        redis("CF.LOADCHUNK", "loaded", 101, chunk[:100])
        redis.error("CF.LOADCHUNK", "loaded", last, bytes(len(chunk) - 100))  # A refused chunk changes nothing, here or there.
        redis("CF.LOADCHUNK", "loaded", last, chunk[100:])
        keys += ["made later", "fixed later", "cuckoo later", "loaded"]
        self.assertEqual(redis("WAIT", 1, 60_000), 1)
        self.assertEqual(state(copy, keys), state(redis, keys))
        self.assertEqual(copy.error("BF.ADD", "chain", "a"), "READONLY You can't write against a read only replica.")

    def test_what_changes_nothing_is_not_replicated(self):
        self.redis("BF.MADD", "key", "a", "b")
        self.redis("CF.ADD", "cuckoo", "a")
        offset = self.redis("INFO", "persistence").split(b"rdb_changes_since_last_save:")[1].split()[0]
        self.redis("BF.MADD", "key", "a", "b")
        self.redis("CF.ADDNX", "cuckoo", "a")
        self.redis("CF.DEL", "cuckoo", "b")
        self.assertEqual(self.redis("INFO", "persistence").split(b"rdb_changes_since_last_save:")[1].split()[0], offset)

    def test_copy_and_restore(self):
        keys = fill(self.redis)
        for key in keys:
            self.assertEqual(self.redis("COPY", key, key + " copy"), 1)
            self.redis("RESTORE", key + " restored", 0, self.redis("DUMP", key))
        before = state(self.redis, keys)
        self.assertEqual(state(self.redis, [key + " copy" for key in keys]), before)
        self.assertEqual(state(self.redis, [key + " restored" for key in keys]), before)
        self.redis("BF.ADD", "chain copy", "new")
        self.assertEqual(state(self.redis, keys), before)
        self.redis("BF.RESERVE", "many", "0.1", 1, "EXPANSION", 1)
        self.redis("BF.MADD", "many", *range(200))
        self.assertEqual(self.redis("UNLINK", "many", *keys), 8)  # With many filters: freed by another thread.

    def test_memory_usage_counts_the_filters(self):
        self.redis("BF.RESERVE", "large", "0.001", 1_000_000)
        self.redis("CF.RESERVE", "cuckoo", 1_000_000)
        for key, info in (("large", "BF.INFO"), ("cuckoo", "CF.INFO")):
            size = self.redis(info, key)[3 if info == "BF.INFO" else 1]
            self.assertGreater(size, 1_000_000)
            usage = self.redis("MEMORY", "USAGE", key)
            self.assertGreaterEqual(usage, size)
            self.assertLess(usage, size + 200)

    def test_chunks_make_the_same_filter(self):
        fill(self.redis)
        self.redis("BF.RESERVE", "large", "0.0001", 14_000_000)
        self.redis("BF.MADD", "large", *range(1000))
        for key in ("chain", "fixed", "standard", "empty", "large", "growing", "cuckoo"):
            sort = self.redis("TYPE", key)[-2:]
            chunks = chunks_of(self.redis, f"{sort}.SCANDUMP", key)
            self.assertEqual(len(chunks) > 2, key in ("chain", "standard", "large"), key)
            for iterator, chunk in chunks:
                self.assertLessEqual(len(chunk), 16 << 20)
                self.assertEqual(self.redis(f"{sort}.LOADCHUNK", "loaded", iterator, chunk), "OK")
            self.assertEqual(state(self.redis, ["loaded"]), state(self.redis, [key]))
            self.redis("DEL", "loaded")
        self.assertEqual(self.redis("CF.SCANDUMP", "none", 0), [0, None])  # As RedisBloom: nothing to restore.

    def test_an_incomplete_filter_answers_nothing_and_is_kept(self):
        fill(self.redis)
        for key, size in (("chain", 300), ("growing", 100)):
            sort = self.redis("TYPE", key)[-2:]
            (first, head), *rest = chunks_of(self.redis, f"{sort}.SCANDUMP", key)
            # Chunks of a size of our own: the iterator says where each ends.
            body = b"".join(chunk for _, chunk in rest)
            ends, lengths = [], [len(chunk) for _, chunk in rest]
            at = 0
            for length in lengths:
                ends += [(begin, min(begin + size, at + length)) for begin in range(at, at + length, size)]
                at += length
            self.redis(f"{sort}.LOADCHUNK", "part", first, head)
            for number, (begin, end) in enumerate(ends):
                for command in (["EXISTS", "part", 1], ["INFO", "part"], ["SCANDUMP", "part", 0], ["MEXISTS", "part", 1],
                                ["INSERT", "part", "ITEMS", 1]):
                    self.assertEqual(self.redis.error(f"{sort}.{command[0]}", *command[1:]), INCOMPLETE)
                self.assertTrue(self.redis.error(f"{sort}.LOADCHUNK", "part", end + 2, body[begin:end]))
                if number % 3 == 1:
                    self.redis("DEBUG", "RELOAD")
                if number % 3 == 2:
                    self.redis("COPY", "part", "copy")
                    self.redis("RENAME", "copy", "part")
                self.assertEqual(self.redis(f"{sort}.LOADCHUNK", "part", end + 1, body[begin:end]), "OK")
            self.assertEqual(state(self.redis, ["part"]), state(self.redis, [key]))
            self.assertTrue(self.redis.error(f"{sort}.LOADCHUNK", "part", ends[-1][1] + 2, b"x"))
            self.redis("DEL", "part")

    def test_a_change_between_two_chunks_is_noticed(self):
        self.redis("BF.MADD", "key", *range(90))
        (first, head), = chunks_of(self.redis, "BF.SCANDUMP", "key")[:1]
        self.redis("BF.SCANDUMP", "key", first)
        self.redis("BF.ADD", "key", "new")
        body = b"".join(chunk for _, chunk in chunks_of(self.redis, "BF.SCANDUMP", "key")[1:])
        old = bytearray(body)
        old[-1] ^= 1
        self.redis("BF.LOADCHUNK", "loaded", first, head)
        self.assertEqual(self.redis.error("BF.LOADCHUNK", "loaded", 1 + len(old), bytes(old)), "ERR received bad data")

    def test_damaged_chunks_are_refused(self):
        fill(self.redis)
        for key in ("chain", "growing", "cuckoo"):
            sort = self.redis("TYPE", key)[-2:]
            (first, head), (second, body), *_ = chunks_of(self.redis, f"{sort}.SCANDUMP", key)
            for at in range(len(head)):
                self.assertTrue(self.redis.error(f"{sort}.LOADCHUNK", "damaged", first, head[:at] + bytes([head[at] ^ 4]) + head[at + 1:]))
                self.assertTrue(self.redis.error(f"{sort}.LOADCHUNK", "damaged", first, head[:at]))
            self.assertEqual(self.redis("EXISTS", "damaged"), 0)
            self.redis(f"{sort}.LOADCHUNK", "damaged", first, head)
            for at in range(0, len(body), 1 + len(body) // 200):
                error = self.redis.error(f"{sort}.LOADCHUNK", "damaged", second, body[:at] + bytes([body[at] ^ 4]) + body[at + 1:])
                self.assertIn(error, ("ERR received bad data", "Couldn't load chunk!"))
            self.assertEqual(self.redis(f"{sort}.LOADCHUNK", "damaged", second, body), "OK")  # What came damaged can come again.
            self.redis("DEL", "damaged")

    def test_a_newer_version_is_refused_by_name(self):
        self.redis("BF.ADD", "key", "a")
        head = bytearray(self.redis("BF.SCANDUMP", "key", 0)[1])
        head[7] = 2
        self.assertEqual(self.redis.error("BF.LOADCHUNK", "new", 1, bytes(head)),
                         "ERR version 2 of its format is not supported")

    def test_filters_of_the_other_sort_are_refused(self):
        fill(self.redis)
        head = self.redis("BF.SCANDUMP", "standard", 0)[1]
        self.assertEqual(self.redis.error("CF.LOADCHUNK", "new", 1, head), "Couldn't create filter!")
        self.assertIn("a chunk was refused: it is no dump of such a filter", self.server.log())

    def test_impossible_numbers_in_a_head_are_refused(self):
        """A head with the right checksum, as only somebody who wants it makes it."""
        fill(self.redis)
        heads = {key: self.redis(f"{key[:2]}.SCANDUMP", key[3:], 0)[1] for key in ("BF:chain", "BF:fixed", "CF:growing")}
        # Where, how many bytes, what: capacity, expansion, bucket size, iterations, filters; rates of 0, 1, -1, NaN.
        wrong = {"BF:chain": [(24, 8, 0), (24, 8, 2**42 + 1), (24, 8, 2**64 - 1), (40, 4, 32769), (48, 8, 0), (48, 8, 2**61), (56, 8, 0),
                              (56, 8, 2**63), (32, 8, 0), (32, 8, 0x3ff << 52), (32, 8, 0xbff << 52), (32, 8, 0x7ff8 << 48)],
                 "BF:fixed": [(48, 8, 2)],
                 "CF:growing": [(24, 8, 0), (40, 4, 2**31), (44, 2, 0), (44, 2, 256), (46, 2, 0), (48, 8, 2)]}
        for key, places in wrong.items():
            for at, size, number in places:
                head = bytearray(heads[key][:-8])
                head[at:at + size] = number.to_bytes(size, "little")
                head += fnv1a(head).to_bytes(8, "little")
                self.assertIn(self.redis.error(f"{key[:2]}.LOADCHUNK", "wrong", 1, bytes(head)),
                              ("ERR received bad data", "Couldn't create filter!"), f"{key} at {at}: {number}")
        self.assertEqual(self.redis("EXISTS", "wrong"), 0)

    def test_filters_of_another_kind_are_refused(self):
        """A head and a container that are each right, and do not belong together."""
        fill(self.redis)
        sizes = {}
        for key in ("growing", "cuckoo"):
            (_, head), (end, body) = chunks_of(self.redis, "CF.SCANDUMP", key)
            sizes[key] = head, end, body
        head = bytearray(sizes["growing"][0][:-8])
        head[56:64] = len(sizes["cuckoo"][2]).to_bytes(8, "little")
        head += fnv1a(head).to_bytes(8, "little")
        self.assertEqual(self.redis("CF.LOADCHUNK", "mixed", 1, bytes(head)), "OK")
        self.assertEqual(self.redis.error("CF.LOADCHUNK", "mixed", *sizes["cuckoo"][1:]), "Couldn't load chunk!")
        self.assertEqual(self.redis.error("CF.EXISTS", "mixed", 1), INCOMPLETE)

    def test_a_filter_too_small_for_its_capacity_is_refused(self):
        """Otherwise a small dump would make the next filter of a chain as large as it likes."""
        self.redis("BF.RESERVE", "key", "0.01", 10)
        (_, head), (end, body) = chunks_of(self.redis, "BF.SCANDUMP", "key")
        head = bytearray(head[:-8])
        head[24:32] = (2**40).to_bytes(8, "little")
        few = bytearray(head)
        few[8:16] = (11).to_bytes(8, "little")  # More items than it is for: each further one would add a filter.
        few[24:32] = (10).to_bytes(8, "little")
        for wrong in (head, few):
            self.redis("BF.LOADCHUNK", "large", 1, bytes(wrong + fnv1a(wrong).to_bytes(8, "little")))
            self.assertEqual(self.redis.error("BF.LOADCHUNK", "large", end, body), "ERR received bad data")
            self.redis("DEL", "large")

    def test_damaged_dumps_are_refused(self):
        """With the right checksum of Redis, so that only ours notice."""
        fill(self.redis)
        chance = random.Random(SEED)
        for key in ("chain", "growing", "cuckoo"):
            dump = self.redis("DUMP", key)
            for _ in range(60):
                payload = bytearray(dump[:-8])
                at = chance.randrange(10, len(payload) - 2)  # Behind the type, before the version of RDB.
                payload[at] ^= 1 << chance.randrange(8)
                if chance.randrange(4) == 0:
                    del payload[at:at + chance.randrange(1, 40)]
                self.redis.send("RESTORE", "damaged", 0, bytes(payload) + crc64(payload).to_bytes(8, "little"))
                self.assertIsInstance(self.redis.receive(), ErrorReply, f"{key}: byte {at} of {len(payload)}")
            self.redis("RESTORE", "whole", 0, dump[:-8] + crc64(dump[:-8]).to_bytes(8, "little"), "REPLACE")

    def test_a_server_names_the_damage_of_its_rdb_file(self):
        server = self.other_server("--rdbchecksum", "no", "--rdbcompression", "no").start()
        redis = server.client()
        fill(redis)
        redis("SAVE")
        server.kill()
        path = pathlib.Path(server.folder) / "dump.rdb"
        data = bytearray(path.read_bytes())
        data[data.index(b"TAMISFLT") + 200] ^= 1
        path.write_bytes(data)
        with self.assertRaises(RuntimeError):
            server.start()
        self.assertIn("cannot load a filter", server.log())

    def test_files_of_version_1_are_read(self):
        """The golden file: DUMP of a chain and of a growing filter, written by the first version."""
        folder = pathlib.Path(__file__).resolve().parent / "golden"
        for name, sort in (("bloom.dump", "BF"), ("cuckoo.dump", "CF")):
            self.redis("RESTORE", "golden", 0, bytes.fromhex((folder / name).read_text(encoding="ascii")), "REPLACE")
            self.assertEqual(self.redis(f"{sort}.MEXISTS", "golden", *range(20)), [1] * 20)
            items = self.redis(f"{sort}.INFO", "golden")[7]
            self.assertEqual(items, 20)
            # This version writes the same.
            if sort == "BF":
                self.redis("BF.RESERVE", "made", "0.01", 10, "EXPANSION", 2)
                self.redis("BF.MADD", "made", *range(20))
            else:
                self.redis("CF.INSERT", "new", "CAPACITY", 10, "ITEMS", *range(20))
                self.redis("RENAME", "new", "made")
            self.assertEqual(self.redis("DEBUG", "DIGEST-VALUE", "made"), self.redis("DEBUG", "DIGEST-VALUE", "golden"))


if __name__ == "__main__":
    main()
