"""The workflows and the action are valid, zizmor finds nothing (.github/zizmor.yml), and each check can fail."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = ROOT / "ci" / "starting" / "template"
ACTION = ROOT / "ci" / "action" / "action.yml"
# That wait for a review of a fork's pull request.
REVIEWED = [ROOT / ".github" / "workflows" / "pull-request.yml",
            TEMPLATES / "cpp" / ".github" / "workflows" / "pull-request.yml.template"]
CHECK_JSONSCHEMA = pathlib.Path(sys.prefix) / "bin" / "check-jsonschema"
ZIZMOR = pathlib.Path(sys.prefix) / "bin" / "zizmor"

if not CHECK_JSONSCHEMA.exists():
    print("skipped: no build/venv with check-jsonschema; ci/setup.sh makes it where PyPI is in reach")
    sys.exit(77)

from ruamel.yaml import YAML  # noqa: E402 (a dependency of check-jsonschema)


def parse(text):
    return YAML(typ="safe").load(text)


def steps(path):
    parsed = parse(path.read_text())
    jobs = parsed.get("jobs", {"": parsed.get("runs")})  # of a workflow, or an action's own
    return [(name, step) for name, job in jobs.items() for step in job["steps"]]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def check_schema(paths, kind="workflows"):
    return run(CHECK_JSONSCHEMA, "--builtin-schema", f"vendor.github-{kind}", *paths)


def zizmor(*paths):
    """What it is sure enough of to say so by default, as "name: why" each. Without asking GitHub anything."""
    with tempfile.TemporaryDirectory() as home:  # it crashes where a user has none
        result = run(ZIZMOR, "--offline", "--config", ROOT / ".github" / "zizmor.yml", "--no-progress", "--format=json", *paths,
                     env={**os.environ, "HOME": home})
    if not result.stdout:
        raise RuntimeError(result.stderr)
    return [f"{found['ident']}: {found['desc']}" for found in json.loads(result.stdout)]


def shellcheck(script):
    return run("shellcheck", "--shell=bash", "-", input=script)


class Workflows(unittest.TestCase):
    """Ours, and those that `fusegate init` writes."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.all = list(WORKFLOWS)
        for template in TEMPLATES.glob("*/.github/workflows/*.yml.template"):
            cls.all.append(pathlib.Path(folder.name) / template.stem)
            cls.all[-1].write_text(template.read_text())

    def test_there_are_some(self):
        self.assertEqual([path.name for path in WORKFLOWS],
                         ["checks.yml", "nightly.yml", "pull-request-comment.yml", "pull-request.yml"])
        self.assertEqual(len(self.all), 8)

    def test_fit_the_schema(self):
        for result in check_schema(self.all), check_schema([ACTION], "actions"):
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_zizmor_finds_nothing(self):
        self.assertEqual(zizmor(*self.all, ACTION), [])

    def test_scripts_pass_shellcheck(self):
        for path in [*self.all, ACTION]:
            for name, step in steps(path):
                with self.subTest(path, job=name, step=step.get("name")):
                    result = shellcheck(step.get("run", ":"))
                    self.assertEqual(result.returncode, 0, result.stdout)

    def test_call_only_scripts_that_exist(self):
        for path in WORKFLOWS:
            for _, step in steps(path):
                command = step.get("run", "").split(" ")[0].strip()
                if "/" in command:
                    with self.subTest(path.name, command=command):
                        self.assertTrue(os.access(ROOT / command, os.X_OK))

    def test_call_our_action_by_inputs_that_it_has(self):
        inputs, calls = parse(ACTION.read_text())["inputs"], 0
        for path in self.all:
            for _, step in steps(path):
                if step.get("uses", "").startswith("./"):
                    calls += 1
                    self.assertIn(step["uses"], ("./ci/action", "./.github/fusegate/action"))
                    self.assertLessEqual(set(step.get("with", {})), set(inputs), path.name)
        self.assertEqual(calls, 6)

    def test_a_replay_has_the_history_that_it_builds_from(self):
        replays = 0
        for path in WORKFLOWS:
            for job in parse(path.read_text())["jobs"].values():
                if any("--replay" in step.get("run", "") for step in job["steps"]):
                    replays += 1
                    depths = [step["with"].get("fetch-depth") for step in job["steps"]
                              if step.get("uses", "").startswith("actions/checkout@")]
                    self.assertEqual(depths, [0], path.name)
        self.assertEqual(replays, 1)


