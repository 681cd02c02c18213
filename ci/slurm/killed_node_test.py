"""A sweep of the CPU on a private Slurm, of which a node is killed in the middle: nothing that was measured is lost, and the
verdict is that of one machine."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import virtual_cluster

if virtual_cluster.missing():
    print(f"skipped: no {virtual_cluster.missing()}; Debian and Ubuntu have it in slurm-wlm and munge")
    sys.exit(77)

FUSEGATE, BENCH = os.environ["FUSEGATE_PROGRAM"], os.environ["FUSEGATE_BENCH"]
LIMIT_S = 240  # of the test, below that of ctest
PROCESSES = 4
CPU = ("--", "--device=cpu")
SLOW = "geglu/fused/fp32/batch:8/seq:32/dim:256/hidden:1024"
SHAPE = {"dtype": ["fp32"], "batch": [1, 8], "seq": [32], "dim": [256], "hidden": [1024]}
SUITE = {"name": "small", "protocol": {"samples": 6, "batch_us": 1000, "idle_us": 2000, "layouts": 6},
         "gate": {"cpu": {"min_effect": 0.5, "allow": 0.9}},
         "sweeps": [{"operations": ["linear", "geglu", "geglu_mlp", "swiglu"], **SHAPE}]}
# fusegate_bench, of which one benchmark takes twenty times as long: more than other work on this machine does.
SLOWED = f"""#!{sys.executable}
import json, pathlib, subprocess, sys
code = subprocess.run(["{BENCH}", *sys.argv[1:]]).returncode
out = next((pathlib.Path(flag[6:]) for flag in sys.argv if flag.startswith("--out=")), None)
if out and out.exists():
    run = json.loads(out.read_text())
    for entry in run["benchmarks"]:
        if entry["name"].startswith("{SLOW}"):
            entry["real_time"] *= 20
    out.with_suffix(".part").write_text(json.dumps(run))
    out.with_suffix(".part").rename(out)
