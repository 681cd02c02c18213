"""What was chosen is found again, and a broken file costs a tuning alone."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from remembered import Remembered, cache_folder


class RememberedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_next_process_finds_what_was_put(self):
        path = self.folder / "of" / "a_gpu" / "plans.json"
        self.assertIsNone(Remembered(path).get("a"))
        for key, value in (("a", "eng0"), ("b", "eng1"), ("a", "eng2")):
            Remembered(path).put(key, value)
        self.assertEqual([Remembered(path).get(key) for key in "abc"], ["eng2", "eng1", None])
        self.assertEqual(os.listdir(path.parent), ["plans.json"])

    def test_what_cannot_be_read_is_nothing_and_is_replaced(self):
        path = self.folder / "plans.json"
        for text in ('{"a": ', "[3]", '{"a": 3}', "\xff"):
            path.write_text(text, encoding="latin-1")
            stored = Remembered(path)
            self.assertIsNone(stored.get("a"), text)
            stored.put("a", "eng0")
            self.assertEqual(stored.get("a"), "eng0")

    def test_what_cannot_be_written_is_left(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        stored = Remembered(self.folder / "file" / "plans.json")
        stored.put("a", "eng0")
        self.assertIsNone(stored.get("a"))

    def test_a_folder_a_user_a_library_and_a_gpu(self):
        for cache, expected in (("/cache", "/cache"), ("", "/home/u/.cache")):
            with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache, "HOME": "/home/u"}):
                self.assertEqual(str(cache_folder("quack", "NVIDIA H100 80GB HBM3")),
                                 f"{expected}/fusegate/quack/NVIDIA_H100_80GB_HBM3")