class Documentation(unittest.TestCase):
    """The pipelines of docs/in-ci.md and docs/codes.md."""

    def test_fits_each_service_s_schema(self):
        blocks = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "in-ci.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 3)
        blocks += re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "codes.md").read_text(), re.MULTILINE | re.DOTALL)
        for schema, block in zip(["vendor.github-workflows", "vendor.gitlab-ci", "vendor.buildkite", "vendor.github-workflows"], blocks, strict=True):
            with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                file.write(block)
                file.flush()
                result = run(CHECK_JSONSCHEMA, "--builtin-schema", schema, file.name)
                self.assertEqual(result.returncode, 0, f"{schema}: {result.stdout}")
        job = parse(blocks[1])["kernels"]
        for script in "\n".join(job["script"] + job["after_script"]), parse(blocks[2])["steps"][0]["command"].replace("$$", "$"):
            self.assertEqual(shellcheck(script).stdout, "")


class TheReviewedCommit(unittest.TestCase):
    """The step that compares the checkout with what a review was of, run in a merge of two commits."""

    def step(self, workflow):
        return [step["run"] for _, step in steps(workflow) if step.get("name") == "Refuse what was not reviewed"]

    def test_is_the_one_that_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*words):
                result = run("git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", *words)
                self.assertEqual(result.returncode, 0, result.stderr)
                return result.stdout.strip()

            git("init", "--quiet", "--initial-branch=main")
            git("commit", "--quiet", "--allow-empty", "--message=base")
            git("checkout", "--quiet", "-b", "head")
            git("commit", "--quiet", "--allow-empty", "--message=reviewed")
            reviewed = git("rev-parse", "HEAD")
            git("checkout", "--quiet", "main")
            git("merge", "--quiet", "--no-ff", "--message=merge", "head")
            base = git("rev-parse", "HEAD^1")
            for workflow in REVIEWED:
                for script in self.step(workflow):
                    for commit, code in (reviewed, 0), (base, 2):
                        ended = run("bash", "-e", "-c", script, cwd=folder, env={**os.environ, "REVIEWED": commit})
                        self.assertEqual(ended.returncode, code, workflow)

    def test_is_compared_in_every_job_on_our_runners(self):
        self.assertEqual([len(self.step(workflow)) for workflow in REVIEWED], [3, 1])

    def test_is_the_one_whose_action_runs(self):
        for workflow in REVIEWED:
            conditions = [step["if"] for _, step in steps(workflow) if step.get("uses", "").startswith("./")]
            self.assertEqual(set(conditions), {"${{ !cancelled() && steps.reviewed.outcome == 'success' }}"})


