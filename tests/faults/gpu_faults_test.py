"""gpu_faults.py on a GPU that is none: every fault is in the record and in the gate's answer."""

import contextlib
import io
import os
import pathlib
import unittest

import gpu_faults

PROGRAMS = pathlib.Path(os.environ["FUSEGATE_BIN"]).resolve()


def run(*flags):
    """The exit code, the table's rows and the mismatches."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = gpu_faults.main([f"--programs={PROGRAMS}", "--device=fake_gpu", *flags])
    return code, out.getvalue().splitlines()[2:], err.getvalue()


class GpuFaultsTest(unittest.TestCase):
    def test_every_fault_is_recorded_and_judged_as_it_should_be(self):
        code, rows, mismatches = run()
        self.assertEqual((code, mismatches), (0, ""), rows)
        self.assertEqual(len(rows), len(gpu_faults.FAULTS) - 1, "no program takes a GPU that is none")
        by_fault = {row.split(" | ")[0].strip("| "): row for row in rows}
        self.assertIn("| 2: Could not judge: geglu/planted_fault/", by_fault["a kernel never ends"])
        self.assertIn("| `gpu_lost` | - | 0: ", by_fault["the card vanishes between samples"])
        self.assertIn("environment.power_limit_w", by_fault["the power cap is lowered between two processes"])
        self.assertIn("the environments differ in mig", rows[-1])

    def test_a_row_that_is_not_as_it_should_be_is_a_failure(self):
        fault = next(f for f in gpu_faults.FAULTS if f.name == "xid")
        wrong = gpu_faults.mismatches(fault, {"throttled"}, {"no memory"}, False, 1, set())
        self.assertEqual(wrong, ["lacks the warning xid", "something failed", "the other benchmarks were not measured",
                                 "the gate's exit code is 1"])
        with self.assertRaisesRegex(SystemExit, "no such fault on fake_gpu: other"):
            run("--only=other")


if __name__ == "__main__":
    unittest.main()
