"""What tests share: a folder of their own, and processes that measure with NumPy on the CPU."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE), "NO_COLOR": "1"}
QUICK = ("--samples=2", "--layouts=2", "--idle-us=0", "--batch-us=50")


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.out = self.folder / "run" / "1.json"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def process(self, *arguments, text=True, **environment):
        return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=text, timeout=120, check=False,
                              cwd=self.folder, env={**ENVIRONMENT, **environment})

    def bench(self, target, *flags, **environment):
        return self.process("-m", "fusegate.bench", target, *flags, **environment)

    def read(self):
        return json.loads(self.out.read_text(encoding="utf-8"))

    def measured(self):
        """The names in the run file, without failures."""
        return {entry["name"] for entry in self.read()["benchmarks"] if not entry.get("error_occurred")}

    def failures(self):
        return {entry["name"]: entry["error_message"] for entry in self.read()["benchmarks"] if entry.get("error_occurred")}

    def entries(self):
        """By operation: the first of a benchmark has its details."""
        entries = {}
        for entry in self.read()["benchmarks"]:
            entries.setdefault(entry["name"].partition("/")[0], entry)
        return entries

    def assert_failed(self, wrong):
        """wrong: by operation, its definition and what is said of it."""
        failed = {name.partition("/")[0]: text for name, text in self.failures().items()}
        for name, (_, expected) in wrong.items():
            with self.subTest(name):
                self.assertRegex(failed.get(name, "measured"), expected)