class TheGate(unittest.TestCase):
    """The check that is required: green where what was measured passed, and where nothing had to be."""

    def setUp(self):
        self.jobs = parse(REVIEWED[0].read_text())["jobs"]

    def passes(self, **results):
        with tempfile.NamedTemporaryFile() as summary:
            ended = run("bash", "-e", "-c", self.jobs["gate"]["steps"][0]["run"], env={
                **os.environ, "GITHUB_STEP_SUMMARY": summary.name, "CODES": "success", "TEST": "success", "GPU": "some",
                "MEASURE": "success", **results})
        return ended.returncode == 0

    def test_passes_where_all_passed_or_no_gpu_was_needed(self):
        self.assertTrue(self.passes())
        self.assertTrue(self.passes(GPU="none", MEASURE="skipped"))
        for results in ({"MEASURE": "failure"}, {"MEASURE": "cancelled"}, {"MEASURE": "skipped"}, {"GPU": "", "MEASURE": "skipped"},
                        {"CODES": "failure", "GPU": "none", "MEASURE": "skipped"}, {"TEST": "failure"}, {"TEST": "skipped"}):
            self.assertFalse(self.passes(**results), results)

    def test_has_another_name_in_a_review_that_asks_for_nothing(self):
        gate = self.jobs["gate"]
        self.assertEqual(gate["name"], "${{ needs.codes.result == 'skipped' && 'not asked for' || 'gate' }}")
        self.assertEqual(gate["if"], "${{ always() && needs.codes.result != 'skipped' }}")
        self.assertEqual(gate["needs"], ["codes", "test", "measure"])

    def test_measures_wherever_the_machine_code_does_not_say_that_none_is_needed(self):
        condition = " ".join(self.jobs["codes"]["if"].split())
        self.assertEqual(" ".join(self.jobs["measure"]["if"].split()), f"needs.codes.outputs.gpu != 'none' && ( {condition})")
        self.assertEqual(" ".join(self.jobs["test"]["if"].split()), condition)


def spoiled(name, good, bad):
    """A copy of one of our workflows, or of the action, with one change."""
    text = (ACTION if name == ACTION.name else ROOT / ".github" / "workflows" / name).read_text()
    assert good in text, f"{name} no longer holds {good!r}"
    return text.replace(good, bad)


# One change each, and zizmor's name for the flaw.
SPOILED = [
    ("pull-request.yml", "  pull_request:\n", "  pull_request_target:\n", "dangerous-triggers"),
    ("nightly.yml", "permissions:\n  contents: read\n", "", "excessive-permissions"),
    ("checks.yml", "permissions:\n  contents: read\n", "permissions: write-all\n", "excessive-permissions"),
    ("checks.yml", "permissions:\n  contents: read\n", "permissions: read-all\n", "excessive-permissions"),
    ("checks.yml", "  contents: read\n", "  contents: write\n", "excessive-permissions"),
    ("nightly.yml", "run: ci/run.sh", "run: ci/run.sh ${{ github.event.head_commit.message }}", "template-injection"),
    ("nightly.yml", "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd", "actions/checkout@v6", "unpinned-uses"),
    ("nightly.yml", "actions/cache/save@27d5ce7f107fe9357f9df03efb73ab90386fccae", "actions/cache/save@v5",
     "unpinned-uses"),
    ("nightly.yml", "actions/checkout@", "somebody/checkout@", "forbidden-uses"),
    ("action.yml", "actions/upload-artifact@", "somebody/upload-artifact@", "forbidden-uses"),
    ("action.yml", "/comment.sh \"$VERDICT\"", "/comment.sh ${{ inputs.base }}", "template-injection"),
    ("checks.yml", "          persist-credentials: false\n", "          clean: true\n", "artipacked"),
    ("pull-request-comment.yml", "# zizmor: ignore[dangerous-triggers]", "#", "dangerous-triggers"),
]


class TheChecksCanFail(unittest.TestCase):
    def test_zizmor_names_each_flaw(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, good, bad, words in SPOILED:
                with self.subTest(name, bad=bad):
                    path = pathlib.Path(folder) / name
                    path.write_text(spoiled(name, good, bad))
                    found = zizmor(path)
                    self.assertTrue(any(line.startswith(words) for line in found), found)

    def test_schema_refuses_a_bad_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.yml"
            bad.write_text(spoiled("checks.yml", "runs-on:", "runs-at:"))
            self.assertNotEqual(check_schema([bad]).returncode, 0)

    def test_shellcheck_refuses_a_bad_script(self):
        self.assertNotEqual(shellcheck('rm -rf $1/*\n').returncode, 0)
