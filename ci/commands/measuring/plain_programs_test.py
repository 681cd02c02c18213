"""A program that knows only Google Benchmark's own flags, through run, duet, accept, gate, show and report."""

import json
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

PROGRAM, PLAIN = os.environ["FUSEGATE_PROGRAM"], os.environ["PLAIN_BENCHMARK"]
QUICK = "--benchmark_min_time=0.005"
BUSY = ["BM_busy/rounds:20000/manual_time", "BM_busy/rounds:40000/manual_time"]
STEADY = [f"BM_steady/{rounds}/manual_time" for rounds in (10000, 20000, 30000, 40000)]
# Of processors that others use, too.
RULE = ["--min-effect=20%", "--allow=60%"]


class PlainPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fusegate(self, *arguments, code=0, **variables):
        """Standard output and the lines of standard error."""
        ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                               cwd=self.folder, env={**os.environ, **variables})
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout, ended.stderr.splitlines()

    def run_it(self, out, *flags, code=0, processes=2, program=PLAIN, **variables):
        return self.fusegate("run", "--program", program, "--suite", "mine", "--processes", processes, "--out", out, "--", QUICK, *flags,
                             code=code, **variables)

    def names(self, out):
        entries = json.loads((self.folder / out / "1.json").read_text(encoding="utf-8"))["benchmarks"]
        return sorted({entry["name"] for entry in entries})

    def duet(self, head, code):
        return self.fusegate("duet", "--base", PLAIN, "--head", head, "--suite", "mine", "--processes=4", "--max-processes=4", "--out=d",
                             "--json=gate.json", *RULE, "--", QUICK, "--benchmark_filter=busy", code=code)

    def test_is_measured_stored_and_gated_by_what_was_stored(self):
        self.run_it("first", processes=4)
        self.assertEqual(self.names("first"), [*BUSY, *STEADY])
        stored, _ = self.fusegate("accept", "first", "--reason", "a test", "--who", "me", "--store", "store")
        self.assertIn("recorded store/unknown-device/mine.json", stored)
        gate = ("gate", "--store", "store", "--candidate")
        for out, slower, code, counted in (("same", "1", 0, "regression 0"), ("slow", "3", 1, "regression 2")):
            self.run_it(out, processes=4, PLAIN_SLOWER=slower)
            self.fusegate(*gate, out, "--json", "gate.json", *RULE, "--control", "^BM_steady/", code=code)
            gated = json.loads((self.folder / "gate.json").read_text(encoding="utf-8"))
            self.assertEqual(f"regression {gated['counts']['regression']}", counted)
        shown, _ = self.fusegate("show", "slow")
        for name in BUSY:
            self.assertRegex(shown, rf"{name} +[\d.]+ us")
        self.fusegate("report", "--candidate", "slow", "--store", "store", "--html", "report.html", "--markdown", "report.md")
        self.assertIn(BUSY[0], (self.folder / "report.md").read_text(encoding="utf-8"))

    def test_a_duet_fails_where_one_is_slower_and_passes_equal_ones(self):
        _, said = self.duet(f"env PLAIN_SLOWER=3 {PLAIN}", code=1)
        why = [line for line in said if "Google Benchmark's flags alone" in line]
        self.assertEqual(len(why), 1, said)
        self.assertFalse([line for line in said if "unrecognized" in line or "identifying" in line], said)
        slower = json.loads((self.folder / "gate.json").read_text(encoding="utf-8"))["verdicts"]
        self.assertEqual(sorted(row["benchmark"] for row in slower if row["verdict"] == "regression"), BUSY)
        subprocess.run(["rm", "-r", self.folder / "d"], check=True)
        self.duet(PLAIN, code=0)

    def test_one_that_ignores_flags_it_does_not_know_is_measured_too(self):
        self.run_it("run", PLAIN_IGNORES_FLAGS="1")
        self.assertEqual(self.names("run"), [*BUSY, *STEADY])

    def test_repetitions_are_its_samples_and_aggregates_are_passed_over(self):
        self.run_it("run", "--benchmark_repetitions=3", "--benchmark_filter=steady/1")
        self.assertEqual(len(json.loads((self.folder / "run" / "1.json").read_text(encoding="utf-8"))["benchmarks"]), 7)
        shown, _ = self.fusegate("show", "run")
        self.assertNotIn("_mean", shown)
        _, said = self.run_it("aggregates", "--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true", code=2)
        self.assertIn("has only aggregates", said[-1])

    def test_its_console_shows_progress_on_a_terminal(self):
        ours, theirs = pty.openpty()
        call = [PROGRAM, "run", "--program", PLAIN, "--suite=mine", "--processes=1", "--out=run", "--", QUICK, "--benchmark_filter=busy"]
        with open(ours, "rb", buffering=0) as terminal, subprocess.Popen(call, cwd=self.folder, stdout=subprocess.DEVNULL,
                                                                         stderr=theirs) as running:
            os.close(theirs)
            shown = b""
            try:
                while more := terminal.read(4096):
                    shown += more
            except OSError:  # what a terminal's end is
                pass
            self.assertEqual(running.wait(), 0)
        self.assertIn("process 1/1: 50 %", shown.decode())
        self.assertIn(BUSY[1], shown.decode())

    def test_progress_is_left_out_where_it_prints_none_and_the_output_is_ours(self):
        self.run_it("run", "--benchmark_format=json", "--benchmark_out=elsewhere", "--benchmark_out_format=csv")
        self.assertEqual(self.names("run"), [*BUSY, *STEADY])
        self.assertFalse((self.folder / "elsewhere").exists())

    def test_what_goes_wrong_is_a_line(self):
        for fault, flag, last in (("exit", "", "run/2.json: exit code 3: plain: the device is gone"),
                                  ("error", "", STEADY[0] + ": failed in 2 of 2 processes: no memory"),
                                  ("kill", "", "run/2.json: ended by signal 9 (Killed): " + BUSY[1]),
                                  ("nothing", "", "run/2.json: wrote no run file"),
                                  ("", "--benchmark_filter=zzz",
                                   "run/2.json: wrote no run file: Failed to match any benchmarks against regex: zzz"),
                                  ("", "--oops", f"{PLAIN}: exit code 1: {PLAIN}: error: unrecognized command-line flag: --oops")):
            with self.subTest(fault=fault, flag=flag):
                _, said = self.run_it("run", *filter(None, [flag]), code=2, PLAIN_FAULT=fault)
                self.assertTrue(said[-1].startswith("fusegate: " + last), said)
                own = [line for line in said if line.startswith("fusegate: ")]
                self.assertEqual(len(own), 1 if flag == "--oops" or fault == "error" else 2, said)
            subprocess.run(["rm", "-r", self.folder / "run"], check=True)


if __name__ == "__main__":
    unittest.main()
