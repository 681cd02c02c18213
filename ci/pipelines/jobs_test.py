"""ci/run.sh and ci/pipelines/compare.sh, codes.sh, build_commit.sh and fuzz.sh against fakes: what they call, in which order, and their exit codes."""

import pathlib
import re
import shutil
import subprocess
import unittest

from script_sandbox import FAKE_CODES_DIFF, Sandbox

FUSEGATE = 'echo "the verdict"; exit ${FAKE_GATE:-0}'
# "Builds" by copying the programs that the test put beside it.
CMAKE = """
[[ ${FAKE_BUILD:-up} == broken ]] && { echo "error: expected ';'"; exit 1; }
if [[ $1 == --build ]]; then
  [[ ${FAKE_BUILD:-up} == killed ]] && { kill -KILL $PPID; exit; }
  sleep ${FAKE_BUILD_S:-0}
  mkdir -p "$2/bin/suites" && cp "$BUILT"/* "$2/bin/"
fi
"""


class JobTest(unittest.TestCase):
    def setUp(self):
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        built = self.box.root.parent / "built"
        self.box.environment |= {"FUSEGATE_SETUP": "off", "BUILT": str(built), "SECONDS": "1000"}
        self.box.fake("cmake", CMAKE)
        self.box.fake("fusegate", FUSEGATE, folder=built)
        self.box.fake("fusegate_bench", folder=built)

    def fusegate_calls(self):
        """With the scripts' times, which start at 1000 s here, and the checkout's path replaced."""
        return [re.sub(r"--started-s 10\d\d\b", "--started-s SECONDS", call).replace(str(self.box.root), "ROOT")
                for call in self.box.calls() if call.startswith("fusegate ")]


