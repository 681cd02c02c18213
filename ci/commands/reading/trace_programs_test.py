"""PyTorch's traces and fusegate_bench's, by fusegate trace-table and trace-check."""

import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
BENCH = os.environ["FUSEGATE_BENCH"]
REAL = pathlib.Path(__file__).resolve().parents[3] / "baselines" / "traces" / "testdata" / "h200"


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


class RecordedTraceTest(FolderTest):
    """What fusegate_bench --trace writes of two implementations of the MLP on the CPU, by fusegate."""

    def test_is_read_by_trace_table(self):
        subprocess.run([BENCH, "--device=cpu", "--operation=geglu_mlp", "--implementation=unfused,fused_epilogue",
                        "--batch=1", "--seq=8", "--dim=32", "--hidden=64", "--dtype=fp32",
                        f"--trace={self.path('recorded.json')}"], check=True, timeout=60, capture_output=True)
        table, text = self.json_of("trace-table", self.path("recorded.json"))
        self.assertIn("CUDA total 0 ns in 0 kernels, 0 memory operations; 6 steps", text)
        calls = {row["name"]: row["calls"] for row in table["rows"]}
        name = "geglu_mlp/{}/fp32/batch:1/seq:8/dim:32/hidden:64".format
        self.assertEqual(calls, {"ProfilerStep*": 6, name("unfused"): 3, name("fused_epilogue"): 3,
                                 "gate_proj": 3, "gelu": 3, "mul": 3, "gate_proj_gelu_mul": 3,
                                 "up_proj": 6, "down_proj": 6})


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

    def test_a_linear_with_bias_is_one_kernel_and_an_mlp_five_or_four_where_some_are_fused(self):
        for name, kernels in (("linear-torch_eager", 1), ("linear-torch_compile", 1), ("geglu_mlp-torch_eager", 5),
                              ("geglu_mlp-torch_compile", 4), ("geglu_mlp-liger", 4)):
            _, table = self.table(name)
            self.assertEqual((table["kernels"], table["steps"], table["unowned"]), (3 * kernels, 3, 0), name)

    def test_a_transpose_is_no_kernel(self):
        rows, _ = self.table("linear-torch_eager")
        for name in ("aten::t", "aten::transpose", "cudaDeviceSynchronize"):
            self.assertEqual(rows[name]["cuda_ns"], 0, name)
            self.assertGreater(rows[name]["cpu_ns"], 0, name)

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


if __name__ == "__main__":
    unittest.main()
