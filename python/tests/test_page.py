"""The examples of docs/PYTHON.md."""
import doctest
import os
import pathlib
import re
import tempfile
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/PYTHON.md"


class PageTest(unittest.TestCase):
    def test_examples_print_what_the_page_says(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
        self.assertGreater(len(blocks), 5)
        examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, PAGE.name, str(PAGE), 0)
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            runner = doctest.DocTestRunner()
            runner.run(examples, clear_globs=True)
        self.assertEqual(runner.summarize(verbose=False).failed, 0)


if __name__ == "__main__":
    unittest.main()