class Run(JobTest):
    def test_measures_with_the_given_flags(self):
        result = self.box.run("run.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.fusegate_calls(), ["fusegate job --started-s SECONDS"])
        self.box.forget_calls()
        self.box.run("run.sh", "--suite", "nightly", "--processes", "5", "--max-processes", "15",
                     "--budget-s", "2400", "--require-baseline", "--replay", "--fail-on", "host", "--allow", "2%")
        self.assertEqual(self.fusegate_calls(), [
            "fusegate job --started-s SECONDS --suite nightly --processes 5 --max-processes 15"
            " --budget-s 2400 --require-baseline --replay --fail-on host --allow 2%"])

    def test_takes_flags_by_their_former_names(self):
        self.box.run("run.sh", "--invocations", "5", "--max-invocations", "15")
        self.assertEqual(self.fusegate_calls(), ["fusegate job --started-s SECONDS --invocations 5 --max-invocations 15"])

    def test_exits_with_the_gate_s_code(self):
        for code, expected in [("0", 0), ("1", 1), ("2", 2), ("139", 2)]:
            with self.subTest(code):
                self.assertEqual(self.box.run("run.sh", FAKE_GATE=code).returncode, expected)

    def test_its_runs_become_a_night(self):
        self.box.run("run.sh")
        self.box.forget_calls()
        for run in ("today", "yesterday"):
            (self.box.root / ".fusegate" / "runs" / run).mkdir(parents=True)
        for code, expected in [("0", 0), ("2", 2)]:
            self.assertEqual(self.box.run("pipelines/add_night.sh", FAKE_GATE=code).returncode, expected)
        self.assertEqual(self.fusegate_calls(), 2 * ["fusegate history add .fusegate/runs/today .fusegate/runs/yesterday"])

    def test_changes_are_confirmed_and_undecided_ones_are_no_failure(self):
        self.box.run("run.sh")
        self.box.forget_calls()
        for code, expected in [("0", 0), ("2", 0), ("139", 2)]:
            self.assertEqual(self.box.run("pipelines/confirm.sh", FAKE_GATE=code).returncode, expected)
        self.assertEqual(self.fusegate_calls(), 3 * ["fusegate confirm --budget-s 600"])

    def test_the_pages_have_the_last_run_that_has_a_replay(self):
        self.box.run("run.sh")
        self.box.forget_calls()
        for side in ("1/head", "2/head", "2/base", "3/head"):
            (self.box.root / ".fusegate" / "runs" / side).mkdir(parents=True)
        self.assertEqual(self.box.run("pipelines/pages.sh").returncode, 0)
        self.assertEqual(self.fusegate_calls(), ["fusegate site --out .fusegate/pages --candidate .fusegate/runs/2/head "
                                                 "--baseline .fusegate/runs/2/base"])

    def test_what_it_found_is_sent_where_there_is_a_secret_and_printed_where_there_is_none(self):
        self.box.run("run.sh")
        latest = self.box.root / ".fusegate" / "reports" / "latest"
        latest.mkdir(parents=True)
        (latest / "gate.json").write_text("{}")
        gate = "fusegate notify --gate .fusegate/reports/latest/gate.json"
        for secrets, flags in (({}, "--webhook --github org/kernels"), ({"FUSEGATE_WEBHOOK_URL": "https://x"}, "--webhook --send"),
                               ({"GITHUB_TOKEN": "x"}, "--github org/kernels --send"),
                               ({"FUSEGATE_WEBHOOK_URL": "https://x", "GITHUB_TOKEN": "x"}, "--webhook --github org/kernels --send")):
            self.box.forget_calls()
            secrets = {"FUSEGATE_WEBHOOK_URL": "", "GITHUB_TOKEN": "", **secrets}
            result = self.box.run("pipelines/notify.sh", GITHUB_REPOSITORY="org/kernels", **secrets)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.fusegate_calls(), [f"{gate} {flags}"])
        (self.box.root / ".fusegate" / "history.db").touch()
        self.box.forget_calls()
        self.assertEqual(self.box.run("pipelines/notify.sh", GITHUB_REPOSITORY="org/kernels", FAKE_GATE="2").returncode, 2)
        self.assertEqual(self.fusegate_calls(), [f"{gate} --db .fusegate/history.db --webhook --github org/kernels"])

    def test_a_build_that_fails_shows_its_log_and_is_no_regression(self):
        result = self.box.run("run.sh", FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 2)
        self.assertIn("error: expected ';'", result.stderr)
        self.assertEqual(self.fusegate_calls(), [])

    def test_a_build_says_where_its_log_is_and_how_far_it_is(self):
        self.box.fake("cmake", CMAKE.replace("sleep ${FAKE_BUILD_S:-0}",
                                             """echo '[1/240] Building CXX object one.cc.o'; echo 'a warning'
  echo '[ 35%] Building CXX object two.cc.o'; printf '[240/240] Linking fusegate'"""))
        log = self.box.root / "build" / "logs" / "host-build.log"
        silent = self.box.run("run.sh")
        self.assertEqual(silent.returncode, 0, silent.stderr)
        self.assertIn("building fusegate fusegate_bench (log: build/logs/host-build.log)\n", silent.stdout)
        self.assertNotIn("240", silent.stdout, "all within ten seconds")
        ended = self.box.run("run.sh", FUSEGATE_PROGRESS_S="0")
        self.assertEqual([line[9:] for line in ended.stdout.splitlines()
                          if re.match(r"\[1\d\d\d s\]   ", line)], ["  1 of 240", "   35%", "  240 of 240"])
        self.assertEqual(log.read_text(encoding="utf-8").splitlines(),
                         ["[1/240] Building CXX object one.cc.o", "a warning",
                          "[ 35%] Building CXX object two.cc.o", "[240/240] Linking fusegate"])

    def test_ctrl_c_is_no_regression(self):
        self.box.fake("fusegate", 'trap "exit 2" INT; kill -INT 0; sleep 5',
                      folder=self.box.root.parent / "built")
        result = self.box.run("run.sh")
        self.assertEqual(result.returncode, 2)
        self.assertIn("interrupted", result.stderr)

    def test_a_gpu_chooses_the_release_preset(self):
        self.box.run("run.sh", FUSEGATE_GPU="on")
        self.assertIn("cmake --preset release -DBUILD_TESTING=OFF", self.box.calls())

    def test_bad_arguments_stop_before_anything_is_done(self):
        for arguments in [["--suite"], ["--processes", "0"], ["--budget-s", "-1"], ["--max-processes", "x"], ["--frobnicate"]]:
            with self.subTest(arguments):
                self.assertEqual(self.box.run("run.sh", *arguments).returncode, 2)
        self.assertEqual(self.box.calls(), [])


