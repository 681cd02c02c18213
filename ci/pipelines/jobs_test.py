"""ci/run.sh and ci/pipelines/compare.sh against a fake fusegate: what they call, in which order, and their exit codes."""

import pathlib
import re
import subprocess
import unittest

from script_sandbox import Sandbox

FUSEGATE = """
case $1 in
  run) exit ${FAKE_RUN:-0} ;;
  accept) echo "${FAKE_ACCEPT:-kept} baselines/fake/smoke.json" ;;
  gate | duet) echo "the verdict"; exit ${FAKE_GATE:-0} ;;
  report) exit ${FAKE_REPORT:-0} ;;
esac
"""
# "Builds" by copying the programs that the test put beside it.
CMAKE = """
[[ ${FAKE_BUILD:-up} == broken ]] && { echo "error: expected ';'"; exit 1; }
if [[ $1 == --build ]]; then mkdir -p "$2/bin" && cp "$BUILT"/* "$2/bin/"; fi
"""


class JobTest(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        built = self.box.root.parent / "built"
        self.box.environment |= {"FUSEGATE_SETUP": "off", "BUILT": str(built)}
        self.box.fake("cmake", CMAKE)
        self.box.fake("id", "echo somebody")
        self.box.fake("fusegate", FUSEGATE, folder=built)
        self.box.fake("fusegate_bench", folder=built)

    def fusegate_calls(self):
        """The subcommands and their flags, with this run's time replaced."""
        return [re.sub(r"\d{8}T\d{6}Z", "TIME", call).replace(str(self.box.root), "ROOT")
                for call in self.box.calls() if call.startswith("fusegate ")]

    def subcommands(self):
        return [call.split()[1] for call in self.fusegate_calls()]


class Run(JobTest):
    def store(self, suite):
        """A baseline of some device's, so that the suite is not new everywhere."""
        folder = self.box.root / "baselines" / "fake"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{suite}.json").write_text("{}")

    def test_with_a_baseline_it_measures_once(self):
        self.store("smoke")
        result = self.box.run("run.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.fusegate_calls(), [
            "fusegate run --suite smoke --invocations 3 --program build/host/bin/fusegate_bench"
            " --out .fusegate/runs/TIME/first",
            "fusegate accept .fusegate/runs/TIME/first --if-missing --force --store .fusegate/baselines"
            " --who somebody --reason first local run of ci/run.sh",
            "fusegate gate --candidate .fusegate/runs/TIME/first"
            " --json .fusegate/reports/TIME/gate.json --markdown .fusegate/reports/TIME/gate.md",
            "fusegate report --candidate .fusegate/runs/TIME/first"
            " --html .fusegate/reports/TIME/report.html"])

    def test_where_nobody_has_a_baseline_it_measures_two_runs_in_turn(self):
        result = self.box.run("run.sh", FAKE_ACCEPT="recorded")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.subcommands(), ["run", "accept", "gate", "report"])
        self.assertIn("--out .fusegate/runs/TIME/first --out .fusegate/runs/TIME/second",
                      self.fusegate_calls()[0])
        self.assertIn("--candidate .fusegate/runs/TIME/second", self.fusegate_calls()[2])

    def test_where_only_others_have_a_baseline_it_records_one_and_gates_a_second_run(self):
        self.store("smoke")
        result = self.box.run("run.sh", FAKE_ACCEPT="recorded")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.subcommands(), ["run", "accept", "run", "gate", "report"])
        self.assertIn("baseline: recorded baselines/fake/smoke.json", result.stdout)
        self.assertIn("--candidate .fusegate/runs/TIME/second", self.fusegate_calls()[3])

    def test_a_required_baseline_is_never_recorded(self):
        result = self.box.run("run.sh", "--suite", "nightly", "--invocations", "5", "--require-baseline", FAKE_GATE="2")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.subcommands(), ["run", "gate", "report"])
        self.assertIn("--suite nightly --invocations 5", self.fusegate_calls()[0])

    def test_a_nightly_run_is_extended_within_its_budget_and_carries_aa_arms(self):
        self.store("nightly")
        self.box.run("run.sh", "--suite", "nightly", "--invocations", "5", "--max-invocations", "15",
                     "--budget-s", "2400", "--require-baseline")
        self.assertEqual(self.fusegate_calls()[0],
                         "fusegate run --suite nightly --invocations 5 --program build/host/bin/fusegate_bench"
                         " --out .fusegate/runs/TIME/first --max-invocations 15 --budget-s 2400 --aa")

    def test_two_runs_in_turn_and_few_invocations_have_no_aa_arms(self):
        self.box.run("run.sh", "--invocations", "4", FAKE_ACCEPT="recorded")
        self.assertNotIn("--aa", self.fusegate_calls()[0])
        self.store("smoke")
        self.box.forget_calls()
        self.box.run("run.sh", "--invocations", "3")
        self.assertNotIn("--aa", self.fusegate_calls()[0])

    def test_exits_with_the_gate_s_code(self):
        for code, expected in [("0", 0), ("1", 1), ("2", 2), ("139", 2)]:
            with self.subTest(code):
                self.assertEqual(self.box.run("run.sh", FAKE_GATE=code).returncode, expected)

    def test_a_report_that_fails_does_not_change_the_verdict(self):
        for gate in [0, 1]:
            result = self.box.run("run.sh", FAKE_GATE=str(gate), FAKE_REPORT="2")
            self.assertEqual(result.returncode, gate)
            self.assertIn("no HTML report", result.stderr)

    def test_a_build_that_fails_shows_its_log_and_is_no_regression(self):
        result = self.box.run("run.sh", FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 2)
        self.assertIn("error: expected ';'", result.stderr)
        self.assertEqual(self.fusegate_calls(), [])

    def test_a_run_that_fails_is_judged_and_never_passes_nor_becomes_a_baseline(self):
        for gate, expected in [("0", 2), ("1", 1), ("2", 2)]:
            self.box.forget_calls()
            result = self.box.run("run.sh", FAKE_RUN="2", FAKE_GATE=gate)
            self.assertEqual(result.returncode, expected)
            self.assertIn("not every process ended well", result.stderr)
            self.assertEqual(self.subcommands(), ["run", "gate", "report"])

    def test_ctrl_c_is_no_regression(self):
        self.box.fake("fusegate", 'trap "exit 2" INT; kill -INT 0; sleep 5',
                      folder=self.box.root.parent / "built")
        result = self.box.run("run.sh")
        self.assertEqual(result.returncode, 2)
        self.assertIn("interrupted", result.stderr)

    def test_a_gpu_chooses_the_release_preset(self):
        self.box.run("run.sh", FUSEGATE_GPU="on")
        self.assertIn("cmake --preset release", self.box.calls())

    def test_the_latest_report_is_linked(self):
        self.box.run("run.sh")
        self.assertTrue((self.box.root / ".fusegate" / "reports" / "latest").is_dir())

    def test_bad_arguments_stop_before_anything_is_done(self):
        for arguments in [["--suite"], ["--invocations", "0"], ["--invocations", "many"], ["--budget-s", "-1"],
                          ["--max-invocations", "x"], ["--frobnicate"]]:
            with self.subTest(arguments):
                self.assertEqual(self.box.run("run.sh", *arguments).returncode, 2)
        self.assertEqual(self.box.calls(), [])


