"""Checks our files against docs/schema: stored ones, those that the programs write now, and broken ones.

Also checks that every property of a schema is in some file, and that enums have the names of the code. Without the package
jsonschema it exits with 77, which ctest shows as skipped; ci/setup.sh installs it.
"""

import collections
import copy
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    from schemas import SUFFIX, Schemas
except ImportError as error:
    print(f"no jsonschema for this Python: {error}", file=sys.stderr)
    sys.exit(77)

import jsonschema  # noqa: E402: only where it is

PROGRAM, BENCH, FAULTY = (os.environ[name] for name in ("FUSEGATE_PROGRAM", "FUSEGATE_BENCH", "FUSEGATE_BENCH_FAULTY"))
BASELINES = ROOT / "baselines"

sys.path.insert(0, str(ROOT / "ci" / "bisect"))
from repository import Repository  # noqa: E402: a folder of ours

PYTHON_KERNELS = """
import fusegate
scale = fusegate.Operation("scale", axes={"heads": [4], "kv": [16]}, dtypes=["fp32"], arrays="numpy",
                           inputs=lambda p: {"x": fusegate.uniform(p.heads, p.kv)}, reference=lambda x: 2 * x, flops=64)
scale.benchmark("right")(lambda x: 2 * x)
scale.benchmark("wrong")(lambda x: 3 * x)
"""

# Only on some machines, or only on a GPU.
MAY_BE_UNSEEN = {"run-file#fusegate.machine.cpu_governor", "run-file#entry.memory_operations", "run-file#details.notes",
                 "run-file#rank.uuid", "run-file#rank.profile", "run-file#rank.expectation"}
# Names of before, which readers know, and of which no stored file is left; and new ones, which no stored file has.
MAY_BE_UNSEEN |= {"suite.compared_with", "suite.benchmarks", "run-file#fusegate.invocation", "run-file#entry.invocation", "suite.protocol.places",
                  "calibration.runs.processes", "baseline#profile.processes", "run-file#fusegate.doubts", "run-file#fusegate.libraries",
                  "baseline.across_ranks"}
# What calibrations of before drew: how many slowed benchmarks are found.
MAY_BE_UNSEEN |= {f"calibration#drawn.{key}" for key in (
    "detection.slowdown", "detection.found", "detection.found.from_20_us", "detection.found.from_3_to_20_us",
    "detection.found.below_3_us", "detection.outside")}


