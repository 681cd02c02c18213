"""Several ranks measure together on the CPU: what they record, and what becomes of the others where one goes wrong."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["FUSEGATE_BENCH_FAULTY"]
TINY = ("--device=cpu", "--dtype=fp32", "--batch=1", "--seq=4", "--dim=8", "--hidden=24", "--idle-us=0",
        "--batch-us=100", "--order=contiguous")
SHORT = ("--samples=2", "--layouts=2")
LONG = ("--samples=400", "--layouts=20")
PROBLEM = "fp32/batch:1/seq:4/dim:8/hidden:24/ranks:2"


def processes(out):
    """By process, its parent, of those that write this file."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            if f"--out={out}".encode() in status.with_name("cmdline").read_bytes():
                found[int(status.parent.name)] = int(lines["PPid"])
        except (OSError, KeyError):
            pass
    return found


class RanksProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "1.json"

    def run_ranks(self, *flags, fault="", ranks=2, implementations="gathered,faulty_rank", timeout=120):
        environment = {**os.environ, "FUSEGATE_PLANTED_RANK_FAULT": fault, "OMP_NUM_THREADS": "1"}
        result = subprocess.run(
            [PROGRAM, *TINY, *SHORT, "--operation=geglu_mlp_tp", f"--axis=ranks={ranks}", f"--implementation={implementations}",
             f"--out={self.out}", *flags], capture_output=True, text=True, timeout=timeout, check=False, env=environment)
        self.assertEqual(processes(self.out), {}, "a rank is left")
        return result

    def entries(self):
        return json.loads(self.out.read_text())["benchmarks"]

    def failures(self):
        return {entry["name"]: entry["error_message"] for entry in self.entries() if entry.get("error_occurred")}

    def measured(self):
        return {entry["name"] for entry in self.entries() if not entry.get("error_occurred")}

    def test_records_each_rank(self):
        result = self.run_ranks(fault="none")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.failures(), {})
        first = next(entry for entry in self.entries() if entry["name"] == f"geglu_mlp_tp/gathered/{PROBLEM}")
        ranks = first["details"]["ranks"]
        self.assertEqual(len(ranks), 2)
        self.assertAlmostEqual(sum(rank["last_share"] for rank in ranks), 1)
        for rank in ranks:
            self.assertGreater(rank["call_ns"], 0)
        # Every rank's text is the first's to print.
        self.assertEqual(result.stderr.count("benchmarks measured"), 1, result.stderr)

    def test_measures_more_than_two(self):
        result = self.run_ranks(fault="none", ranks=3, implementations="gathered")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.entries()[0]["details"]["ranks"]), 3)

    def test_a_benchmark_takes_the_first_ranks_that_it_needs(self):
        result = self.run_ranks("--operation=geglu_mlp", fault="none", ranks="1,2,3", implementations="gathered,unfused")
        self.assertEqual(result.returncode, 0, result.stderr)
        ranks = {}
        for entry in self.entries():
            if "stages" in entry.get("details", {}):  # a later one may have warnings
                ranks[entry["name"].split("/hidden:24")[1], entry["name"].split("/")[0]] = len(entry["details"].get("ranks", [0]))
        self.assertEqual(ranks, {("/ranks:1", "geglu_mlp_tp"): 1, ("/ranks:2", "geglu_mlp_tp"): 2, ("/ranks:3", "geglu_mlp_tp"): 3,
                                 ("", "geglu_mlp"): 3})

    def test_one_that_fails_on_few_ranks_leaves_the_others(self):
        result = self.run_ranks(fault="throw", ranks="2,3")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(self.failures()), 2)
        self.assertEqual(len(self.measured()), 2)

    def check_one_fails(self, fault, expected, *flags):
        result = self.run_ranks(*flags, fault=fault)
        self.assertEqual(result.returncode, 2, result.stderr)
        failures = self.failures()
        self.assertEqual(set(failures), {f"geglu_mlp_tp/faulty_rank/{PROBLEM}"})
        self.assertRegex(next(iter(failures.values())), expected)
        self.assertIn(f"geglu_mlp_tp/gathered/{PROBLEM}", self.measured())

    def test_a_rank_that_throws_costs_one_benchmark(self):
        self.check_one_fails("throw", "^rank 1: no algorithm for this shape$")

    def test_a_rank_that_is_wrong_costs_one_benchmark(self):
        self.check_one_fails("wrong", r"^rank 1: wrong result: .*element \[0, 0\], which is 1e\+09")

    def test_a_rank_that_dies_costs_one_benchmark(self):
        self.check_one_fails("death", "rank 1 ended with exit code 7; it was at 'preparing'")

    def test_a_rank_that_never_ends_costs_one_benchmark(self):
        self.check_one_fails("endless", "^did not end within 2 s; rank 0: .*; rank 1: a batch", "--stuck-after-s=2")

    def test_an_interrupt_ends_all_and_resume_adds_the_rest(self):
        flags = ("--operation=geglu_mlp_tp", "--axis=ranks=2", "--implementation=gathered", f"--out={self.out}")
        with subprocess.Popen([PROGRAM, *TINY, *LONG, "--progress", *flags], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            for line in program.stdout:
                if '"event":"benchmark"' in line:
                    program.send_signal(signal.SIGINT)
                    break
            _, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 2, errors)
        self.assertIn("interrupted", errors)
        time.sleep(0.2)
        self.assertEqual(processes(self.out), {})
        done = len(self.entries())
        self.assertLess(done, 400)
        result = subprocess.run([PROGRAM, *TINY, *LONG, "--resume", *flags], capture_output=True,
                                text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.entries()), 400)

    def test_resume_goes_by_the_card_of_the_rank_that_writes(self):
        flags = ("--device=fake_gpu", "--ranks=2", "--operation=geglu", "--implementation=fused", f"--out={self.out}")
        for flag in ("--force", "--resume"):
            result = subprocess.run([PROGRAM, *TINY[1:], *SHORT, *flags, flag], capture_output=True, text=True, timeout=120,
                                    check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
        cards = {rank["uuid"] for entry in self.entries() for rank in entry.get("details", {}).get("ranks", [])}
        self.assertEqual(len(cards), 2, "each rank has a card of its own")

    def test_says_where_another_number_of_ranks_is_needed(self):
        result = self.run_ranks("--ranks=1", fault="none", implementations="gathered")
        self.assertEqual(result.returncode, 2)
        self.assertIn("it needs 2 ranks, and there are 1; --ranks=2 starts as many", result.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
