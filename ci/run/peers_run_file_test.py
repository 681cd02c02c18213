"""`fusegate run --peers` with the real peers on a fake torch, and what the report says of them beside fusegate_bench's."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
FLAGS = ("--device=cpu", "--dtype=fp32", "--batch=1", "--seq=3", "--dim=8", "--hidden=16", "--operation=geglu_mlp",
         "--samples=4", "--layouts=2", "--idle-us=0", "--batch-us=50")


class PeersRunFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fusegate(self, *arguments):
        ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended

    def run_file(self, run):
        return json.loads((self.folder / run / "1.json").read_text(encoding="utf-8"))

    def test_peers_are_measured_by_our_suite_and_reported_beside_ours(self):
        run = self.fusegate("run", "--suite=smoke", "--processes=1", "--peers", "--out", self.folder / "ours", "--", *FLAGS)
        self.assertNotIn("leaving peers out", run.stderr)
        ours, theirs = (self.run_file(run)["context"]["fusegate"] for run in ("ours", "ours-peers"))
        for field in ("suite", "seed", "process", "protocol"):
            self.assertEqual(ours[field], theirs[field])
        # On a CPU ours compute with other numbers of threads.
        markdown = self.folder / "report.md"
        self.fusegate("report", "--candidate", self.folder / "ours", "--peers", self.folder / "ours-peers",
                      "--markdown", markdown, "--allow-environment-difference")
        text = markdown.read_text(encoding="utf-8")
        self.assertRegex(text, r"\| batch 1, seq 3, dim 8, hidden 16 \| [0-9.]+ .s \| `\w+` \| [0-9.]+ .s \| `torch_eager` \|")
        warnings = [line for line in text.splitlines() if "warning: peers" in line]
        self.assertEqual([line for line in warnings if "environment: threads" not in line], [])
