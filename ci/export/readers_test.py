"""What fusegate export writes, read by who is to read it: Prometheus's parser of OpenMetrics, Bencher's schema, LNT's format as it is documented.

Without the packages it exits with 77, which ctest shows as skipped; ci/setup.sh installs them. `lnt checkformat` and `lnt import` of llvm-lnt
0.4.20 take the file, and `promtool tsdb create-blocks-from openmetrics` of Prometheus 2.42; neither is installed for tests.
"""

import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError as error:
    print(f"no packages for this Python: {error}", file=sys.stderr)
    sys.exit(77)

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
BASELINES = pathlib.Path(__file__).resolve().parents[2] / "baselines"
STORED = [BASELINES / "nvidia-h200" / "pr.json", BASELINES / "nvidia-h100-80gb-hbm3" / "nightly.json"]
# https://bencher.dev/docs/reference/bencher-metric-format
BENCHER = {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object", "minProperties": 1, "additionalProperties": {
    "type": "object", "required": ["value"], "additionalProperties": False,
    "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")}}}}
TEXT = {"type": "string", "minLength": 1}
# https://llvm.org/docs/lnt/importing_data.html
LNT = {"type": "object", "required": ["format_version", "machine", "run", "tests"], "additionalProperties": False, "properties": {
    "format_version": {"const": "2"},
    "machine": {"type": "object", "required": ["name"], "additionalProperties": TEXT},
    "run": {"type": "object", "required": ["start_time", "end_time", "llvm_project_revision"], "additionalProperties": TEXT,
            "properties": {"llvm_project_revision": {"pattern": "^[0-9]{14}$"}}},
    "tests": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name", "execution_time"], "additionalProperties": False,
                                                       "properties": {"name": TEXT, "execution_time": {"type": "number"}, "hash": TEXT}}}}}
# https://github.com/benchmark-action/github-action-benchmark#examples, customSmallerIsBetter
GITHUB = {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name", "unit", "value"], "additionalProperties": False,
                                                   "properties": {"name": TEXT, "unit": {"const": "ns"}, "value": {"type": "number"},
                                                                  "range": {"type": "string", "pattern": "^± [0-9.e+-]+$"}, "extra": TEXT}}}


def exported(form, *paths):
    return subprocess.run([PROGRAM, "export", "--format", form, *map(str, paths)], capture_output=True, text=True, check=True).stdout


def stored_times(path):
    """The benchmarks' times of each process, in ns."""
    return {row["name"]: row["time_ns"] for row in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]}


def names_of_one_process_a_card(path):
    """Benchmarks without an interval: nothing shows how processes of a card differ."""
    rows = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    return {row["name"] for row in rows if len(set(row["cards"])) == len(row["time_ns"])}


def median(values):
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


class Readers(unittest.TestCase):
    def json_of(self, form, schema):
        document = json.loads(exported(form, STORED[0]))
        jsonschema.validate(document, schema)
        return document

    def assert_times(self, found, unit_ns):
        for name, times in stored_times(STORED[0]).items():
            self.assertAlmostEqual(found[name] * unit_ns / median(times), 1, 3, name)

    def test_bencher(self):
        latencies = {name: result["latency"] for name, result in self.json_of("bencher", BENCHER).items()}
        self.assert_times({name: latency["value"] for name, latency in latencies.items()}, 1)
        for latency in latencies.values():
            self.assertLess(latency["lower_value"], latency["value"])
            self.assertLess(latency["value"], latency["upper_value"])

    def test_lnt(self):
        report = self.json_of("lnt", LNT)
        self.assert_times({test["name"]: test["execution_time"] for test in report["tests"]}, 1e9)
        datetime.datetime.strptime(report["run"]["start_time"], "%Y-%m-%dT%H:%M:%S")

    def test_github_action_benchmark(self):
        results = self.json_of("github-action-benchmark", GITHUB)
        self.assert_times({result["name"]: result["value"] for result in results}, 1)

    def test_openmetrics(self):
        families = {family.name: family for family in text_string_to_metric_families(exported("openmetrics", *STORED))}
        times = families["fusegate_time_seconds"]
        self.assertEqual((times.type, times.unit, families["fusegate_run"].type), ("gauge", "seconds", "info"))
        self.assertEqual({sample.labels["device"] for sample in times.samples}, {"NVIDIA H200", "NVIDIA H100 80GB HBM3"})
        self.assert_times({sample.labels["benchmark"]: sample.value for sample in times.samples if sample.labels["suite"] == "pr"}, 1e9)
        bounds = [{tuple(sorted(sample.labels.items())): sample.value for sample in families[f"fusegate_time_{end}_seconds"].samples}
                  for end in ("lower", "upper")]
        alone = {("nightly", name) for name in names_of_one_process_a_card(STORED[1])}
        self.assertEqual({(sample.labels["suite"], sample.labels["benchmark"]) for sample in times.samples
                          if tuple(sorted(sample.labels.items())) not in bounds[0]}, alone)
        for sample in times.samples:
            if (sample.labels["suite"], sample.labels["benchmark"]) in alone:
                continue
            low, high = (bound[tuple(sorted(sample.labels.items()))] for bound in bounds)
            self.assertLessEqual(low, high)
            self.assertTrue(math.isclose(math.sqrt(low * high), sample.value, rel_tol=1e-9))

    def test_openmetrics_of_names_that_nobody_expects(self):
        name = "a\"b\\c\nd{e=\"f\"} é 1"
        with tempfile.TemporaryDirectory() as folder:
            night = {"fusegate_night": 1, "session": name, "date": "2026-11-21T02:53:32Z", "benchmarks": [
                {"name": name, "processes": 2, "ns": 1000, "process_variance": 1e-4, "energy_j": 0.1}]}
            path = pathlib.Path(folder, "nights.jsonl")
            path.write_text(json.dumps(night) + "\n", encoding="utf-8")
            families = {family.name: family for family in text_string_to_metric_families(exported("openmetrics", path))}
        self.assertEqual(families["fusegate_energy_joules"].samples[0].labels["benchmark"], name.replace("\n", "\\n"))
        self.assertEqual(float(families["fusegate_time_seconds"].samples[0].timestamp), 1795229612)

    def test_a_format_that_there_is_not_is_named_with_those_that_there_are(self):
        ended = subprocess.run([PROGRAM, "export", "--format", "csv", str(STORED[0])], capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1))
        for form in ("csv", "nights", "lnt", "bencher", "github-action-benchmark", "openmetrics"):
            self.assertIn(form, ended.stderr)


if __name__ == "__main__":
    unittest.main()