class History(JobTest):
    """A checkout with two commits."""

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.email", "test@example.com")
        self.git("config", "user.name", "test")
        self.commit("kernel.cc", "fast\n")
        self.commit("kernel.cc", "slow\n")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.box.root, check=True, capture_output=True, text=True,
                              env={**self.box.environment, "GIT_CONFIG_NOSYSTEM": "1"}).stdout.strip()

    def commit(self, name, text):
        (self.box.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "--quiet", "--message", text.strip())

    def base_tree(self):
        return self.box.root / "build" / "base"

    def program_of(self, revision):
        """As build_commit.sh names it, with the toolchain's hash replaced."""
        commit = self.git("rev-parse", revision)
        return f"ROOT/.fusegate/programs/{commit}-TOOLCHAIN/fusegate_bench"

    def named(self, text):
        return re.sub(r"(programs/[0-9a-f]{40})-[0-9a-f]{8}/", r"\1-TOOLCHAIN/", text.replace(str(self.box.root), "ROOT"))

    def stored(self):
        """The stored programs, without logs."""
        return [path.name for path in (self.box.root / ".fusegate" / "programs").iterdir() if path.suffix != ".log"]


class BuildCommit(History):
    def build(self, revision="HEAD^1", **environment):
        return self.box.run("pipelines/build_commit.sh", revision, **environment)

    def builds(self):
        return sum(call.startswith("cmake --build") for call in self.box.calls())

    def test_prints_the_path_of_the_program_alone(self):
        result = self.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.named(result.stdout), self.program_of("HEAD^1") + "\n")
        program = pathlib.Path(result.stdout.strip())
        self.assertTrue((program.parent / "suites").is_dir())
        self.assertIn("preset host", (program.parent / "toolchain").read_text())
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "fast\n")

    def test_builds_a_commit_once_for_each_toolchain(self):
        first, second = self.build(), self.build(self.git("rev-parse", "HEAD^1"))
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual(self.builds(), 1)
        self.build("HEAD")
        self.assertEqual(self.builds(), 2)
        self.box.fake("c++", "echo another compiler")
        third = self.build()
        self.assertEqual(third.returncode, 0, third.stderr)
        self.assertNotEqual(first.stdout, third.stdout)
        self.assertIn("another compiler", pathlib.Path(third.stdout.strip()).with_name("toolchain").read_text())

    def test_a_commit_that_does_not_build_names_its_log_and_leaves_nothing(self):
        result = self.build(FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        log = re.search(r"; see (.*)$", result.stderr.splitlines()[-1])[1]
        self.assertIn("error: expected ';'", pathlib.Path(log).read_text())
        self.assertEqual(self.stored(), [".lock"])

    def test_a_build_that_is_killed_leaves_nothing_that_looks_whole(self):
        self.assertEqual(self.build(FAKE_BUILD="killed").returncode, -9)
        self.assertEqual(self.stored(), [".lock"])
        self.box.fake("cp", f'[[ $* == *.unfinished ]] && kill -KILL $PPID; exec {shutil.which("cp")} "$@"')
        self.assertEqual(self.build().returncode, -9)
        self.assertEqual(set(self.stored()), {".lock", ".unfinished"})
        (self.box.bin / "cp").unlink()
        (self.box.bin / "cp").symlink_to(shutil.which("cp"))
        result = self.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(pathlib.Path(result.stdout.strip()).exists())
        self.assertNotIn(".unfinished", self.stored())

    def test_two_at_once_build_one_after_the_other(self):
        builders = [subprocess.Popen([self.box.root / "ci" / "pipelines" / "build_commit.sh", revision],
                                     env={**self.box.environment, "FAKE_BUILD_S": "1"}, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True) for revision in ["HEAD^1", "HEAD^1", "HEAD"]]
        ends = [builder.communicate(timeout=60) for builder in builders]
        self.assertEqual([builder.returncode for builder in builders], [0, 0, 0], ends)
        self.assertEqual([self.named(out).strip() for out, _ in ends],
                         [self.program_of(revision) for revision in ["HEAD^1", "HEAD^1", "HEAD"]])
        self.assertEqual(self.builds(), 2)
        self.assertIn("waiting for another build", "".join(err for _, err in ends))

    def test_asks_no_network(self):
        self.box.fake("git", f'exec {shutil.which("git")} "$@"')
        self.assertEqual(self.build().returncode, 0)
        self.assertEqual(self.build("HEAD").returncode, 0)
        calls = [call.replace(f"-C {self.base_tree()} ", "").split() for call in self.box.calls()]
        self.assertEqual({call[1] for call in calls if call[0] == "git"}, {"rev-parse", "worktree", "checkout"})

    def test_an_unknown_commit_stops(self):
        for revision in ["nonsense", "--upload-pack=touch /tmp/x", "HEAD:kernel.cc", "0" * 40]:
            result = self.build(revision)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is not a commit of this checkout", result.stderr)
        self.assertEqual(self.build("").returncode, 2)


class Compare(History):
    def test_measures_base_and_head_side_by_side_and_gates_the_one_by_the_other(self):
        result = self.box.run("pipelines/compare.sh", "--base", "HEAD^1", "--suite", "smoke", "--processes", "2",
                              "--budget-s", "60", "--fail-on", "host", "--allow", "2%", "--require-ruled-out", "3%")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([self.named(call) for call in self.fusegate_calls()], [
            "fusegate job --suite smoke --processes 2 --budget-s 60 --started-s SECONDS"
            f" --base {self.program_of('HEAD^1')} --fail-on host --allow 2% --require-ruled-out 3%"])
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "fast\n")

    def test_has_ten_minutes_by_default_and_takes_the_former_name_of_a_flag(self):
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1", FUSEGATE_GPU="on")
        self.assertIn("job --suite pr --processes 5 --budget-s 600 ", self.fusegate_calls()[0])
        self.box.forget_calls()
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1", "--suite", "pr", "--invocations", "2")
        self.assertIn("job --suite pr --processes 2 --budget-s 600 ", self.fusegate_calls()[0])

    def test_takes_a_suite_that_a_cpu_can_run_where_there_is_no_gpu_and_says_so(self):
        result = self.box.run("pipelines/compare.sh", "--base", "HEAD^1")
        self.assertIn("job --suite smoke --processes 5 --budget-s 600 ", self.fusegate_calls()[0])
        self.assertIn("without a GPU suite smoke is compared", result.stdout + result.stderr)

    def test_the_base_follows_the_revision_and_its_tree_may_be_deleted(self):
        self.box.run("pipelines/compare.sh", "--base", "HEAD^1")
        self.commit("kernel.cc", "slower\n")
        (self.base_tree() / "kernel.cc").write_text("edited by hand\n")
        self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1").returncode, 0)
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "slow\n")
        shutil.rmtree(self.base_tree())
        self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD").returncode, 0)
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "slower\n")

    def test_a_base_that_does_not_build_is_no_regression(self):
        self.box.fake("cmake", CMAKE.replace("[[", '[[ $PWD == */build/base || $2 == */build/base/* ]] && [[', 1))
        result = self.box.run("pipelines/compare.sh", "--base", "HEAD^1", FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 2)
        self.assertIn("error: expected ';'", result.stderr)
        self.assertEqual(self.fusegate_calls(), [])

    def test_bad_arguments_stop_before_anything_is_done(self):
        for arguments in [["--budget-s", "0"], ["--budget-s"], ["--processes", "many"]]:
            with self.subTest(arguments):
                self.assertEqual(self.box.run("pipelines/compare.sh", "--base", "HEAD^1", *arguments).returncode, 2)
        self.assertEqual(self.box.calls(), [])

    def test_a_base_that_is_missing_or_no_commit_stops(self):
        for base in ["nonsense", "--upload-pack=touch /tmp/x", "HEAD:kernel.cc"]:
            result = self.box.run("pipelines/compare.sh", "--base", base)
            self.assertEqual(result.returncode, 2)
            self.assertIn("names no commit", result.stderr)
        self.assertEqual(self.box.run("pipelines/compare.sh").returncode, 2)