def stored_documents():
    """The schema's name, the document's source, and the document."""
    for path in sorted((ROOT / "bench" / "suites").glob("*.json")):
        yield "suite", path.name, json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "bench" / "models").glob("*.json")):
        yield "model", path.name, json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(BASELINES.rglob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if name := schema_of(document):
            yield name, str(path.relative_to(ROOT)), document
    with tarfile.open(BASELINES / "testdata" / "h200-cards.tar.xz") as archive:
        for member in archive:
            yield "baseline", member.name, json.load(archive.extractfile(member))
    # A seed of the fuzzers: entries of a GPU, in a cut context.
    seed = json.loads((ROOT / "tests/fuzzing/testdata/run_file/fusegate.json").read_text(encoding="utf-8"))
    yield "run-file", "entries of a GPU", {"benchmarks": seed["benchmarks"]}


def schema_of(document):
    """The schema's name, by the document's keys, as our readers recognise it; None for files of other programs."""
    marks = {"fusegate_baseline": "baseline", "fusegate_calibration": "calibration", "context": "run-file"}
    return next((name for mark, name in marks.items() if mark in document), None)


class Fresh:
    """Files that the programs write now: on the CPU, on a GPU if there is one, and on a fake one; and the gate's files for runs
    that are made from these, with everything that a report can have."""

    # As `fusegate run --aa` writes it into a run folder.
    AA = {"benchmarks": 10, "called": ["linear/addmm/fp32/batch:1"], "processes_a_side": 3, "comparisons": 1, "comparisons_with_alarm": 1}

    MODEL = {"name": "small", "layers": 2, "calls": [{"operation": "linear", "dim": 16, "hidden": 24}]}

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.run_files = [self.measured("cpu.json", "--device=cpu", "--dtype=fp32", "--suite=smoke"), *self.on_fake_gpus(),
                          self.measured("ranks.json", "--device=cpu", "--dtype=fp32", "--axis=ranks=2", operation="geglu_mlp_tp"),
                          self.by_the_package(),
                          self.measured("training.json", "--device=cpu", "--dtype=fp32", operation="geglu_mlp_training")]
        if subprocess.run([BENCH, "--device=cuda", "--environment"], capture_output=True, check=False).returncode == 0:
            self.run_files.append(self.measured("cuda.json", "--device=cuda", "--dtype=bf16", "--energy-ms=10"))
        self.first = json.loads((self.folder / "cpu.json").read_text(encoding="utf-8"))
        self.make_runs()
        self.fusegate("calibrate", "--run", self.folder / "base", "--run", self.folder / "same", "--suite", "made",
                      "--store", self.folder / "store", "--side", 2)
        self.accept_of_other_tools()
        self.verdicts = list(self.gates())
        self.bisections = list(self.bisect())

    def measured(self, name, *flags, program=BENCH, operation="linear,geglu,control_copy", env=None):
        # After a failed benchmark it exits with 2, and the file is still complete.
        ended = subprocess.run([program, f"--operation={operation}", "--batch=1", "--seq=4,5", "--dim=16", "--hidden=24", "--samples=4",
                                "--layouts=2", "--idle-us=0", "--batch-us=50", f"--out={self.folder / name}", *flags],
                               capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **(env or {})})
        if ended.returncode not in (0, 2) or not (self.folder / name).exists():
            raise AssertionError(f"{program} {flags} ended with {ended.returncode}: {ended.stderr}")
        return name

    def on_fake_gpus(self):
        env = {"LD_LIBRARY_PATH": os.environ["FUSEGATE_FAKE_NVML_FOLDER"]}
        # 20 W, by a counter that moves every 50 ms.
        nvml = ",".join(["clock_reasons=32", *(f"energy_mj={1000 * move}@{0.05 * move:g}" for move in range(200))])
        for name, fault, energy in (("memory.json", "memory", "--energy-ms=20"), ("healthy.json", "", "--energy-ms=0")):
            yield self.measured(name, "--device=fake_gpu", "--dtype=fp32", energy, program=FAULTY, operation="geglu",
                                env={**env, "FUSEGATE_PLANTED_FAULT": fault, "FUSEGATE_FAKE_NVML": nvml})

    def by_the_package(self):
        """Two benchmarks of bench/python, one of which fails, of a suite with all settings of the gate."""
        (self.folder / "kernels.py").write_text(PYTHON_KERNELS, encoding="utf-8")
        (self.folder / "package-suite.json").write_text(json.dumps({
            "name": "package", "gate": {"cpu": Suites.WHOLE["gate"]["cpu"]}, "benchmarks": Suites.WHOLE["benchmarks"],
            "sweeps": [{"operations": ["scale"]}, {"models": ["small.json"], "rows": [4, 5]}]}), encoding="utf-8")
        (self.folder / "small.json").write_text(json.dumps({"name": "small", "layers": 2, "calls": [
            {"operation": "scale", "rows": "heads", "kv": 16, "per_layer": 2}]}), encoding="utf-8")
        ended = subprocess.run([sys.executable, "-m", "fusegate.bench", "kernels.py", "--suite=package-suite.json", "--samples=4",
                                "--batch-us=50", "--out=package.json"], cwd=self.folder, capture_output=True, text=True, check=False,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "bench" / "python")})
        if ended.returncode != 2 or "wrong result" not in ended.stderr:
            raise AssertionError(f"fusegate.bench ended with {ended.returncode}: {ended.stderr}")
        return "package.json"

    def make_run(self, folder, factor=lambda process, row: 1.0, **environment):
        """Six processes of the first file's benchmarks, with times that are multiplied by factor(process, row). Benchmarks are
        sorted by name, controls first: the file's order is random, and a control never has a regression."""
        # Two runs must not have the same times.
        names, phase = sorted({entry["name"] for entry in self.first["benchmarks"]}), len(list(self.folder.iterdir()))
        for process in range(6):
            made = copy.deepcopy(self.first)
            made["context"]["fusegate"] |= {"process": process + 1, "process_id": process + 1}
            made["context"]["fusegate"]["warnings"] = []
            made["context"]["fusegate"]["provenance"] |= {"dirty": False, "settings": {"^linear/": {"weight": 2}}, "models": [self.MODEL]}
            made["context"]["fusegate"]["environment"] |= environment
            for sample, entry in enumerate(made["benchmarks"]):
                row = names.index(entry["name"]) - len(names)
                steady = 1 + 0.0001 * ((process * 3 + sample + phase) % 11)
                entry |= {"real_time": 1000.0 * -row * factor(process, row) * steady, "sm_clock_hz": 2e9,
                          "host_ns": 9000.0 * factor(process, row) * steady, "host_graph_ns": 3000.0 * steady, "process": process + 1}
                if folder == "odd":
                    entry["memory_bytes"] *= 2
                if row == -1 and "details" in entry and folder == "same":
                    entry["details"]["expectation"] = {"met": False, "parts": [
                        {"part": "calls", "met": False, "expected": "1 kernel", "seen": "2 kernels"}]}
            path = self.folder / folder / f"{process + 1}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(made), encoding="utf-8")
        (self.folder / folder / "run.json").write_text(json.dumps({"aa": self.AA}), encoding="utf-8")
        return self.folder / folder

    def make_runs(self):
        self.make_run("base")
        self.make_run("same")
        for name in ("slower", "as_slow"):
            self.make_run(name, lambda process, row: 1.25 if row == -1 else 1)
        self.accept("slower")
        self.make_run("two_modes", lambda process, row: 1.3 if row == -2 and process % 2 else 1)
        self.make_uneven_run()
        self.make_run("odd", lambda process, row: 1.5 if process == 0 else 1)
        self.make_run("elsewhere", threads="64")
        for path in self.make_run("fewer").glob("[1-6].json"):
            made = json.loads(path.read_text(encoding="utf-8"))
            last = max(entry["name"] for entry in made["benchmarks"])
            made["benchmarks"] = [entry for entry in made["benchmarks"] if entry["name"] != last]
            path.write_text(json.dumps(made), encoding="utf-8")

    def make_uneven_run(self):
        """One benchmark is missing in a process, and one failed."""
        for path in sorted(self.make_run("uneven").glob("[1-6].json")):
            made = json.loads(path.read_text(encoding="utf-8"))
            names = sorted({entry["name"] for entry in made["benchmarks"]})
            made["benchmarks"] = [entry for entry in made["benchmarks"]
                                  if entry["name"] != names[1] and (entry["name"] != names[0] or path.stem != "1")]
            made["benchmarks"].append({"name": names[1], "run_type": "iteration", "error_occurred": True, "error_message": "no memory"})
            path.write_text(json.dumps(made), encoding="utf-8")
        self.fusegate("accept", "uneven", "--reason", "a test", "--who", "me", "--suite", "uneven", "--store", "store", "--force")

    def accept(self, run):
        """Accepts the run after another one, which becomes the anchor."""
        for each in ("base", run):
            self.fusegate("accept", each, "--reason", "a test", "--who", "me", "--suite", "made", "--store", self.folder / "store", "--force")

    def accept_of_other_tools(self):
        for tool, base in (("nvbench", "nvbench/axes/base"), ("pytest-benchmark", "pytest-benchmark/base")):
            with tarfile.open(BASELINES / "formats" / "testdata" / f"{tool}.tar.xz") as archive:
                archive.extractall(self.folder)
            self.fusegate("accept", base, "--reason", "a test", "--who", "me", "--suite", "others", "--store", "store")
        self.make_plain_run("plain")
        self.fusegate("accept", "plain", "--reason", "a test", "--who", "me", "--suite", "plain", "--store", "store")

    def make_plain_run(self, folder):
        """A run of a plain Google Benchmark program, with a key of its own."""
        (self.folder / folder).mkdir()
        for process in range(4):
            entries = [{"name": "BM_copy", "run_name": "BM_copy", "run_type": "iteration", "iterations": 1000, "time_unit": "ns",
                        "repetition_index": k, "real_time": 1000 + process + 0.1 * k, "cpu_time": 1000 + process} for k in range(5)]
            (self.folder / folder / f"{process + 1}.json").write_text(json.dumps(
                {"context": {"num_cpus": 2, "mhz_per_cpu": 3000, "branch": "main"}, "benchmarks": entries}), encoding="utf-8")

    def gates(self):
        with tarfile.open(BASELINES / "testdata" / "h200-cards.tar.xz") as archive:
            for name in ("four.json", "68eb3ff9.json", "68eb3ff9-slowed.json"):
                (self.folder / name).write_bytes(archive.extractfile(name).read())
        stored = next((self.folder / "store").rglob("made.json"))
        for name, baseline, candidate, *flags in (
                ("unmet", "base", "same"), ("modes", "two_modes", "base"), ("odd", "base", "odd"), ("creep", stored, "as_slow"),
                ("host", "base", "slower", "--fail-on", "host"),
                ("differences", "base", "elsewhere", "--allow-environment-difference"),
                ("replay", "elsewhere", "same", "--replay-of", stored, "--allow-environment-difference"),
                ("cards", BASELINES / "nvidia-h200" / "pr.json", "68eb3ff9-slowed.json"),
                ("kernels", "68eb3ff9.json", "68eb3ff9-slowed.json"), ("uneven", "base", "uneven"), ("nothing", "missing", "base"),
                ("faster", "slower", "base"), ("more", "fewer", "base"), ("fewer", "base", "fewer"), ("elsewhere", "base", "elsewhere")):
            self.fusegate("gate", "--json", f"{name}.gate.json", "--baseline", baseline, "--candidate", candidate, *flags, codes=(0, 1, 2))
            yield f"{name}.gate.json"
        self.fusegate("acknowledge", "host.gate.json", "--all", "--reason", "a test", "--until", "2999-12-31", "--who", "me",
                      "--link", "https://example.org/7", "--accepted", "accepted.json")
        self.fusegate("gate", "--json", "accepted.gate.json", "--baseline", "base", "--candidate", "slower", "--accepted", "accepted.json",
                      "--filter", ".")
        yield "accepted.gate.json"

    def bisect(self):
        """One that finds the commit, or one that did not build, and one that knows no such revision."""
        repository = Repository()
        (self.folder / "bisect").mkdir()
        repository.create(self.folder / "bisect")
        repository.noise()
        repository.commit("break the build", "broken")
        repository.slower(0.05)
        for name, good, code in (("found", None, 0), ("unknown", "v9", 2)):
            ended = repository.run_command(good=good)
            if ended.returncode != code:
                raise AssertionError(f"bisect ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
            (self.folder / f"{name}.bisection.json").write_text(json.dumps(repository.result()), encoding="utf-8")
            yield f"{name}.bisection.json"

    def fusegate(self, *arguments, codes=(0,)):
        ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False, cwd=self.folder)
        if ended.returncode not in codes:
            raise AssertionError(f"{arguments} ended with {ended.returncode}: {ended.stdout}{ended.stderr}")

    def codes(self):
        """Of fat binaries beside a program, a cubin of which another kernel was taken, and what differs, beside a stored baseline."""
        cubins = ROOT / "tests" / "fuzzing" / "testdata" / "codes"
        self.fusegate("codes", PROGRAM, cubins / "zstd.fatbin", "--out", "codes.json")
        self.fusegate("codes", cubins / "ptx.fatbin", cubins / "one.cubin", "--out", "other.codes.json")
        codes = json.loads((self.folder / "codes.json").read_text(encoding="utf-8"))
        codes["kernels"][0] |= {"hash": "0123456789abcdef", "registers": 99}
        codes["host"][".text"] = "0123456789abcdef"
        (self.folder / "changed.codes.json").write_text(json.dumps(codes), encoding="utf-8")
        self.fusegate("codes-diff", "codes.json", "changed.codes.json", "--json", "codes-diff.json",
                      "--baseline", BASELINES / "nvidia-h200" / "pr.json", codes=(1,))
        self.fusegate("codes-diff", "codes.json", "other.codes.json", "--json", "other.codes-diff.json", codes=(2,))
        return {"codes": ["codes.json", "other.codes.json"], "codes-diff": ["codes-diff.json", "other.codes-diff.json"]}

    def plans(self):
        self.fusegate("plan", "--suite", "pr", "--shards", 3, "--from", BASELINES / "nvidia-h200" / "pr.json", "--out", "plan.json")
        return ["plan.json"]

    def documents(self):
        store = self.folder / "store"
        for name, paths in {"run-file": self.run_files, "verdicts": self.verdicts, "bisection": self.bisections, "accepted": ["accepted.json"],
                            **self.codes(), "plan": self.plans(),
                            "baseline": [*store.rglob("made.json"), *store.rglob("uneven.json"), *store.rglob("others.json"),
                                         *store.rglob("plain.json"),
                                         *store.rglob("*.anchor.json")],
                            "calibration": [*store.rglob("*.calibration.json")]}.items():
            if not paths:
                raise AssertionError(f"no {name} was written")
            for path in paths:
                yield name, str(path), json.loads((self.folder / path).read_text(encoding="utf-8"))
        for night in map(json.loads, self.exported_nights()):
            yield "night", night["session"], night

    def exported_nights(self):
        """Of a session with a replay, of a file with energy, of a stored baseline, and one that names all that it can."""
        both = self.folder / "both"
        for name, run in (("base", "base"), ("head", "slower")):
            shutil.copytree(self.folder / run, both / name)
            (both / name / "run.json").write_text(json.dumps({
                "schema_version": 1, "suite": "made", "programs": [], "program": "", "flags": [], "session": "one", "planned_processes": 6,
                "processes": [], "started": "", "ended": "", "finished": True}), encoding="utf-8")
        stored = BASELINES / "nvidia-h200" / "nightly.json"
        named = {"fusegate_night": 1, "session": "named", "date": "2026-11-21T02:53:32Z", "parent": "0123456789ab", "program": "5d0e",
                 "benchmarks": [{"name": "a", "processes": 5, "choices": {"up_proj": "algo 6"}}]}
        (self.folder / "named.jsonl").write_text(json.dumps(named) + "\n", encoding="utf-8")
        self.fusegate("history", "import", both, "memory.json", stored, "named.jsonl", "--db", "history.db")
        ended = subprocess.run([PROGRAM, "export", "--format", "nights", "history.db"], capture_output=True, text=True, check=True, cwd=self.folder)
        return ended.stdout.splitlines()


