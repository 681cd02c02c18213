"""ci/action/measure.sh, codes.sh and report.sh as action.yml calls them, with a fake fusegate: what is measured in which checkout,
the exit codes, and what is reported. And action.yml itself: what it calls, and what it hands over."""

import pathlib
import re
import subprocess
import unittest

from script_sandbox import FAKE_CODES_DIFF, Sandbox

ACTION = pathlib.Path(__file__).with_name("action.yml")
DEFAULTS = {"KERNELS": "", "BASE": "HEAD^1", "HEAD": "", "SUITE": "all", "PROCESSES": "", "FLAGS": "", "PYTHON_PATH": ".",
            "INSTALL": "", "BASELINE": ""}


class ActionTest(unittest.TestCase):
    """A checkout with two commits; kernels.py says which."""

    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.runner = self.box.root.parent / "runner"
        self.runner.mkdir()
        for name in ("output", "summary"):
            (self.runner / name).touch()
        self.box.environment |= {**DEFAULTS, "RUNNER_TEMP": str(self.runner), "GITHUB_OUTPUT": str(self.runner / "output"),
                                 "GITHUB_STEP_SUMMARY": str(self.runner / "summary")}
        self.box.fake("fusegate", "exit ${FAKE_GATE:-0}")
        self.box.fake("python3", '[[ $* != *getuserbase* ]] || echo /home/me; exit ${FAKE_PIP:-0}')
        self.git("init", "--quiet", "--initial-branch=main")
        for text in ("fast\n", "slow\n"):
            self.write("team/kernels.py", text)
            self.write("kernels.py", text)
            self.git("add", ".")
            self.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message=one more")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.box.root, check=True, capture_output=True)

    def write(self, name, text):
        path = self.box.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_in(self, folder, script, **environment):
        return subprocess.run([self.box.root / "ci" / "action" / script], cwd=self.box.root / folder, capture_output=True, text=True,
                              env={**self.box.environment, **environment}, timeout=60, check=False)


class Measure(ActionTest):
    def measure(self, folder=".", **inputs):
        return self.run_in(folder, "measure.sh", **inputs)

    def job(self):
        """The call of fusegate, with the folders' names replaced."""
        called = [call for call in self.box.calls() if call.startswith("fusegate ")]
        self.assertEqual(len(called), 1)
        return called[0].replace(str(self.box.root), "ROOT").replace(str(self.runner), "RUNNER")

    @staticmethod
    def side(folder, python_path="."):
        return f"env 'PYTHONPATH={folder}/{python_path}' fusegate_bench '{folder}/kernels.py'"

    def test_measures_a_file_of_kernels_in_the_base_and_in_the_checkout(self):
        self.assertEqual(self.measure(KERNELS="kernels.py").returncode, 0)
        self.assertEqual(self.job(), f"fusegate job --suite all --base {self.side('RUNNER/fusegate-base')}"
                                     f" --program {self.side('ROOT')}")
        self.assertEqual((self.runner / "fusegate-base" / "kernels.py").read_text(), "fast\n")

    def test_measures_two_commits_below_a_folder_with_each_side_s_own_modules(self):
        for _ in range(2):  # also where the last job left its checkouts
            self.box.forget_calls()
            ended = self.measure("team", KERNELS="kernels.py", BASE="main~1", HEAD="main", SUITE="kernels", PROCESSES="4",
                                 FLAGS="--allow 2%", PYTHON_PATH="src")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(self.job(), f"fusegate job --suite kernels --base {self.side('RUNNER/fusegate-base/team', 'src')}"
                                         f" --program {self.side('RUNNER/fusegate-head/team', 'src')} --processes 4 --allow 2%")
        self.assertEqual((self.runner / "fusegate-head" / "team" / "kernels.py").read_text(), "slow\n")

    def test_measures_new_kernels_beside_themselves(self):
        self.write("new.py", "new\n")
        ended = self.measure(KERNELS="new.py")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("HEAD^1 has no new.py", ended.stderr)
        self.assertEqual(self.job().count("fusegate_bench 'ROOT/new.py'"), 2)

    def test_measures_two_programs(self):
        self.measure(BASE="build-base/bench", HEAD="build/bench", SUITE="kernels.json")
        self.assertEqual(self.job(), "fusegate job --suite kernels.json --base build-base/bench --program build/bench")

    def test_installs_what_is_named(self):
        self.measure(KERNELS="kernels.py", INSTALL="fusegate==1.0.0")
        self.assertEqual(self.box.calls()[0], "python3 -m pip install --quiet --disable-pip-version-check fusegate==1.0.0")
        ended = self.measure(KERNELS="kernels.py", INSTALL="fusegate", FAKE_PIP="1")
        self.assertEqual((ended.returncode, ended.stderr), (2, "measure.sh: pip cannot install fusegate\n"))

    def test_ends_with_the_gate_s_code(self):
        for code, expected in ("0", 0), ("1", 1), ("2", 2), ("139", 2):
            self.assertEqual(self.measure(KERNELS="kernels.py", FAKE_GATE=code).returncode, expected)

    def test_names_what_is_not_there(self):
        for inputs, problem in (({"KERNELS": "gone.py"}, f"kernels: no file {self.box.root}/gone.py"),
                                ({"KERNELS": "kernels.py", "BASE": "HEAD~9"}, "HEAD~9 is not a commit of this checkout; .*fetch-depth")):
            ended = self.measure(**inputs)
            self.assertEqual(ended.returncode, 2)
            self.assertRegex(ended.stderr, f"^measure.sh: {problem}")
        self.assertEqual(self.box.calls(), [])


