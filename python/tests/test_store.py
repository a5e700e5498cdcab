"""The store in Python."""
import pathlib
import tempfile
import threading
import time
import unittest

import tamis


class StoreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.db = tamis.open(self.folder / "store", memory_bytes="4MiB")
        self.addCleanup(self.close)

    def close(self):
        self.db = None

    def test_is_like_a_dictionary(self):
        db = self.db
        db[b"paris"] = b"2102650"
        db[b"empty"] = b""
        self.assertEqual(db[b"paris"], b"2102650")
        self.assertEqual(db[b"empty"], b"")
        self.assertEqual(db.get(b"rome", 5), 5)
        self.assertIsNone(db.get(b"rome"))
        self.assertIn(b"paris", db)
        self.assertNotIn(b"rome", db)
        with self.assertRaises(KeyError):
            db[b"rome"]
        del db[b"paris"]
        self.assertNotIn(b"paris", db)
        db.update({b"a": b"1", b"b": b"2"}, sync=True)
        db.update([(b"c", bytearray(b"3"))])
        self.assertEqual(list(db), [b"a", b"b", b"c", b"empty"])
        self.assertEqual(db.multi_get([b"b", b"x", b"empty"]), [b"2", None, b""])

    def test_refuses_text(self):
        for wrong in (lambda: self.db.put("key", b"value"), lambda: self.db.put(b"key", "value"), lambda: self.db.get("key")):
            with self.assertRaises(TypeError):
                wrong()

    def test_ranges(self):
        db = self.db
        db.update((bytes([c]), bytes([c])) for c in b"abcdefg")
        self.assertEqual(b"".join(db.keys(start=b"b", stop=b"e")), b"bcd")
        self.assertEqual(b"".join(db.values(start=b"b", stop=b"e", reverse=True)), b"dcb")
        self.assertEqual(list(db.items(prefix=b"c")), [(b"c", b"c")])
        db.delete_range(b"b", b"d")
        self.assertEqual(b"".join(db), b"adefg")
        db.delete_range(b"f")
        self.assertEqual(b"".join(db), b"ade")
        scan = db.items()
        self.assertEqual(next(scan), (b"a", b"a"))
        db[b"aa"] = b"new"
        self.assertEqual(next(scan), (b"d", b"d"))  # As of its creation.

    def test_conditions(self):
        db = self.db
        self.assertTrue(db.put_if(b"k", None, b"1"))
        self.assertFalse(db.put_if(b"k", None, b"2"))
        self.assertTrue(db.put_if(b"k", b"1", b"2", sync=True))
        self.assertFalse(db.delete_if(b"k", b"1"))
        self.assertTrue(db.delete_if(b"k", b"2"))

    def test_expiry(self):
        self.db.put(b"soon", b"1", expires_in=0.001)
        self.db.put(b"never", b"1", expires_in=float("inf"))
        while b"soon" in self.db:
            time.sleep(0.001)
        self.assertIn(b"never", self.db)

    def test_batches(self):
        users = self.db.keyspace(b"users", fanout=4)
        with self.db.batch(sync=True) as batch:
            batch.put(b"a", b"1")
            batch.put(b"b", b"1", expires_in=3600)
            batch.delete(b"a")
            batch.put(b"ada", b"1815", keyspace=users)
            self.assertEqual(len(batch), 4)
        self.assertEqual(list(self.db), [b"b"])
        self.assertEqual(users[b"ada"], b"1815")
        with self.assertRaises(ZeroDivisionError):
            with self.db.batch() as batch:
                batch.delete_range(b"")
                1 / 0
        self.assertEqual(list(self.db), [b"b"])

    def test_keyspaces(self):
        logs = self.db.keyspace(b"logs", merge_operator="append")
        logs.merge(b"k", b"1")
        logs.merge(b"k", b"2")
        self.assertEqual(logs[b"k"], b"12")
        self.assertEqual(self.db.keyspaces(), [b"default", b"logs"])
        self.assertEqual(self.db.keyspace_stats()[1]["options"], {"merge_operator": "append"})
        self.db.drop_keyspace(b"logs")
        with self.assertRaises(tamis.InvalidArgument):
            logs[b"k"]
        with self.assertRaises(tamis.InvalidArgument):
            self.db.keyspace(b"wrong", memory_bytes="1MiB")

    def test_snapshots(self):
        users = self.db.keyspace(b"users")
        users[b"ada"] = b"1815"
        self.db[b"a"] = b"old"
        with self.db.snapshot() as snapshot:
            self.db[b"a"] = b"new"
            del users[b"ada"]
            self.assertEqual(snapshot[b"a"], b"old")
            self.assertEqual(list(snapshot.items()), [(b"a", b"old")])
            self.assertEqual(snapshot.multi_get([b"a"]), [b"old"])
            self.assertEqual(snapshot.keyspace(users)[b"ada"], b"1815")
            self.assertEqual(snapshot.sequence, 2)
            with self.assertRaises(tamis.Busy):
                self.db.close()
        self.db.close()
        with self.assertRaises(tamis.Closed):
            self.db[b"a"]

    def test_transactions(self):
        db = self.db
        with db.transaction(sync=True) as tx:
            tx[b"a"] = b"1"
            mark = tx.savepoint()
            del tx[b"a"]
            tx.rollback_to(mark)
            self.assertEqual(tx[b"a"], b"1")
            self.assertEqual(list(tx), [b"a"])
            self.assertNotIn(b"a", db)
        self.assertEqual(db[b"a"], b"1")
        with self.assertRaises(ZeroDivisionError):
            with db.transaction() as tx:
                tx.put(b"a", b"2")
                1 / 0
        self.assertEqual(db[b"a"], b"1")
        with self.assertRaises(tamis.Conflict):
            with db.transaction() as tx:
                tx[b"b"] = tx[b"a"]
                db[b"a"] = b"3"
        self.assertNotIn(b"b", db)
        with db.transaction(snapshot_isolation=True) as tx:
            tx[b"b"] = tx[b"a"]
            db[b"a"] = b"4"
        self.assertEqual(db[b"b"], b"3")

    def test_transact_runs_again(self):
        runs = []

        def add(tx):
            runs.append(tx.get(b"n", b"0"))
            if len(runs) == 1:
                self.db[b"n"] = b"5"
            tx[b"n"] = b"%d" % (int(runs[-1]) + 1)
            return len(runs)

        self.assertEqual(self.db.transact(add), 2)
        self.assertEqual(self.db[b"n"], b"6")
        with self.assertRaises(tamis.Conflict):
            self.db.transact(lambda tx: (tx.get(b"n"), self.db.put(b"n", b"7"), tx.put(b"n", b"8")), tries=2)

    def test_merge_operators_in_python(self):
        """The flush folds in a thread of the store, while the caller waits: it would wait forever if it held the
        interpreter's lock."""
        def longest(older, newer):
            if newer == b"bad":
                return None
            return max(older, newer, key=len)

        with tamis.open(self.folder / "merges", merge_operators={"longest": longest}, merge_operator="longest") as db:
            for operand in (b"aa", b"bbbb", b"c"):
                db.merge(b"k", operand)
            self.assertEqual(db[b"k"], b"bbbb")
            db.flush()
            db.merge(b"k", b"bad")
            with self.assertRaises(tamis.InvalidArgument):
                db[b"k"]

    def test_threads_write_beside_each_other(self):
        def write(first):
            for i in range(first, first + 500):
                self.db[b"%d" % i] = b"value"

        threads = [threading.Thread(target=write, args=(1000 * i,)) for i in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(1 for _ in self.db), 2000)

    def test_upkeep_and_reports(self):
        db = self.db
        db.update((b"%03d" % i, b"value") for i in range(300))
        db.flush()
        db.compact()
        db.compact(b"1", b"2")
        db.wait_idle()
        db.sync()
        db.set_option("memory_bytes", 1 << 30)
        self.assertEqual(db.stats()["memory"]["budget"], 1 << 30)
        with self.assertRaises(tamis.InvalidArgument):
            db.set_option("fanout", 4)
        db.resume()
        self.assertGreater(db.approximate_size(), 0)
        self.assertEqual(db.approximate_size(b"5"), 0)
        self.assertTrue(db.verify()["ok"])
        self.assertEqual(db.stats()["writes"], 300)
        self.assertTrue(db.explain(b"123")["found"])
        self.assertEqual(db.plan()["runs"][0]["keys"], 300)
        db.checkpoint(self.folder / "copy")
        with tamis.open(self.folder / "copy", create_if_missing=False, read_only=True) as copy:
            self.assertEqual(copy[b"123"], b"value")
            with self.assertRaises(tamis.NotSupported):
                copy[b"123"] = b"new"

    def test_followers(self):
        self.db[b"a"] = b"1"
        self.db.sync()
        with tamis.open(self.folder / "store", read_only=True, follows=True) as follower:
            self.db[b"a"] = b"2"
            self.db.sync()
            self.assertEqual(follower[b"a"], b"1")
            self.assertEqual(follower.catch_up(), 2)
            self.assertEqual(follower[b"a"], b"2")

    def test_errors_say_what_happened(self):
        with self.assertRaisesRegex(tamis.Busy, "^busy: .*store"):
            tamis.open(self.folder / "store")
        with self.assertRaises(OSError):
            tamis.open(self.folder / "none", create_if_missing=False)
        with self.assertRaisesRegex(ValueError, "memory_bytes"):
            tamis.open(self.folder / "none", memory_byte=5)
        self.db.close()
        self.db = None
        with self.assertRaises(tamis.InvalidArgument):
            tamis.open(self.folder / "store", error_if_exists=True)
        self.assertTrue(tamis.repair(self.folder / "store", dry_run=True)["dry_run"])
        tamis.destroy(self.folder / "store")
        with self.assertRaises(tamis.InputOutputError):
            tamis.open(self.folder / "store", create_if_missing=False)


if __name__ == "__main__":
    unittest.main()
