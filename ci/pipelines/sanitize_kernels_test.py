"""sanitize_kernels.py with fakes of compute-sanitizer and of the test programs."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import sanitize_kernels

LISTED = """
Running main() from gtest_main.cc
Autotune.
  TakesTheFastest
Gemv.
  AgreesWithTheReferenceAroundEveryEdge
  AgreesWithTheReferenceWhereWeightsAreMany
Tiles/GatedGemmSm80.
  AgreesWithTheReferenceAroundEveryEdge/0  # GetParam() = 0
"""

PROGRAM = f"""
if [ "$1" = --gtest_list_tests ]; then printf '%s' '{LISTED}'; exit; fi
echo "few shapes: $FUSEGATE_FEW_SHAPES"; echo "[ RUN      ]"
case $1 in *Slow*) sleep 60 ;; esac
echo "[  PASSED  ] 1 test."
"""

# Runs the program, and finds something as racecheck.
SANITIZER = """
tool=$2
while [ "${1#/}" = "$1" ]; do shift; done
"$@"
case $tool in
  racecheck) echo "========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)"; exit 77 ;;
  *) echo "========= ERROR SUMMARY: 0 errors" ;;
esac
"""

EVERYTHING = ["*EveryImplementation.*/cuda", "Gemv.AgreesWithTheReferenceAroundEveryEdge",
              "Tiles/GatedGemmSm80.AgreesWithTheReferenceAroundEveryEdge/0"]


class SanitizeKernelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        self.script("kernels_test", PROGRAM)
        self.script("kernels_gpu_test", PROGRAM)
        self.script("compute-sanitizer", SANITIZER)

    def script(self, name, body):
        path = self.folder / name
        path.write_text("#!/bin/bash\n" + body)
        path.chmod(0o755)

    def run_it(self, *flags):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = sanitize_kernels.main([f"--programs={self.folder}", f"--out={self.out}",
                                          f"--sanitizer={self.folder / 'compute-sanitizer'}", *flags])
        return code, out.getvalue(), err.getvalue()

    def test_checks_every_kernel_in_few_shapes_with_each_tool(self):
        code, printed, _ = self.run_it("--tool=memcheck,initcheck,synccheck")
        self.assertEqual(code, 0, printed)
        summary = (self.out / "summary.md").read_text()
        for tool in ("memcheck", "synccheck"):
            self.assertRegex(summary, rf"\| {tool} \| 3 \| 0 \| \d+ \| 0 \|")
        self.assertRegex(summary, r"\| initcheck \| 2 \| 0 \| \d+ \| 1 \|")
        self.assertIn("- initcheck: *EveryImplementation.*/cuda: not for this tool: ", summary)
        self.assertTrue(printed.endswith(summary))
        self.assertIn("few shapes: 1", (self.out / "memcheck-00.log").read_text())
        self.assertEqual([line.split(": ")[1] for line in printed.splitlines()[:3]], EVERYTHING)

    def test_checks_the_tests_that_are_named(self):
        code, printed, _ = self.run_it("--tool=memcheck", "--tests=Gemv|Tiles/")
        self.assertEqual(code, 0, printed)
        self.assertNotIn("EveryImplementation", printed)
        self.assertIn("| memcheck | 2 | 0 |", printed)

    def test_names_what_a_tool_finds_and_fails(self):
        code, _, _ = self.run_it("--tool=racecheck")
        self.assertEqual(code, 1)
        summary = (self.out / "summary.md").read_text()
        self.assertRegex(summary, r"\| racecheck \| 3 \| 9 \| \d+ \| 0 \|")
        self.assertIn("- racecheck: *EveryImplementation.*/cuda: 3 found\n", summary)

    def test_names_a_failure_of_the_tool_itself_and_passes(self):
        self.script("kernels_test", "echo '========= Internal Sanitizer Error: hardware exception.'; exit 1\n")
        code, _, _ = self.run_it("--tool=memcheck")
        self.assertEqual(code, 0)
        summary = (self.out / "summary.md").read_text()
        self.assertRegex(summary, r"\| memcheck \| 2 \| 0 \| \d+ \| 1 \|")
        self.assertIn("not finished: the tool itself failed: Internal Sanitizer Error: hardware exception.", summary)

    def test_a_test_that_fails_is_a_failure(self):
        self.script("kernels_test", PROGRAM + "exit 3\n")
        self.script("compute-sanitizer", 'while [ "${1#/}" = "$1" ]; do shift; done\n"$@" || exit\n'
                                         "echo 'ERROR SUMMARY: 0 errors'")
        code, _, _ = self.run_it("--tool=memcheck")
        self.assertEqual(code, 1)
        self.assertIn("EveryImplementation.*/cuda: failed with exit code 3", (self.out / "summary.md").read_text())

    def test_names_tests_beyond_the_time_limit_and_passes(self):
        self.script("kernels_gpu_test", PROGRAM.replace("*Slow*", "*Gemv*"))
        code, _, _ = self.run_it("--tool=memcheck", "--limit-s=6")
        self.assertEqual(code, 0)
        summary = (self.out / "summary.md").read_text()
        self.assertRegex(summary, r"\| memcheck \| 1 \| 0 \| \d+ \| 2 \|")
        self.assertRegex(summary, r"- memcheck: Gemv\.\S+: not finished in \d+ s")
        self.assertIn("EveryEdge/0: not begun: the time was up", summary)

    def test_ends_with_2_if_nothing_can_be_checked(self):
        for name in ("kernels_test", "kernels_gpu_test"):
            self.script(name, PROGRAM.replace("[  PASSED  ] 1 test.", "Skipped\nno GPU\n[  SKIPPED ] 1 test"))
        code, printed, _ = self.run_it("--tool=memcheck")
        self.assertEqual(code, 2)
        self.assertIn("skipped: no GPU", printed)
        self.script("compute-sanitizer", "echo '========= Error: no driver'")
        code, printed, _ = self.run_it("--tool=memcheck")
        self.assertEqual(code, 2)
        self.assertIn("not started: Error: no driver", printed)
        (self.folder / "kernels_test").unlink()
        self.assertEqual(self.run_it()[0], 2)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            sanitize_kernels.main(["--tool=valgrind"])


if __name__ == "__main__":
    unittest.main()