class Report(ActionTest):
    def test_collects_the_last_report_and_the_runs(self):
        for name in ("runs/1/head/1.json", "reports/1/gate.md", "reports/1/report.html"):
            self.write(f".fusegate/{name}", "the verdict\n")
        (self.box.root / ".fusegate" / "reports" / "latest").symlink_to("1")
        for _ in range(2):
            ended = self.run_in("team", "report.sh")
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        folder = self.runner / "fusegate"
        self.assertEqual((self.runner / "output").read_text(), f"folder={folder}\n" * 2)
        self.assertEqual(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()),
                         ["report/gate.md", "report/report.html", "runs/1/head/1.json"])
        self.assertEqual((self.runner / "summary").read_text(), "the verdict\n" * 2)

    def test_says_so_where_there_is_none(self):
        ended = self.run_in(".", "report.sh")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("no report is in", ended.stderr)
        self.assertEqual((self.runner / "summary").read_text(), "")


class Codes(ActionTest):
    def codes(self, gpu, code=1, folder=".", **inputs):
        self.box.fake("fusegate", FAKE_CODES_DIFF)
        return self.run_in(folder, "codes.sh", FAKE_GPU=gpu, FAKE_CODE=str(code), **{"BASE": "base/bench", "HEAD": "head/bench", **inputs})

    def output(self):
        return (self.runner / "output").read_text()

    def test_says_what_a_gpu_is_needed_for(self):
        for gpu, code in (("none", 0), ("some", 1), ("identify", 1), ("identify", 2)):
            ended = self.codes(gpu, code, BASELINE="pr.json")
            self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.output(), "gpu=none\ngpu=some\ngpu=identify\ngpu=identify\n")
        self.assertIn("fusegate codes-diff base/bench head/bench --baseline pr.json", self.box.calls()[0])

    def test_is_the_report_where_none_is_needed(self):
        self.codes("none", 0)
        self.assertEqual((self.runner / "summary").read_text(), "", "report.sh writes it")
        self.assertEqual(self.run_in(".", "report.sh").returncode, 0)
        self.assertEqual((self.runner / "fusegate" / "report" / "gate.md").read_text(), "**what changed**\n")
        self.assertEqual((self.runner / "summary").read_text(), "**what changed**\n")

    def test_stands_behind_the_verdict_where_one_is_measured(self):
        self.codes("some")
        self.assertEqual((self.run_in(".", "report.sh").stderr, list((self.runner / "fusegate").iterdir())), ("", []))
        self.write(".fusegate/reports/1/gate.md", "the verdict\n")
        (self.box.root / ".fusegate" / "reports" / "latest").symlink_to("1")
        self.run_in(".", "report.sh")
        self.assertEqual((self.runner / "fusegate" / "report" / "gate.md").read_text(), "the verdict\n\n**what changed**\n")

    def test_ends_with_2_where_it_could_not_read_the_programs(self):
        for ended in self.codes("", 2), self.codes("nonsense"), self.codes("none", 139):
            self.assertEqual(ended.returncode, 2)
        self.assertEqual(self.output(), "")


class Definition(unittest.TestCase):
    def test_hands_every_variable_to_its_script(self):
        text = ACTION.read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^        ([A-Z_]+): \$\{\{ inputs\.", text, re.MULTILINE)), set(DEFAULTS))
        scripts = re.findall(r"/(\w+\.sh)", text)
        self.assertEqual(scripts, ["codes.sh", "measure.sh", "report.sh", "comment.sh"])


if __name__ == "__main__":
    unittest.main()