@functools.lru_cache(maxsize=None)
def all_documents():
    with tempfile.TemporaryDirectory() as folder:
        return [*stored_documents(), ("suite", "with every key", Suites.WHOLE), ("suite", "written before", Suites.BEFORE),
                *Fresh(folder).documents()]


@functools.lru_cache(maxsize=None)
def checked():
    """Schemas after they checked every document, and the errors by schema's name and document's source."""
    schemas = Schemas()
    return schemas, {(name, source): schemas.errors(name, document) for name, source, document in all_documents()}


def names_in(path, pattern):
    names = re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"))
    if not names:
        raise AssertionError(f"{path} has nothing like {pattern}")
    return sorted(names)


class OurFiles(unittest.TestCase):
    maxDiff = None
    schemas = Schemas()

    def test_the_schemas_are_schemas(self):
        self.assertEqual(sorted(self.schemas.schemas), ["accepted", "baseline", "bisection", "calibration", "codes", "codes-diff", "common", "model", "night", "plan", "run-file", "suite",
                                                        "verdicts"])
        for name, schema in self.schemas.schemas.items():
            with self.subTest(name=name):
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertTrue(schema["description"])

    def test_every_file_is_as_its_schema_says(self):
        _, found = checked()
        for (_, source), errors in found.items():
            with self.subTest(source=source):
                self.assertEqual(errors, [])
        counts = collections.Counter(name for name, _ in found)
        self.assertEqual(set(counts) | {"common"}, set(self.schemas.schemas))
        self.assertGreater(min(counts["baseline"], counts["run-file"]), 12, counts)

    def test_every_property_of_a_schema_is_in_some_file(self):
        schemas, _ = checked()
        properties = dict(schemas.properties())
        self.assertLessEqual(MAY_BE_UNSEEN, set(properties))
        self.assertEqual([path for path, key in properties.items() if key not in schemas.used and path not in MAY_BE_UNSEEN], [])

    def test_the_names_are_those_of_the_code(self):
        common, verdicts = self.schemas.schemas["common"]["$defs"], self.schemas.schemas["verdicts"]["$defs"]
        self.assertEqual(sorted(common["warning"]["enum"]),
                         names_in("baselines/record/warning.cc", r'WarningText\{\s*Warning::k\w+,\s*"(\w+)"'))
        kinds = names_in("baselines/comparing/verdict.cc", r'VerdictKind::k\w+, "(\w+)"')
        self.assertEqual(sorted(verdicts["verdict"]["properties"]["verdict"]["enum"]), kinds)
        bisection = self.schemas.schemas["bisection"]["$defs"]
        self.assertEqual(sorted(bisection["duet"]["properties"]["verdict"]["enum"]), kinds)
        self.assertEqual(sorted(bisection["step"]["properties"]["decision"]["enum"]),
                         names_in("ci/bisect/steps.cc", r'case Decision::k\w+:\s*return "([\w ]+)"'))
        self.assertEqual(sorted(verdicts["host_change"]["properties"]["verdict"]["enum"]),
                         names_in("baselines/comparing/host_times.cc", r'"(\w*(?:slower|faster))"'))
        self.assertEqual(sorted(verdicts["kernel_diff"]["properties"]["cause"]["enum"]),
                         names_in("baselines/gating/kernel_diff.cc", r'KernelCause::k\w+, "(\w+)"'))
        causes = {*verdicts["kernel_diff"]["properties"]["cause"]["enum"], "identical_code", "choices", None}
        self.assertEqual(set(verdicts["verdict"]["properties"]["cause"]["enum"]), causes)

    def test_other_programs_can_use_them(self):
        """By path, as an editor or check-jsonschema does."""
        checked = subprocess.run([sys.executable, "-m", "check_jsonschema", "--schemafile", str(ROOT / "docs" / "schema" / f"baseline{SUFFIX}"),
                                  BASELINES / "nvidia-h200" / "pr.json"], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


def keys_of_verdicts(schema):
    """Of each key of gate.json its type, its values where these are listed, and whether it is always there."""
    required = set(schema["else"]["required"])
    for path, member, always in members_in(schema, "", required):
        shape = member.get("type") or member.get("$ref") or [one.get("type") or one["$ref"] for one in member["oneOf"]]
        yield path, {"type": shape, "always": always, **({"values": member["enum"]} if "enum" in member else {})}


def members_in(node, path, required=()):
    """The path, the schema and the being required of each property in it."""
    required = required or node.get("required", ())
    for name, member in node.get("properties", {}).items():
        yield f"{path}{name}", member, name in required
    for inner_path, inner in [*((f"{path}{name}.", member) for name, member in node.get("properties", {}).items()), (path, node.get("items")),
                              *((path, one) for one in node.get("oneOf", ())), *((f"#{name}.", one) for name, one in node.get("$defs", {}).items())]:
        if inner:
            yield from members_in(inner, inner_path)


class Verdicts(unittest.TestCase):
    """The promise of docs/verdicts.md: within a version no key of gate.json goes, and none changes."""

    schema = Schemas().schemas["verdicts"]

    def test_no_key_of_the_version_is_gone_or_changed(self):
        version = self.schema["properties"]["fusegate_verdicts"]["const"]
        path = pathlib.Path(__file__).with_name(f"verdicts-{version}.keys.json")
        promised, now = json.loads(path.read_text(encoding="utf-8")), dict(keys_of_verdicts(self.schema))
        self.assertGreater(len(promised), 150)
        for key, was in promised.items():
            with self.subTest(key=key):
                self.assertTrue(key in now, "a key may go with a new version alone")
                self.assertLessEqual(set(map(str, was.pop("values", ()))), set(map(str, now[key].pop("values", ()))))
                self.assertEqual(now[key], was)
        self.assertEqual(sorted(set(now) - set(promised)), [], f"add what is new to {path.name}: it stays")

    def test_every_key_is_described(self):
        self.assertEqual([path for path, member, _ in members_in(self.schema, "") if not member.get("description")], [])

    def test_all_sorts_of_verdicts_are_checked(self):
        gates = [document for name, _, document in all_documents() if name == "verdicts"]
        rows = [row for gate in gates for row in gate["verdicts"]]
        properties = self.schema["$defs"]["verdict"]["properties"]
        self.assertEqual({row["verdict"] for row in rows}, set(properties["verdict"]["enum"]))
        self.assertEqual({row["code"] for row in rows}, set(properties["code"]["enum"]))
        self.assertEqual({gate["exit_code"] for gate in gates}, {0, 1, 2})
        # That a control moved is in ci/gate/gate_json_test.cc.
        self.assertEqual({gate["next"]["action"] for gate in gates} | {"check_machine"}, set(properties["next"]["enum"]))

    def test_causes_and_actions_are_those_of_the_code(self):
        texts = (ROOT / "ci/gate/gate_headline.cc").read_text(encoding="utf-8")
        self.assertEqual(sorted(self.schema["properties"]["causes"]["items"]["enum"]), sorted(re.findall(r'GateCause::k\w+,\s*"(\w+)"', texts)))
        self.assertEqual(sorted(self.schema["$defs"]["verdict"]["properties"]["next"]["enum"]),
                         names_in("ci/gate/verdict_text.h", r'NextStep k\w+\{\s*"(\w+)"'))


def changed(document, path, value):
    """A copy with the member at the path replaced; None removes it."""
    copied = copy.deepcopy(document)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copied


class BrokenFiles(unittest.TestCase):
    schemas = Schemas()

    def document(self, name, source=""):
        return next(document for kind, path, document in all_documents() if kind == name and source in path)

    def refused(self, name, document, *cases):
        self.assertEqual(self.schemas.errors(name, document), [])
        for path, value in cases:
            with self.subTest(path=path, value=value):
                self.assertNotEqual(self.schemas.errors(name, changed(document, path, value)), [])

    def test_run_files(self):
        document = self.document("run-file", "cpu.json")
        context, entry = ("context", "fusegate"), ("benchmarks", 0)
        self.refused("run-file", document,
                     (("benchmarks",), None), (("benchmarks",), {}), ((*context, "schema_version"), 2), ((*context, "finished"), None),
                     ((*context, "warnings"), ["bad_luck"]), ((*context, "protocol", "regime"), "calm"), ((*context, "protocol", "odd"), 1),
                     ((*context, "environment", "device"), None), ((*context, "environment", "threads"), [1]), ((*context, "odd"), 1),
                     ((*context, "provenance", "commit"), "main"), ((*entry, "name"), None), ((*entry, "real_time"), None),
                     ((*entry, "real_time"), "1"), ((*entry, "time_unit"), "h"), ((*entry, "flops"), -1), ((*entry, "odd"), []),
                     ((*entry, "error_occurred"), True), ((*entry, "details", "odd"), 1), ((*entry, "details", "relative_error"), -1),
                     ((*entry, "details", "stages", 0, "flops"), None),
                     ((*entry, "details", "identity"), {"launches": [], "order": "0", "unknown": "x"}),
                     ((*entry, "details", "expectation"), {"met": True}))

    def test_plain_google_benchmark_is_a_run_file(self):
        self.assertEqual(self.schemas.errors("run-file", {"benchmarks": [
            {"name": "BM_x", "real_time": 1, "time_unit": "ns", "label": "x", "my_counter": 3.5},
            {"name": "BM_y", "error_occurred": True, "error_message": "no"}]}), [])

    def test_baselines(self):
        self.refused("baseline", self.document("baseline", "nvidia-h200/pr.json"),
                     (("fusegate_baseline",), 2), (("acceptance", "reason"), None), (("acceptance", "reason"), ""), (("odd",), 1),
                     (("provenance", "protocol"), {"samples": 1}), (("environment", "driver"), {}),
                     (("benchmarks", 0, "time_ns"), None), (("benchmarks", 0, "time_ns", 0), 0), (("benchmarks", 0, "clock_fit", 0), [1]),
                     (("benchmarks", 0, "host_ns"), [0]), (("benchmarks", 0, "host_graph_ns"), 3000),
                     (("benchmarks", 0, "odd"), 1), (("benchmarks", 0, "profile", "gaps_ns"), []), (("provenance", "cards"), ["one"]),
                     (("benchmarks", 0, "identity", "order"), "XYZ"))

    def test_nights(self):
        self.refused("night", self.document("night", "named"),
                     (("fusegate_night",), 2), (("session",), ""), (("session",), None), (("date",), "today"), (("odd",), 1),
                     (("benchmarks",), None), (("benchmarks", 0, "name"), None), (("benchmarks", 0, "processes"), -1),
                     (("benchmarks", 0, "ns"), "1"), (("benchmarks", 0, "odd"), 1), (("benchmarks", 0, "clock"), {"ghz": 1.9}),
                     (("benchmarks", 0, "kernels"), "a"))

    def test_calibrations_and_verdicts(self):
        self.refused("calibration", self.document("calibration", "nvidia-h200"),
                     (("fusegate_calibration",), 2), (("spread", "below_3_us"), None), (("rules", 0, "same_card", "regressions", "of"), -1),
                     (("between_card", "cards"), 1), (("odd",), 1), (("benchmarks", 0, "time_ns"), "1"))
        self.refused("verdicts", self.document("verdicts", "cards.gate.json"),
                     (("exit_code",), 3), (("verdicts", 0, "verdict"), "fine"), (("verdicts", 0, "p"), None), (("odd",), 1),
                     (("counts", "new"), None), (("kernels", 0, "cause"), "moon"), (("notes",), None), (("host_times", "compared"), None))
        self.refused("bisection", self.document("bisection", "found"),
                     (("exit_code",), 1), (("found", 0, "verdict"), "fine"), (("found", 0, "commit", "hash"), "main"), (("odd",), 1),
                     (("found", 0, "gate", "verdicts", 0, "p"), None), (("steps", 0, "decision"), "drawn"), (("whole",), None))
        self.refused("accepted", self.document("accepted"),
                     ((0, "odd"), 1), ((0, "pattern"), ""), ((0, "effect"), [0.1]), ((0, "effect", 0), -1), ((0, "reason"), ""),
                     ((0, "who"), None), ((0, "until"), "tomorrow"), ((0, "link"), "http://example.org"))
        accepted = self.document("verdicts", "accepted.gate.json")
        row = next(i for i, one in enumerate(accepted["verdicts"]) if one["accepted"])
        self.refused("verdicts", accepted, (("verdicts", row, "accepted", "state"), "fine"), (("verdicts", row, "accepted", "who"), None),
                     (("filter", "of"), None))
        self.refused("verdicts", self.document("verdicts", "host.gate.json"),
                     (("host_times", "changes", 0, "verdict"), "late"), (("host_times", "changes", 0, "launched"), "twice"),
                     (("host_times", "changes", 0, "effect"), None), (("host_times", "changes", 0, "odd"), 1))


class Suites(unittest.TestCase):
    """Suites are written by hand: the program and the schema must refuse the same ones."""

    WHOLE = {"name": "mine",
             "protocol": {"regime": "burst", "samples": 4, "batch_us": 1, "idle_us": 0, "layouts": 2, "order": "contiguous", "warm_ms": 0,
                          "spin_us": 0, "l2": "warm", "layout": "driver"},
             "gate": {"cpu": {"min_effect": 0.1, "allow": 0.2, "host": {"min_effect": 0.1, "min_us": 1}}}, "controls": ["^linear/"],
             "benchmarks": {"^linear/": {"owner": "@org/team", "min_effect": 0.1, "allow": 0.2, "weight": 2}},
             "sweeps": [{"operations": ["linear"], "batch": [1], "seq": [4], "dim": [16], "hidden": [24], "dtype": ["fp32"]}]}
    BEFORE = {**WHOLE, "protocol": {"samples": 4, "places": 2}}
    OF_MODELS = {**WHOLE, "sweeps": [{"models": ["gemma-3-1b"], "rows": [1, 8], "dtype": ["fp32"]}]}
    SWEEP = ("sweeps", 0)
    BROKEN = [(("name",), None), (("name",), "a/b"), (("name",), ""), (("sweeps",), None), (("sweeps",), []), (("odd",), 1),
              # What depends on the operations, no schema knows: that "linear" needs a size for "batch".
              ((*SWEEP, "batch"), []), ((*SWEEP, "batch"), [0]), ((*SWEEP, "batch"), ["a/b"]),
              ((*SWEEP, "batch"), [2 ** 24 + 1]), ((*SWEEP, "dtype"), ["fp3"]), ((*SWEEP, "operations"), []), ((*SWEEP, "odd"), 1),
              (("protocol", "regime"), "calm"), (("protocol", "samples"), 0), (("protocol", "batch_us"), 0),
              (("protocol", "warm_ms"), 60001), (("protocol", "spin_us"), 1000001), (("protocol", "layouts"), 1001), (("protocol", "l2"), 1),
              (("protocol", "odd"), 1), (("gate", "cpu", "min_effect"), 1), (("gate", "cpu", "odd"), 1), (("gate", "cpu"), {}),
              (("gate", "cpu", "allow"), 1), (("controls",), []), (("controls",), [""]),
              (("benchmarks",), {"": {"weight": 1}}), (("benchmarks", "^linear/"), {}), (("benchmarks", "^linear/", "owner"), "@ann @bob"),
              (("benchmarks", "^linear/", "min_effect"), 1), (("benchmarks", "^linear/", "weight"), 0), (("benchmarks", "^linear/", "odd"), 1),
              ((*SWEEP, "models"), ["gemma-3-1b"]), (SWEEP, {"models": ["gemma-3-1b"]}), (SWEEP, {"models": [], "rows": [1]}),
              (SWEEP, {"models": ["gemma-3-1b"], "rows": [0]}), (SWEEP, {"models": ["gemma-3-1b"], "rows": ["all"]}),
              (SWEEP, {"models": ["gemma-3-1b"], "rows": [1], "dim": [16]}),
              (("gate", "cpu", "host"), {}), (("gate", "cpu", "host", "min_effect"), 1), (("gate", "cpu", "host", "min_us"), -1),
              (("gate", "cpu", "host", "min_us"), 1000001), (("gate", "cpu", "host", "odd"), 1)]

    def program_takes(self, suite):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "suite.json"
            path.write_text(json.dumps(suite))
            ended = subprocess.run([BENCH, "--device=cpu", "--plan", f"--suite={path}"], capture_output=True, timeout=60, check=False)
            self.assertIn(ended.returncode, (0, 2))
            return ended.returncode == 0

    def test_the_program_and_the_schema_agree(self):
        schemas = Schemas()
        for suite in (self.WHOLE, self.BEFORE, self.OF_MODELS):
            self.assertTrue(self.program_takes(suite))
            self.assertEqual(schemas.errors("suite", suite), [])
        for path, value in self.BROKEN:
            with self.subTest(path=path, value=value):
                suite = changed(self.WHOLE, path, value)
                self.assertFalse(self.program_takes(suite))
                self.assertNotEqual(schemas.errors("suite", suite), [])


if __name__ == "__main__":
    unittest.main()
