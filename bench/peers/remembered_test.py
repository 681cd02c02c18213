"""What was chosen is found again, and what cannot be read or written costs a tuning alone."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from remembered import cache_folder, remember, remembered


class RememberedTest(unittest.TestCase):
    def test_the_next_process_finds_what_was_put(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "of" / "a_gpu" / "9.19 up_proj"
            self.assertIsNone(remembered(path))
            for text in ("eng0", "eng1"):
                remember(path, text)
                self.assertEqual(remembered(path), text)
            self.assertEqual(os.listdir(path.parent), [path.name])
            path.write_bytes(b"\xff")
            self.assertIsNone(remembered(path))
            remember(path / "below_a_file", "eng0")
            self.assertIsNone(remembered(path / "below_a_file"))

    def test_a_folder_a_user_a_library_and_a_gpu(self):
        for cache, expected in (("/cache", "/cache"), ("", "/home/u/.cache")):
            with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache, "HOME": "/home/u"}):
                self.assertEqual(str(cache_folder("quack")), f"{expected}/fusegate/quack/NVIDIA_H200")
