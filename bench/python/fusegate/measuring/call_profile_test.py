"""The profile of a call from torch's profiler, in the run file's form."""

import gzip
import json
import pathlib
import unittest

from fusegate.measuring.call_profile import ProfileFailed, call_profile, profile_call
from fusegate.measuring.fake_torch import FakeProfiler

# torch.profiler's of an H200, of PyTorch 2.11 (README.md there): three calls of five kernels and two memsets.
REAL = pathlib.Path(__file__).resolve().parents[4] / "baselines" / "traces" / "testdata" / "h200" / \
    "geglu_mlp-torch_eager.json.gz"

# As Kineto writes them; a kernel, a memset, their launches, and others.
EVENTS = [
    {"ph": "M", "name": "process_name", "args": {}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "ts": 99.0, "dur": 9.0, "args": {}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 100.0, "dur": 2.5, "args": {"correlation": 7}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 110.0, "dur": 90, "args": {"correlation": 9}},
    {"ph": "X", "cat": "cuda_driver", "name": "cuMemsetD8Async", "ts": 103.0, "dur": 1.0, "args": {"correlation": 8}},
    {"ph": "X", "cat": "kernel", "name": "geglu_kernel", "ts": 104.5, "dur": 35.0, "args": {
        "correlation": 7, "grid": [24576, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 64}},
    {"ph": "X", "cat": "gpu_memset", "name": "Memset", "ts": 140.0, "dur": 1.0, "args": {"correlation": 8, "bytes": 512}}]


class CallProfileTest(unittest.TestCase):
    def test_has_kernels_memory_operations_and_what_launched_them(self):
        profile = call_profile(EVENTS, "geglu")
        self.assertEqual(profile["kernels"], [{
            "name": "geglu_kernel", "stage": "geglu", "start_ns": 4500.0, "duration_ns": 35000.0, "correlation": 7,
            "grid": [24576, 1, 1], "block": [128, 1, 1], "registers": 32, "static_shared_bytes": 0,
            "dynamic_shared_bytes": 64}])
        self.assertEqual(profile["memory_operations"], [{
            "kind": "memset", "stage": "geglu", "start_ns": 40000.0, "duration_ns": 1000.0, "correlation": 8, "bytes": 512}])
        self.assertEqual([call["name"] for call in profile["calls"]], ["cudaLaunchKernel", "cuMemsetD8Async"])

    def test_reads_a_real_trace(self):
        profile = call_profile(json.loads(gzip.decompress(REAL.read_bytes()))["traceEvents"], "geglu_mlp")
        kernels, calls = profile["kernels"], profile["calls"]
        cleared = profile["memory_operations"]
        self.assertEqual((len(kernels), len(cleared), len(calls)), (15, 6, 21))
        self.assertEqual({each["kind"] for each in cleared}, {"memset"})
        self.assertEqual({each["correlation"] for each in [*kernels, *cleared]}, {each["correlation"] for each in calls})
        self.assertEqual(calls[0]["start_ns"], 0.0)
        for kernel in kernels:
            self.assertTrue(kernel["name"] and min(kernel["grid"]) >= 1 and 32 <= kernel["block"][0] <= 1024)
            self.assertTrue(16 <= kernel["registers"] <= 255 and 1e3 < kernel["duration_ns"] < 1e6)
            launch = next(each for each in calls if each["correlation"] == kernel["correlation"])
            self.assertGreater(kernel["start_ns"], launch["start_ns"])

    def test_is_of_torchs_profiler(self):
        called = []
        torch = FakeProfiler(EVENTS).torch()
        self.assertEqual(len(profile_call(torch, lambda: called.append(0), "")["kernels"]), 1)
        self.assertEqual(called, [0])

    def test_where_there_is_none_a_warning_says_so(self):
        for torch, warning in ((FakeProfiler(EVENTS, has_kineto=False).torch(), "profiler_missing"),
                             (FakeProfiler(EVENTS[:2]).torch(), "profile_failed")):
            with self.assertRaises(ProfileFailed) as caught:
                profile_call(torch, lambda: None, "")
            self.assertEqual(caught.exception.warning, warning)