class Codes(History):
    def setUp(self):
        super().setUp()
        built = self.box.root.parent / "built"
        self.box.fake("fusegate", FAKE_CODES_DIFF, folder=built)
        self.box.fake("nvcc")
        self.output = self.box.root.parent / "output"
        self.box.environment |= {"GITHUB_OUTPUT": str(self.output), "FAKE_GPU": "some"}

    def test_builds_both_for_a_gpu_and_compares_their_code(self):
        result = self.box.run("pipelines/codes.sh", "--base", "HEAD^1", "--baseline", "pr.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([self.named(call) for call in self.fusegate_calls()], [
            f"fusegate codes-diff {self.program_of('HEAD^1')} {self.program_of('HEAD')} --baseline pr.json"
            " --json .fusegate/codes/codes.json --markdown .fusegate/codes/gate.md"])
        self.assertEqual(self.output.read_text(), "gpu=some\n")
        configured = [call for call in self.box.calls() if call.startswith("cmake --preset")]
        self.assertEqual([call.split()[2] for call in configured], ["host", "release", "release"])

    def test_a_suite_that_changed_is_to_be_measured(self):
        self.box.run("pipelines/codes.sh", "--base", "HEAD^1", FAKE_GPU="none", FAKE_CODE="0")
        self.assertEqual(self.output.read_text(), "gpu=none\n")
        [head] = (self.box.root / ".fusegate" / "programs").glob(self.git("rev-parse", "HEAD") + "-*/suites")
        (head / "pr.json").touch()
        self.box.run("pipelines/codes.sh", "--base", "HEAD^1", FAKE_GPU="none", FAKE_CODE="0")
        self.assertEqual(self.output.read_text(), "gpu=none\ngpu=identify\n")
        self.assertIn("A suite changed", (self.box.root / ".fusegate" / "codes" / "gate.md").read_text())

    def test_what_cannot_be_built_or_compared_is_2(self):
        for environment in ({"FAKE_BUILD": "broken"}, {"FAKE_GPU": "", "FAKE_CODE": "2"}):
            self.assertEqual(self.box.run("pipelines/codes.sh", "--base", "HEAD^1", **environment).returncode, 2)
        self.assertEqual(self.box.run("pipelines/codes.sh").returncode, 2)
        (self.box.bin / "nvcc").unlink()
        if not pathlib.Path("/usr/local/cuda/bin/nvcc").exists():
            self.assertIn("no nvcc", self.box.run("pipelines/codes.sh", "--base", "HEAD^1").stderr)
        self.assertFalse(self.output.exists())


