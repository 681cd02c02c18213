"""fusegate_bench as a program, on the CPU: flags, run files, failures and exit codes."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
FAULTY = pathlib.Path(sys.argv.pop(1)).resolve()

TINY = ["--device=cpu", "--batch=1", "--seq=4", "--dim=16", "--hidden=24", "--dtype=fp32",
        "--samples=4", "--places=2", "--batch-us=50", "--idle-us=0"]


def run(*flags, program=PROGRAM):
    return subprocess.run([program, *flags], capture_output=True, text=True, timeout=120, check=False)


def has_gpu():
    return run("--device=cuda", "--environment").returncode == 0


def failures(run_file):
    return {entry["name"].split("/")[1]: entry["error_message"]
            for entry in run_file["benchmarks"] if entry.get("error_occurred")}


def names(run_file):
    return sorted({entry["name"] for entry in run_file["benchmarks"]})


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.out = pathlib.Path(self._folder.name) / "run" / "1.json"

    def read(self):
        return json.loads(self.out.read_text())

    def test_writes_google_benchmark_json(self):
        result = run(*TINY, "--operation=geglu_mlp", f"--out={self.out}", "--invocation=3", "--seed=5")
        self.assertEqual(result.returncode, 0, result.stderr)
        run_file = self.read()
        self.assertEqual(names(run_file),
                         [f"geglu_mlp/{name}/fp32/batch:1/seq:4/dim:16/hidden:24"
                          for name in ("fused_epilogue", "unfused")])
        self.assertEqual(len(run_file["benchmarks"]), 2 * 4, "an entry a sample")
        fusegate = run_file["context"]["fusegate"]
        self.assertTrue(fusegate["finished"])
        self.assertEqual((fusegate["invocation"], fusegate["seed"]), (3, 5))
        self.assertIn("device", fusegate["environment"])
        entry = next(e for e in run_file["benchmarks"] if "unfused" in e["name"])
        self.assertEqual(entry["kernel_launches"], 5)
        self.assertEqual(entry["flops"], 3 * 2 * 4 * 16 * 24 + 10 * 4 * 24)
        self.assertEqual([s["name"] for s in entry["details"]["stages"]],
                         ["gate_proj", "up_proj", "gelu", "mul", "down_proj"])
        for entry in run_file["benchmarks"]:
            self.assertGreater(entry["real_time"], 0)
            self.assertEqual(entry["time_unit"], "ns")

    def test_reports_progress_in_lines(self):
        result = run(*TINY, "--operation=geglu", "--progress", f"--out={self.out}")
        events = [json.loads(line.removeprefix("@fusegate "))
                  for line in result.stdout.splitlines() if line.startswith("@fusegate ")]
        self.assertEqual(events[0], {"event": "start", "total": 2})
        self.assertEqual([event["index"] for event in events[1:]], [1, 2])
        self.assertGreater(events[1]["time_ns"], 0)

    def test_google_benchmarks_flags_work(self):
        listed = run(*TINY, "--benchmark_list_tests")
        self.assertEqual(listed.returncode, 0)
        self.assertIn("linear/addmm/fp32/batch:1/seq:4/dim:16/hidden:24", listed.stdout)
        own = pathlib.Path(self._folder.name) / "own.json"
        result = run(*TINY, "--benchmark_filter=linear/addmm", "--benchmark_repetitions=3",
                     f"--benchmark_out={own}", f"--out={self.out}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.read()["benchmarks"]), 3)
        self.assertEqual(len(names(self.read())), 1)
        self.assertGreater(len(json.loads(own.read_text())["benchmarks"]), 0)

    def test_min_time_takes_more_batches_a_sample(self):
        result = run(*TINY, "--benchmark_filter=geglu/fused", "--benchmark_min_time=0.05",
                     f"--out={self.out}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(len(self.read()["benchmarks"]), 4)

    def test_prints_its_environment(self):
        result = run("--device=cpu", "--environment")
        self.assertEqual(result.returncode, 0)
        facts = json.loads(result.stdout)
        self.assertEqual(facts["device_kind"], "cpu")
        self.assertIn("onednn", facts["environment"])

    def test_bad_input_is_one_line_and_exit_2(self):
        broken = pathlib.Path(self._folder.name) / "broken.json"
        broken.write_text('{"name": "broken", "sweeps": [')
        for flags, expected in [
                (["--batch=0"], "batch[0]"),
                (["--batch=1", "--implementation=magic"], "unknown name 'magic'"),
                (["--suite=weekly"], "no such suite"),
                ([f"--suite={broken}"], "broken.json"),
                (["--no-such-flag"], "--no-such-flag"),
                (["--benchmark_no_such_flag=1"], "--benchmark_no_such_flag"),
                (["--device=tpu"], "tpu"),
                (["--batch=x"], "batch"),
                (["--device=cpu", "--batch=1", "--dtype=fp16"], "fp16"),
                ([*TINY, "--out=/proc/no/such/folder/1.json"], "/proc/no")]:
            with self.subTest(flags=flags):
                result = run(*flags)
                self.assertEqual(result.returncode, 2)
                self.assertIn(expected, result.stderr)
                errors = [line for line in result.stderr.splitlines() if "left out" not in line]
                self.assertEqual(len(errors), 1, result.stderr)

    def test_one_failure_does_not_take_the_others_with_it(self):
        # 2^22 x 2^22 floats fit no machine.
        huge = 2**22
        axes = {"operations": ["geglu"], "implementations": ["fused"], "dtype": ["fp32"],
                "batch": [1], "dim": [16]}
        suite = pathlib.Path(self._folder.name) / "mixed.json"
        suite.write_text(json.dumps({"name": "mixed", "sweeps": [
            {**axes, "seq": [huge], "hidden": [huge]}, {**axes, "seq": [4], "hidden": [24]}]}))
        result = run("--device=cpu", f"--suite={suite}", "--samples=2", "--idle-us=0",
                     f"--out={self.out}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("GB", result.stderr)
        failed = [e["name"] for e in self.read()["benchmarks"] if e.get("error_occurred")]
        self.assertEqual(failed, [f"geglu/fused/fp32/batch:1/seq:{huge}/dim:16/hidden:{huge}"])
        self.assertIn("geglu/fused/fp32/batch:1/seq:4/dim:16/hidden:24", names(self.read()))

    def test_kernels_that_go_wrong_are_named_and_never_timed(self):
        result = run(*TINY, "--operation=geglu", f"--out={self.out}", program=FAULTY)
        self.assertEqual(result.returncode, 2)
        failed = failures(self.read())
        self.assertEqual(sorted(failed), ["faulty_later", "faulty_result", "faulty_throw"])
        self.assertIn("no memory left", failed["faulty_later"])
        self.assertIn("wrong result", failed["faulty_result"])
        self.assertIn("no algorithm", failed["faulty_throw"])
        for name in ("fused", "unfused"):
            self.assertIn(f"geglu/{name}/fp32/batch:1/seq:4/dim:16/hidden:24", names(self.read()))

    @unittest.skipUnless(has_gpu(), "this machine has no GPU")
    def test_a_broken_cuda_context_costs_one_benchmark(self):
        flags = ["--device=cuda", *[f for f in TINY if "device" not in f and "dtype" not in f],
                 "--dtype=bf16", "--operation=geglu", f"--out={self.out}"]
        result = run(*flags, program=FAULTY)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(list(failures(self.read())), ["faulty_address"])
        self.assertIn("llegal", failures(self.read())["faulty_address"])
        for name in ("fused", "unfused"):
            self.assertIn(f"geglu/{name}/bf16/batch:1/seq:4/dim:16/hidden:24", names(self.read()))
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_an_interrupt_keeps_what_was_measured(self):
        slow = [flag for flag in TINY if not flag.startswith("--idle-us")] + ["--idle-us=100000"]
        with subprocess.Popen([PROGRAM, *slow, "--progress", f"--out={self.out}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if '"event":"benchmark"' in line:
                    break
            time.sleep(0.25)  # two samples or three into the next benchmark
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertLess(time.monotonic() - began, 10)
        self.assertIn("interrupted", errors)
        self.assertEqual(len(names(self.read())), 1)
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])

    def test_resume_measures_what_is_missing(self):
        run(*TINY, "--benchmark_filter=geglu/fused", f"--out={self.out}")
        before = self.read()["benchmarks"]
        result = run(*TINY, "--operation=geglu", f"--out={self.out}", "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.read()["benchmarks"][:len(before)], before)
        self.assertEqual(len(names(self.read())), 2)


if __name__ == "__main__":
    unittest.main()
