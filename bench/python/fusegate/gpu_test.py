"""The package on a GPU, with torch and Triton: what a graph holds and what not, what is refused, and what is identified.
Without them it exits with 77, which ctest shows as skipped."""

import importlib.util
import json
import sys
import unittest

if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
    sys.exit(77)

import torch  # noqa: E402: only where it is

if not torch.cuda.is_available():
    sys.exit(77)

from fusegate.fakes import QUICK, FolderTest  # noqa: E402

HEAD = '''
import sys, torch, triton
import triton.language as tl
import fusegate

def case(name, function, options={}, **fields):
    operation = fusegate.Operation(name, **{
        "axes": {"rows": [4096], "cols": [1024]}, "dtypes": ["bf16"], "reference": lambda x: 2 * x,
        "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, **fields})
    operation.benchmark("one", **options)(function)

@triton.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value * factor, mask=at < n)

def scale(x, out, factor=2, BLOCK=1024):
    scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), factor, BLOCK=BLOCK)

def into(x, out):
    torch.mul(x, 2, out=out)

WRITES = {"writes": "out"}
TWO = {"inputs": lambda p: {"x": fusegate.uniform(512, 512), "w": fusegate.uniform(512, 512)},
       "reference": lambda x, w: x @ w}
'''
RIGHT = HEAD + '''
case("returned", lambda x: 2 * x)
case("written", into, WRITES)
case("by_triton", scale, WRITES)
case("chained", lambda x: (x + x).relu() - (-x - x).relu())
case("product", lambda x, w: x @ w, **TWO)
case("compiled", lambda p: torch.compile(lambda x: (x.float() * 2).to(x.dtype), dynamic=False), {"factory": True})
def fused(x, residual):
    residual += x
    return 3 * residual
case("several", fused, {"writes": "residual"}, outputs=["y", "residual"], reference=lambda x, r: (3 * (x + r), x + r),
     inputs=lambda p: {"x": fusegate.normal(p.rows, p.cols), "residual": fusegate.normal(p.rows, p.cols)})
for dtype in ("fp64", "fp32", "fp16", "fp8_e4m3", "fp8_e5m2"):
    case("of_" + dtype, lambda x: x.clone(), dtypes=[dtype], reference=lambda x: x)
case("of_int32", lambda x: x + 1, dtypes=["int32"], reference=lambda x: x + 1,
     inputs=lambda p: {"x": fusegate.integers(p.rows, p.cols, high=1000)})
case("given", lambda x, i: x[i], reference=lambda x, i: x[i],
     inputs=lambda p: {"x": torch.randn(64, 8, device="cuda", dtype=torch.bfloat16),
                       "i": fusegate.integers(9, high=64, dtype="int64")})
def forked(x, out, side=torch.cuda.Stream()):
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        torch.mul(x, 2, out=out)
    main.wait_stream(side)
case("forked", forked, WRITES)
def staged(x):
    with fusegate.stage("double"):
        y = x + x
    with fusegate.stage("add"):
        return y + 1
case("staged", staged, {"stages": lambda p: [fusegate.Stage("double", flops=p.rows * p.cols), fusegate.Stage("add")]},
     reference=lambda x: 2 * x + 1)
'''
# What no graph can hold, and the reason.
UNCAPTURED = {
    "synchronised": ("lambda x: (2 * x, torch.cuda.synchronize())[0]", "when stream is capturing"),
    "raises_in_capture": ("raises_in_capture", "raised ValueError: not here at kernels.py"),
    "read_back": ("lambda x: x * (2 if float(x[0, 0]) < 9 else 3)", "."),
    "elsewhere": ("elsewhere, WRITES", "another stream"),
    "elsewhere_returned": ("elsewhere_returned", "another stream"),
    "captures_itself": ("captures_itself, WRITES", "."),
}
UNCAPTURED_HEAD = HEAD + '''
def elsewhere(x, out, side=torch.cuda.Stream()):
    with torch.cuda.stream(side):
        torch.mul(x, 2, out=out)
def elsewhere_returned(x, side=torch.cuda.Stream()):
    with torch.cuda.stream(side):
        return x * 2
def raises_in_capture(x):
    if torch.cuda.is_current_stream_capturing():
        raise ValueError("not here")
    return 2 * x
def captures_itself(x, out):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.mul(x, 2, out=out)
    graph.replay()
'''
WRONG = {
    "factor": ("lambda x: 2.1 * x", "wrong result"),
    "lazy": ("lambda x, out: out[:-1].copy_(2 * x[:-1]), WRITES", "1024 elements are NaN, infinite or were never written"),
    "beside": ("beside, WRITES", "wrote past the end of output 'out'"),
    "sloppy": ("lambda x: x.mul_(2).clone()", "changed input 'x'"),
    "view": ("lambda x: x[:], reference=lambda x: x", "returns a view of its input 'x'"),
    "stream": ("changes_stream", "makes another stream the current one"),
    "stale_out": ("StaleOut(), WRITES", "wrong result in other memory"),
    "stale_in": ("StaleIn()", "wrong result in other memory"),
    "does_not_compile": ("lambda x: broken_kernel[(1,)](x)", r"does_not_compile.one: raised CompilationError"),
}
WRONG_HEAD = HEAD + '''
def beside(x, out):
    torch.mul(x, 2, out=out)
    beside_kernel[(1,)](out, out.numel())
def changes_stream(x):
    torch.cuda.set_stream(torch.cuda.Stream())
    return 2 * x
class StaleOut:
    out = None
    __name__ = "stale"
    def __call__(self, x, out):
        if self.out is None:
            self.out = out
        torch.mul(x, 2, out=self.out)
class StaleIn:
    x = None
    def __call__(self, x):
        if self.x is None:
            self.x = x
        return self.x * 2
@triton.jit
def beside_kernel(out, n):
    tl.store(out + n + tl.arange(0, 4), 1.0)
@triton.jit
def broken_kernel(x):
    tl.store(x, nowhere)
'''