sys.exit(code)
"""


class KilledNode(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.end = time.monotonic() + LIMIT_S
        (self.folder / "cluster").mkdir()
        self.cluster = virtual_cluster.VirtualCluster(self.folder / "cluster")
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        (self.folder / "small.json").write_text(json.dumps(SUITE))
        (self.folder / "slowed").write_text(SLOWED)
        (self.folder / "slowed").chmod(0o755)

    def fusegate(self, *arguments, code=0):
        ended = subprocess.run([FUSEGATE, *arguments], cwd=self.folder, env=self.cluster.environment, capture_output=True, text=True,
                               timeout=LIMIT_S, check=False)
        if code is not None:
            self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr + self.cluster.logs())
        return ended.stdout + ended.stderr

    def submit(self, *flags, code=0):
        return self.fusegate("slurm", "submit", "--plan", "plan.json", "--out", "sweep", *flags, "--", "run", "--processes",
                             str(PROCESSES), "--program", str(self.folder / "slowed"), *CPU, code=code)

    def status(self):
        """By shard: its state, its processes and its task."""
        text = self.fusegate("slurm", "status", "sweep", code=None)
        rows = re.findall(r"^ +(\d+)  (.*?)  +(-|\d+ of \d+)  (\S+)$", text, re.MULTILINE)
        self.assertEqual(len(rows), 3, text)
        return {int(shard): (state, processes, task) for shard, state, processes, task in rows}

    def wait_for(self, is_so, what):
        while True:
            shards = self.status()
            if is_so(shards):
                return shards
            failed = {shard: row for shard, row in shards.items() if row[0].startswith(("failed", "stopped", "ended"))}
            self.assertFalse(failed, f"while waiting until {what}:\n{self.cluster.logs()}")
            self.assertLess(time.monotonic(), self.end, f"{what}: {shards}\n{self.cluster.logs()}")
            time.sleep(0.3)

    def record(self, shard):
        return json.loads((self.folder / "sweep" / f"shard-{shard}" / "run.json").read_text())

    def whole(self, shard):
        """The run files of its processes that came to their end."""
        folder = self.folder / "sweep" / f"shard-{shard}"
        return {process["file"]: (folder / process["file"]).read_bytes() for process in self.record(shard)["processes"]
                if process["failure"] == ""}

    def kill_a_node(self):
        """In the middle of a shard. Returns the shard and what was measured of it."""
        is_amid = lambda row: row[0].startswith("running on ") and row[1] not in ("-", f"0 of {PROCESSES}", f"{PROCESSES} of {PROCESSES}")
        shards = self.wait_for(lambda shards: any(map(is_amid, shards.values())), "a shard has measured a part")
        shard = next(shard for shard, row in shards.items() if is_amid(row))
        self.cluster.kill_node(shards[shard][0].removeprefix("running on "))
        return shard, self.whole(shard), shards[shard][2]

    def cancel_and_submit_again(self, job):
        self.cluster.ask("scancel", f"{job}_3")
        end = time.monotonic() + 60
        # Of a task that had not started, Slurm forgets.
        while self.status()[3][0] not in ("failed: CANCELLED", "not started"):
            self.assertLess(time.monotonic(), end, self.status())
            time.sleep(0.2)
        self.assertRegex(self.submit(), r"job \d+: shard 3 of 3\n")

    def join(self, out):
        """The same samples as one machine would have left them: each process has all benchmarks."""
        (self.folder / out).mkdir()
        record = self.record(1)
        record["shard"] = None
        (self.folder / out / "run.json").write_text(json.dumps(record))
        for process in record["processes"]:
            runs = [json.loads((self.folder / "sweep" / f"shard-{shard}" / process["file"]).read_text()) for shard in (1, 2, 3)]
            runs[0]["benchmarks"] = [entry for run in runs for entry in run["benchmarks"]]
            (self.folder / out / process["file"]).write_text(json.dumps(runs[0]))

    def verdicts(self, candidate):
        """By benchmark, with the effect."""
        self.fusegate("gate", "--baseline", "base", "--candidate", candidate, "--json", "gate.json", code=1)
        verdicts = json.loads((self.folder / "gate.json").read_text())["verdicts"]
        return {verdict["benchmark"]: (verdict["verdict"], verdict["effect"]) for verdict in verdicts}

    def test_a_killed_node_loses_nothing(self):
        self.fusegate("plan", "--suite", "small.json", "--shards", "3", "--out", "plan.json", *CPU)
        self.assertIn("sbatch: --partition none: refuses the job: ", self.submit("--partition", "none", code=2))
        job = re.search(r"job (\d+): shards 1-3 of 3\n", self.submit())[1]
        self.assertRegex(self.submit(), "nothing to submit: 0 of 3 shards finished, ")
        self.cancel_and_submit_again(job)
        shard, before, task = self.kill_a_node()

        # Slurm puts it back for two minutes; nobody waits for that here.
        self.wait_for(lambda shards: shards[shard][0].startswith("pending"), f"shard {shard} waits again")
        self.cluster.ask("scontrol", "update", f"JobId={task}", "StartTime=now")
        self.wait_for(lambda shards: all(row[0] == "finished" for row in shards.values()), "all have finished")
        self.assertIn("Restarts=1", self.cluster.ask("scontrol", "show", "job", task))
        for number in (1, 2, 3):
            self.assertEqual(len(self.whole(number)), PROCESSES)
            self.assertEqual(len(self.record(number)["processes"]), PROCESSES)
        after = self.whole(shard)
        self.assertTrue(before)
        self.assertEqual({file: after[file] for file in before}, before)

        self.assertIn(f"{3 * PROCESSES} processes", self.fusegate("slurm", "collect", "sweep", "--out", "merged"))
        self.fusegate("run", "--suite", "small.json", "--processes", str(PROCESSES), "--out", "base", *CPU)
        self.join("one-machine")
        verdicts = self.verdicts("merged")
        self.assertEqual(verdicts[SLOW][0], "regression")
        self.assertEqual(verdicts, self.verdicts("one-machine"))


if __name__ == "__main__":
    unittest.main()