class Test(JobTest):
    def test_ends_with_ctest_s_lines_and_fails_with_it(self):
        self.box.fake("ctest", 'echo "100% tests passed, 0 tests failed out of 3"; exit ${FAKE_CTEST:-0}')
        for code in [0, 8]:
            result = self.box.run("test.sh", "--preset", "asan", FAKE_CTEST=str(code))
            self.assertEqual(result.returncode, min(code, 1), result.stderr)
            self.assertEqual(result.stdout.splitlines()[-1], "100% tests passed, 0 tests failed out of 3")
        self.assertIn("ctest --preset asan --output-on-failure", self.box.calls())

    def test_builds_tests_where_a_folder_was_made_for_measuring_alone(self):
        self.box.fake("ctest")
        self.box.run("run.sh")
        self.assertIn("cmake --preset host -DBUILD_TESTING=OFF", self.box.calls())
        (self.box.root / "build" / "host" / "CMakeCache.txt").touch()
        self.box.forget_calls()
        self.box.run("run.sh")
        self.assertIn("cmake --preset host", self.box.calls(), "as it is")
        self.box.run("test.sh", "--preset", "host")
        self.assertIn("cmake --preset host -DBUILD_TESTING=ON", self.box.calls())

    def test_a_build_that_fails_is_2(self):
        self.assertEqual(self.box.run("test.sh", FAKE_BUILD="broken").returncode, 2)


