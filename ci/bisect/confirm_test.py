"""fusegate confirm from end to end: nights that show a change, the commits around it built and measured, and what is kept."""

import datetime
import json
import math
import random
import subprocess
import unittest

from repository import FUSEGATE, NAME, RepositoryTest

BUILD = ("--build", "sh build.sh", "--program", "out/bench")


class Confirm(RepositoryTest):
    def fusegate(self, *arguments, code=0):
        ended = subprocess.run([FUSEGATE, *arguments], cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout

    def nights(self, commits, slower):
        """Twenty nights of the first commit and ten of the last, whose figures are slower by that share. Returns the id of the
        change that is found."""
        generator = random.Random(1)
        lines = []
        for night in range(30):
            after = night >= 20
            benchmarks = []
            for name in (NAME, *(f"other/b{i}" for i in range(12))):
                moved = math.log1p(slower) if after and name == NAME else 0
                benchmarks.append({"name": name, "processes": 5, "log_equal_clock": 9 + moved + generator.gauss(0, 5e-4),
                                   "process_variance": 1e-7, "ns": 10000.0,
                                   "identity": "0b" if after and name == NAME else "0a"})
            date = datetime.datetime(2026, 1, 1, 3, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=night)
            lines.append(json.dumps({"fusegate_night": 1, "session": f"night-{night}", "date": date.isoformat(),
                                     "commit": commits[1] if after else commits[0], "device": "NVIDIA H200", "card": "GPU-1",
                                     "machine": "one", "driver": "580", "suite": "smoke", "method": "aa", "benchmarks": benchmarks}))
        (self.root.parent / "nights.jsonl").write_text("\n".join(lines) + "\n")
        printed = self.fusegate("history", "import", str(self.root.parent / "nights.jsonl"))
        [change] = [line for line in printed.splitlines() if line.startswith("change ")]
        self.assertIn(f": {NAME} by +", change)
        self.assertIn("since night-20, code", change)
        return change.split()[1].rstrip(":")

    def confirm(self, *more, code=0):
        return self.fusegate("confirm", "--suite", "smoke", "--processes", "4", "--max-processes", "4", *BUILD, *more, code=code)

    def test_what_the_commits_show_is_confirmed_and_reported(self):
        slow = self.slower(0.03)
        self.comments()
        identity = self.nights([self.good, self.git("rev-parse", "HEAD")], 0.03)
        self.assertIn("1 change is not confirmed", self.fusegate("notify", "--db", ".fusegate/history.db"))
        printed = self.confirm()
        self.assertIn(f"{identity} {NAME}: confirmed, by {NAME} on ", printed)
        self.assertRegex(printed, r": regression, \+(2\.9|3\.0)")  # the times go by the folder's name
        self.assertRegex(self.fusegate("notify", "--db", ".fusegate/history.db"), rf"{NAME} is (2\.9|3\.0)")
        self.assertIn("no change waits", self.confirm())
        self.assertTrue(slow)
        self.fusegate("site", "--out", "pages")
        self.assertIn("confirmed", (self.root / "pages" / "index.html").read_text())

    def test_what_the_commits_do_not_show_is_refuted_and_kept(self):
        self.noise()
        identity = self.nights([self.good, self.git("rev-parse", "HEAD")], 0.03)
        self.assertIn(f"{identity} {NAME}: refuted, by {NAME} on ", self.confirm())
        self.assertIn("gone", self.fusegate("notify", "--db", ".fusegate/history.db"))

    def test_what_does_not_build_stays_unconfirmed(self):
        broken = self.commit("break the build", "broken")
        self.nights([self.good, broken], 0.03)
        self.assertIn("not confirmed: --bad: commit ", self.confirm(code=2))
        self.assertIn("1 change is not confirmed", self.fusegate("notify", "--db", ".fusegate/history.db"))


if __name__ == "__main__":
    unittest.main()
