"""Filters in Python."""
import pathlib
import tempfile
import unittest

import numpy

import tamis

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/foreign"


class FilterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_built_once(self):
        words = [b"word%d" % i for i in range(1000)]
        built = tamis.Filter.build(words, kind="ribbon", rate=0.001)
        built.save(self.folder / "words.tamis")
        for same in (built, tamis.Filter.open(self.folder / "words.tamis"), tamis.Filter.from_bytes(bytes(built))):
            self.assertTrue(all(word in same for word in words))
            self.assertEqual(same.may_contain_many(words), [True] * 1000)
            others = [b"other%d" % i for i in range(1000)]
            self.assertLess(sum(same.may_contain_many(others)), 20)
            self.assertEqual(same.may_contain_many(others), [other in same for other in others])
            self.assertEqual(same.info()["kind"], "ribbon")
        with self.assertRaises(tamis.Corruption):
            tamis.Filter.from_bytes(bytes(built)[:-1])
        with self.assertRaises(ValueError):
            tamis.Filter.build(words, rate=2)

    def test_arrays(self):
        numbers = numpy.arange(200_000, dtype="<u4")
        built = tamis.Filter.build_rows(numbers[:100_000], rate=0.001)
        answers = built.may_contain_rows(numbers)
        self.assertEqual((answers.dtype, len(answers)), (bool, 200_000))
        self.assertTrue(answers[:100_000].all())
        self.assertLess(answers[100_000:].sum(), 200)
        self.assertEqual(answers.tolist(), built.may_contain_many(number.tobytes() for number in numbers))
        table = numpy.frombuffer(b"".join(b"key%05d" % i for i in range(1000)), dtype="u1").reshape(1000, 8)
        keys = tamis.Filter.build_rows(table)
        self.assertTrue(b"key00999" in keys and keys.may_contain_rows(table).all())
        self.assertTrue(keys.may_contain_rows(table.view("S8").ravel()).all())
        self.assertEqual(len(keys.may_contain_rows(table[:0])), 0)
        for other in (numbers[::2], numpy.zeros((2, 2, 2)), numpy.array(5), table.T, 5):
            with self.assertRaises((ValueError, TypeError)):
                built.may_contain_rows(other)
        growing = tamis.MutableFilter("growing")
        growing.add_rows(numbers[:1000])
        self.assertTrue(growing.freeze().may_contain_rows(numbers[:1000]).all())
        full = tamis.MutableFilter("cuckoo", capacity=10)
        with self.assertRaises(tamis.OutOfSpace):
            full.add_rows(numbers)

    def test_prefixes(self):
        users = tamis.Filter.build([b"user/1"], prefix_rule="until:/", rate=0.0001)
        self.assertTrue(users.may_contain_prefix(b"user/"))
        self.assertFalse(users.may_contain_prefix(b"admin/"))

    def test_mutable(self):
        seen = tamis.MutableFilter("counting", capacity=100, rate=0.0001)
        seen.add(b"a")
        self.assertIn(b"a", seen)
        self.assertTrue(seen.remove(b"a"))
        self.assertFalse(seen.remove(b"a"))
        self.assertNotIn(b"a", seen)
        growing = tamis.MutableFilter()
        for i in range(1000):
            growing.add(b"%d" % i)
        growing.save(self.folder / "growing.tamis")
        again = tamis.MutableFilter.open(self.folder / "growing.tamis")
        self.assertTrue(all(b"%d" % i in again for i in range(1000)))
        self.assertEqual(again.info()["keys"], 1000)

    def test_unions_and_intersections(self):
        a, b = (tamis.MutableFilter("bloom", capacity=1000, rate=0.0001) for _ in range(2))
        a.add(b"a")
        a.add(b"both")
        b.add(b"b")
        b.add(b"both")
        either = a | b
        both = a & b
        self.assertTrue(b"a" in either and b"b" in either)
        self.assertTrue(b"both" in both and b"a" not in both and b"b" not in both)
        self.assertTrue(b"b" not in a and b"a" not in b)
        a |= b
        self.assertIn(b"b", a)
        a &= b
        self.assertNotIn(b"a", a)
        frozen = a.freeze()
        a.clear()
        self.assertTrue(b"b" in frozen and b"b" not in a)
        with self.assertRaises(tamis.NotSupported):
            a.remove(b"b")
        with self.assertRaises(tamis.InvalidArgument):
            a | tamis.MutableFilter("bloom", capacity=5000)

    def test_of_other_systems(self):
        path = GOLDEN / "cassandra/new-user-100-n100-fp0.01-Filter.db"
        with self.assertRaises(tamis.InvalidArgument):
            tamis.ForeignFilter.open(path)  # Several formats fit.
        filter = tamis.ForeignFilter.open(path, format="cassandra-new")
        self.assertTrue(b"user:0" in filter and b"user1000" not in filter)
        self.assertEqual(filter.info()["format"], "cassandra-new")
        old = tamis.ForeignFilter.from_bytes(filter.convert_to("cassandra-old"), format="cassandra-old")
        self.assertIn(b"user:0", old)
        path = GOLDEN / "pychapter/user-100-m959-k7.bloom"
        self.assertIn(b"user:0", tamis.ForeignFilter.open(path, format="pychapter", bits=959, hashes=7))
        path = GOLDEN / "parquet/data_index_bloom_encoding_stats.parquet"
        self.assertIn(b"Hello", tamis.ForeignFilter.open(path, column="String", row_group=0))


if __name__ == "__main__":
    unittest.main()