class Fuzz(JobTest):
    def setUp(self):
        super().setUp()
        for target in ("suite", "trace"):
            (self.box.root / "tests" / "fuzzing" / "testdata" / target).mkdir(parents=True)
            self.box.fake(f"fusegate_fuzz_{target}", 'echo "Done"; exit ${FAKE_FUZZ:-0}', folder=self.box.root.parent / "built")
        self.box.fake("clang++-17")

    def fuzz(self, *arguments, **environment):
        return self.box.run("pipelines/fuzz.sh", *arguments, **environment)

    def targets_run(self):
        return [call for call in self.box.calls() if call.startswith("fusegate_fuzz_")]

    def test_shares_the_time_among_all_targets(self):
        result = self.fuzz("--seconds", "61")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.targets_run(), [
            f"fusegate_fuzz_{target} -artifact_prefix=.fusegate/fuzzing/{target}- -max_len=1048576 -timeout=30 "
            f"-max_total_time=31 .fusegate/fuzzing/{target} tests/fuzzing/testdata/{target}" for target in ("suite", "trace")])

    def test_builds_by_clang_and_needs_one_that_has_libfuzzer(self):
        self.fuzz()
        self.assertIn("cmake --preset fuzz -DBUILD_TESTING=ON", self.box.calls())
        self.box.fake("clang++-17", "exit 1")
        result = self.fuzz()
        self.assertEqual(result.returncode, 2)
        self.assertIn("no clang 16 or later with libFuzzer", result.stderr)

    def test_runs_one_target_as_often_as_asked(self):
        self.fuzz("--runs", "500", "--target", "trace")
        self.assertRegex(" ".join(self.targets_run()), "^fusegate_fuzz_trace .* -runs=500 ")

    def test_ends_with_one_where_a_target_broke_and_runs_the_others(self):
        result = self.fuzz(FAKE_FUZZ="77")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(self.targets_run()), 2)

    def test_ends_with_two_where_nothing_could_be_run(self):
        self.assertEqual(self.fuzz(FAKE_BUILD="broken").returncode, 2)
        result = self.fuzz("--target", "tarce")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'tarce' is not a target; expected one of suite, trace", result.stderr)


# "Makes" a virtual environment whose programs are fakes too; of those, pip and the two that make the site may fail.
VENV_PYTHON = """
[[ $1 == -m && $2 == venv ]] || exit 0
mkdir -p "$4/bin"
cat >"$4/bin/python3" <<'INNER'
#!/bin/bash
echo "venv-python3 $*" >>"$CALLS"
[[ $* == *pip* ]] && exit ${FAKE_PIP:-0}
[[ $* == *build_pages* ]] && exit ${FAKE_PAGES:-0}
exit 0
INNER
cat >"$4/bin/mkdocs" <<'INNER'
#!/bin/bash
echo "mkdocs $*" >>"$CALLS"
[[ ${FAKE_MKDOCS:-0} == 0 ]] || { echo "WARNING - gone.md"; exit "$FAKE_MKDOCS"; }
mkdir -p "$FUSEGATE_SITE_OUT" && cp "$FUSEGATE_SITE_PAGES" "$FUSEGATE_SITE_OUT" 2>/dev/null || true
INNER
chmod +x "$4/bin"/*
"""


class Site(JobTest):
    def setUp(self):
        super().setUp()
        (self.box.root / "docs" / "site").mkdir(parents=True)
        (self.box.root / "docs" / "site" / "requirements.txt").write_text("mkdocs==1\n")
        self.box.fake("python3", VENV_PYTHON)

    def site(self, *arguments, **environment):
        return self.box.run("pipelines/site.sh", *arguments, **environment)

    def test_builds_from_the_programs_help(self):
        result = self.site("--preset", "host")
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = [call.replace(str(self.box.root), "ROOT") for call in self.box.calls()]
        self.assertTrue(any(call.startswith("cmake --build ROOT/build/host ") and call.endswith("--target fusegate_reference")
                            for call in calls), calls)
        self.assertTrue(any("--require-hashes --requirement ROOT/docs/site/requirements.txt" in call for call in calls), calls)
        self.assertEqual(calls[-2:], [
            "venv-python3 -B docs/site/build_pages.py --reference build/host/reference --out build/site/pages",
            "mkdocs build --strict --clean --config-file docs/site/mkdocs.yml"])

    def test_installs_once(self):
        for installs in (1, 0):
            self.box.forget_calls()
            self.assertEqual(self.site().returncode, 0)
            self.assertEqual(sum(" install " in call for call in self.box.calls()), installs)

    def test_ends_with_two_and_says_why(self):
        for environment, said in (({"FAKE_PIP": "1"}, "is PyPI reachable?"), ({"FAKE_MKDOCS": "1"}, "WARNING - gone.md"),
                                  ({"FAKE_PAGES": "2"}, ""), ({"FAKE_BUILD": "broken"}, "error: expected ';'")):
            with self.subTest(environment):
                result = self.site(**environment)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(said, result.stderr)
        self.assertEqual(self.site("--odd").returncode, 2)