class Compare(JobTest):
    def setUp(self):
        super().setUp()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.email", "test@example.com")
        self.git("config", "user.name", "test")
        self.commit("kernel.cc", "fast\n")
        self.commit("kernel.cc", "slow\n")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.box.root, check=True, capture_output=True,
                       env={**self.box.environment, "GIT_CONFIG_NOSYSTEM": "1"})

    def commit(self, name, text):
        (self.box.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "--quiet", "--message", text.strip())

    def base_tree(self):
        return self.box.root / "build" / "base"

    def test_measures_base_and_head_side_by_side_and_gates_the_one_by_the_other(self):
        result = self.box.run("pipelines/compare.sh", "--base", "HEAD^1", "--suite", "smoke", "--invocations", "2",
                              "--budget-s", "60")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.fusegate_calls(), [
            "fusegate duet --suite smoke --invocations 2 --budget-s 60"
            " --base ROOT/build/base/build/host/bin/fusegate_bench --head ROOT/build/host/bin/fusegate_bench"
            " --out .fusegate/runs/TIME --json .fusegate/reports/TIME/gate.json"
            " --markdown .fusegate/reports/TIME/gate.md --html .fusegate/reports/TIME/report.html"])
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "fast\n")

    def test_has_ten_minutes_unless_told_otherwise(self):
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1")
        self.assertIn("duet --suite pr --invocations 5 --budget-s 600 ", self.fusegate_calls()[0])

    def test_a_kept_base_follows_the_revision(self):
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1")
        self.commit("kernel.cc", "slower\n")
        (self.base_tree() / "kernel.cc").write_text("edited by hand\n")
        self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1").returncode, 0)
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "slow\n")

    def test_a_base_whose_tree_was_deleted_is_checked_out_again(self):
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1")
        subprocess.run(["rm", "-r", self.base_tree()], check=True)
        self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1").returncode, 0)

    def test_exits_with_the_gate_s_code(self):
        for code, expected in [("0", 0), ("1", 1), ("2", 2), ("139", 2)]:
            with self.subTest(code):
                self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1", FAKE_GATE=code).returncode, expected)

    def test_bad_arguments_stop_before_anything_is_done(self):
        for arguments in [["--budget-s", "0"], ["--budget-s"], ["--invocations", "many"]]:
            with self.subTest(arguments):
                self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1", *arguments).returncode, 2)
        self.assertEqual(self.box.calls(), [])

    def test_a_base_that_is_no_commit_stops(self):
        for base in ["nonsense", "--upload-pack=touch /tmp/x", "HEAD:kernel.cc"]:
            result = self.box.run("pipelines/compare.sh", "--base", base)
            self.assertEqual(result.returncode, 2)
            self.assertIn("names no commit", result.stderr)

    def test_without_a_base_it_stops(self):
        self.assertEqual(self.box.run("pipelines/compare.sh").returncode, 2)


class Test(JobTest):
    def test_ends_with_ctest_s_lines_and_fails_with_it(self):
        self.box.fake("ctest", 'echo "100% tests passed, 0 tests failed out of 3"; exit ${FAKE_CTEST:-0}')
        for code in [0, 8]:
            result = self.box.run("test.sh", "--preset", "asan", FAKE_CTEST=str(code))
            self.assertEqual(result.returncode, min(code, 1), result.stderr)
            self.assertEqual(result.stdout.splitlines()[-1], "100% tests passed, 0 tests failed out of 3")
        self.assertIn("ctest --preset asan --output-on-failure", self.box.calls())

    def test_a_build_that_fails_is_2(self):
        self.assertEqual(self.box.run("test.sh", FAKE_BUILD="broken").returncode, 2)


if __name__ == "__main__":
    unittest.main()