class GpuTest(FolderTest):
    def run_cases(self, head, cases, *flags):
        self.write("kernels.py", head + "".join(f"case({name!r}, {text})\n" for name, (text, *_) in cases.items()))
        return self.bench("kernels.py", *QUICK[:3], "--batch-us=200", f"--out={self.out}", *flags)

    def test_graphs_hold_what_torch_and_triton_launch(self):
        result = self.run_cases(RIGHT, {})
        self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
        entries = self.entries()
        for name, entry in entries.items():
            with self.subTest(name):
                self.assertNotIn("not_capturable", entry["details"].get("notes", {}))
                identity = entry["details"].get("identity", {})
                self.assertNotIn("unknown", identity)
        self.assertEqual({name: entries[name]["kernel_launches"] for name in ("returned", "written", "by_triton")},
                         {"returned": 1, "written": 1, "by_triton": 1})
        # 8 MB are read and as many written: more than 1 TB/s, less than 40.
        self.assertTrue(400 < entries["by_triton"]["real_time"] < 20_000, entries["by_triton"]["real_time"])
        self.assertTrue(0.5e9 < entries["by_triton"]["sm_clock_hz"] < 3e9)
        environment = self.read()["context"]["fusegate"]["environment"]
        self.assertLessEqual({"torch", "triton", "cuda", "cublas", "driver"}, set(environment))
        self.assertEqual(environment["cuda"], torch.version.cuda)
        kernels = [(kernel["name"], kernel["stage"]) for kernel in entries["staged"]["details"]["profile"]["kernels"]]
        self.assertEqual([stage for _, stage in kernels], ["double", "add"])
        self.assertIn("scale_kernel", str(entries["by_triton"]["details"]["profile"]))

    def test_what_no_graph_can_hold_is_timed_by_events(self):
        result = self.run_cases(UNCAPTURED_HEAD, UNCAPTURED)
        self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
        for name, entry in self.entries().items():
            with self.subTest(name):
                self.assertRegex(entry["details"]["notes"]["not_capturable"], UNCAPTURED[name][1])

    def test_refuses_what_is_wrong_and_measures_the_others(self):
        result = self.run_cases(WRONG_HEAD, WRONG)
        self.assert_failed(WRONG)
        self.assertNotIn("Traceback", result.stderr)

    def identities(self, text):
        self.write("kernels.py", text)
        out = self.folder / "identities.json"
        result = self.bench("kernels.py", f"--identify={out}")
        self.assertEqual(result.returncode, 0, result.stderr)
        identified = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
        for name, identity in identified.items():
            self.assertNotIn("unknown", identity, name)
        return {name.partition("/")[0]: identity for name, identity in identified.items()}

    def test_identities_are_by_code_launch_and_arguments(self):
        base = self.identities(RIGHT)
        # The first is that of another module with a kernel of that name.
        another = 'case("another", lambda x, out: scale(x, out, BLOCK=2048), WRITES)\n'
        for old, new, changed in (('case("by_triton"', another + 'case("by_triton"', set()),
                                  ("\n@triton.jit", "\n# A comment.\n\n@triton.jit", set()),
                                  ("BLOCK=1024", "BLOCK=512", {"by_triton"}),
                                  ('case("chained", lambda x: ', 'case("chained", lambda x: 0 * x + ', {"chained"})):
            now = self.identities(RIGHT.replace(old, new))
            self.assertEqual({name for name in base if base[name] != now[name]}, changed, new)

    def test_traces_have_the_marked_stages(self):
        self.write("kernels.py", RIGHT)
        trace = self.folder / "trace.json"
        result = self.bench("kernels.py", f"--trace={trace}", "--benchmark_filter=staged")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = {event.get("name") for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]}
        self.assertLessEqual({"double", "add"}, names)


if __name__ == "__main__":
    unittest.main()
