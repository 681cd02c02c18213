"""Eager peers with a real torch on the CPU, checked as they are before they are timed. Without torch it exits with 77, which
ctest shows as skipped."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)


class EagerTest(unittest.TestCase):
    def measures(self, count, *flags):
        ended = subprocess.run(
            [sys.executable, pathlib.Path(__file__).with_name("peers.py"), "--device=cpu", "--problem=2,65,72,136",
             "--implementation=torch_eager", "--samples=1", "--layouts=1", "--idle-us=0", *flags],
            capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.count("/torch_eager/"), count)

    def test_eager_peers_agree_with_the_reference(self):
        self.measures(42, "--dtype=bf16,fp16", "--ranks=1")

    def test_ranks_agree_with_the_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "1.json"
            self.measures(4, "--dtype=bf16,fp32", "--operation=geglu_mlp_tp,swiglu_mlp_sp", f"--out={out}")
            environment = json.loads(out.read_text(encoding="utf-8"))["context"]["fusegate"]["environment"]
        self.assertEqual("nccl" in environment, "cuda" in environment)
