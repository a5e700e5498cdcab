"""The tests of this folder as one program that scripts/mutate can run: it has the options and the lines of gtest's.

    all_tests.py MODULE [--gtest_filter=CLASS.TEST] [--gtest_fail_fast]
"""
import argparse
import fnmatch
import pathlib
import sys
import unittest

import server

NAMES = ["bloom_test", "cuckoo_test", "module_test", "persistence_test"]


class Lines(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        print(f"[ RUN      ] {short_name(test)}", flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print(f"[  FAILED  ] {short_name(test)}", flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        print(f"[  FAILED  ] {short_name(test)}", flush=True)


def short_name(test):
    return ".".join(test.id().split(".")[-2:])


def each_test(suite):
    for test in suite:
        yield from each_test(test) if isinstance(test, unittest.TestSuite) else [test]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("--gtest_filter", default="*")
    parser.add_argument("--gtest_fail_fast", action="store_true")
    options = parser.parse_args()
    server.MODULE = options.module.resolve()
    found = each_test(unittest.defaultTestLoader.loadTestsFromNames(NAMES))
    chosen = [test for test in found if server.SERVER and fnmatch.fnmatchcase(short_name(test), options.gtest_filter)]
    print(f"[==========] Running {len(chosen)} tests")
    runner = unittest.TextTestRunner(resultclass=Lines, failfast=options.gtest_fail_fast, verbosity=0)
    sys.exit(0 if runner.run(unittest.TestSuite(chosen)).wasSuccessful() else 1)


main()
