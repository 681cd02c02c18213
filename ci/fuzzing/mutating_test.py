"""The driver of the fuzz targets without libFuzzer: what it finds, what it keeps of it, and that it does so again."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PLANTED = os.environ["FUSEGATE_PLANTED"]


class Mutating(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.crash = self.root / "crash"

    def give(self, text):
        path = self.root / "input"
        path.write_bytes(text)
        return path

    def run_planted(self, *arguments):
        return subprocess.run([PLANTED, f"-artifact_prefix={self.root}/", *map(str, arguments)],
                              capture_output=True, text=True, check=False, timeout=200)

    def find(self, almost, planted, words):
        given = self.give(almost)
        result = self.run_planted("-runs=300000", "-timeout=2", "-seed=7", given)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(self.crash.read_bytes(), planted)
        self.assertEqual(self.run_planted("-timeout=2", self.crash).returncode, 1, "the input alone does it again")
        self.assertEqual(self.run_planted(given).returncode, 0)

    def test_finds_an_exception(self):
        self.find(b"thrw", b"throw", "planted")

    def test_finds_an_exception_that_it_throws_itself_for_its_flags(self):
        self.find(b"inputs", b"input", "planted: is no good")

    def test_finds_a_broken_promise(self):
        self.find(b"broak", b"break", "broken promise: planted")

    def test_finds_undefined_behaviour(self):
        self.find(b"shift!", b"shift", "shift exponent")

    def test_finds_a_read_behind_the_end(self):
        self.find(b"readz", b"reads", "heap-buffer-overflow")

    def test_finds_a_hang(self):
        self.find(b"hangz", b"hangs", "takes too long")

    def test_runs_as_often_as_told_on_folders_too(self):
        folder = self.root / "inputs"
        folder.mkdir()
        for name in ("a", "b"):
            (folder / name).write_text(name)
        self.assertEqual(self.run_planted("-runs=50", folder).stdout, "Done 50 runs\n")
        self.assertEqual(self.run_planted(folder).stdout, "Done 2 runs\n")
        self.assertIn("Done ", self.run_planted("-max_total_time=1", folder).stdout)

    def test_refuses_what_it_does_not_know(self):
        for argument, words in {"-runz=5": "no flag", "-runs=many": "whole number", "-runs": "no flag",
                                str(self.root / "gone"): "gone"}.items():
            result = self.run_planted(argument)
            self.assertEqual(result.returncode, 2, argument)
            self.assertIn(words, result.stderr)
