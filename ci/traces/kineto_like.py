"""Writes traces laid out as PyTorch's profiler lays them out, for tests. What they say was made up, not measured.

    python3 ci/traces/kineto_like.py eager geglu_mlp_eager.json
    python3 ci/traces/kineto_like.py compiled geglu_mlp_compiled.json.gz
"""

import argparse
import gzip
import json
import pathlib

PROCESS, THREAD, DEVICE, STREAM = 4242, 4242, 0, 7
CALL_US, GAP_US = 6.25, 2.125

GEMM = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT"
GELU = ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#1}, std::array<char*, 2ul> >(int)")
MUL = ("void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16>, "
       "std::array<char*, 3ul> >(int)")


class Recorder:
    """The events of one thread and one stream: operators nest, each kernel runs when the last one has ended."""

    def __init__(self, base_us=2413669096090.1):
        self.now_us = self.gpu_us = base_us
        self.events = []
        self.operators = 0
        self.correlations = 30
        self.event("M", name="process_name", pid=PROCESS, tid=0, ts=base_us, args={"name": "python3"})
        self.event("M", name="process_name", pid=DEVICE, tid=0, ts=base_us, args={"name": "python3"})
        self.event("M", name="thread_name", pid=DEVICE, tid=STREAM, ts=base_us, args={"name": f"stream {STREAM}"})

    def event(self, phase, **keys):
        self.events.append({"ph": phase, **keys})
        return self.events[-1]

    def span(self, category, name, body, external_id=None, **args):
        self.now_us += GAP_US
        if external_id is None:
            self.operators += 1
            external_id = self.operators
        event = self.event("X", cat=category, name=name, pid=PROCESS, tid=THREAD, ts=round(self.now_us, 3), dur=0,
                           args={"External id": external_id, "Record function id": 0, **args})
        body()
        self.now_us += GAP_US
        event["dur"] = round(self.now_us - event["ts"], 3)

    def range(self, name, body):
        self.span("user_annotation", name, body)

    def operator(self, name, body=lambda: None, **args):
        self.span("cpu_op", name, body, **args)

    def call(self, name, category="cuda_runtime"):
        self.correlations += 1
        self.now_us += GAP_US
        args = {"cbid": 211, "correlation": self.correlations}
        if self.operators:
            args["External id"] = self.operators
        self.event("X", cat=category, name=name, pid=PROCESS, tid=THREAD, ts=round(self.now_us, 3), dur=CALL_US,
                   args=args)
        self.now_us += CALL_US
        return self.correlations

    def launch(self, name, dur_us, call="cudaLaunchKernel", category="cuda_runtime", cat="kernel", **args):
        correlation = self.call(call, category)
        start_us = round(max(self.gpu_us, self.now_us + 3), 3)
        head = {"pid": DEVICE, "tid": STREAM, "ts": start_us}
        shape = {"registers per thread": 168, "shared memory": 196608, "blocks per SM": 5.818182,
                 "warps per SM": 69.818184, "grid": [24, 32, 1], "block": [384, 1, 1],
                 "est. achieved occupancy %": 19} if cat == "kernel" else {}
        self.event("X", cat=cat, name=name, **head, dur=dur_us,
                   args={"External id": self.operators, "queued": 0, "device": DEVICE, "context": 1,
                         "stream": STREAM, "correlation": correlation, **shape, **args})
        self.event("s", id=correlation, pid=PROCESS, tid=THREAD, ts=round(self.now_us - CALL_US, 3), cat="ac2g",
                   name="ac2g")
        self.event("f", id=correlation, **head, cat="ac2g", name="ac2g", bp="e")
        self.gpu_us = start_us + dur_us + 1.056


def linear(recorder, dur_us):
    def body():
        recorder.operator("aten::t", lambda: recorder.operator(
            "aten::transpose", lambda: recorder.operator("aten::as_strided")))
        recorder.operator("aten::matmul", lambda: recorder.operator("aten::mm", matmul,
                                                                    **{"Input Dims": [[8192, 768], [768, 3072]]}))

    def matmul():
        recorder.call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
        recorder.launch(GEMM, dur_us, call="cudaLaunchKernelExC")

    recorder.operator("aten::linear", body)


def eager_step(recorder):
    """down(gelu(gate(x)) * up(x)): five kernels."""
    recorder.range("gate_proj", lambda: linear(recorder, 63.52))
    recorder.range("up_proj", lambda: linear(recorder, 63.488))
    recorder.range("gelu", lambda: recorder.operator("aten::gelu", lambda: recorder.launch(GELU, 31.648)))
    recorder.range("mul", lambda: recorder.operator("aten::mul", lambda: recorder.launch(MUL, 41.024)))
    recorder.range("down_proj", lambda: linear(recorder, 57.28))


def compiled_step(recorder):
    """The same compiled: gelu and mul are one Triton kernel, whose operator's `grid` is a text."""
    def body():
        for dur_us in (63.52, 63.488):
            recorder.operator("aten::mm", lambda dur_us=dur_us: recorder.launch(GEMM, dur_us, "cudaLaunchKernelExC"))
        recorder.operator("triton_poi_fused_gelu_mul_0", lambda: recorder.launch(
            "triton_poi_fused_gelu_mul_0", 38.24, "cuLaunchKernel", "cuda_driver"),
            grid="grid(25165824,)", stream=STREAM, kernel_backend="triton")
        recorder.operator("aten::mm", lambda: recorder.launch(GEMM, 57.28, "cudaLaunchKernelExC"))

    recorder.range("Torch-Compiled Region: 0/0", body)


STEPS = {"eager": eager_step, "compiled": compiled_step}


def trace(kind, steps=3):
    """The trace as one dict: the series' schedule keeps three steps, numbered from 2."""
    recorder = Recorder()
    for step in range(2, 2 + steps):
        recorder.range(f"ProfilerStep#{step}", lambda: STEPS[kind](recorder))
    recorder.call("cudaDeviceSynchronize")
    first_us = recorder.events[0]["ts"]
    recorder.event("X", cat="Trace", name="PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler", ts=first_us,
                   dur=round(recorder.now_us - first_us, 3), args={"Op count": 0})
    recorder.event("i", name="Iteration Start: PyTorch Profiler", s="g", pid="Traces", tid="Trace PyTorch Profiler",
                   ts=first_us)
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
            "traceEvents": recorder.events, "traceName": f"{kind}.json", "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 1727743122000000000}


def write(path, content):
    data = json.dumps(content).encode()
    path = pathlib.Path(path)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=STEPS)
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    write(options.file, trace(options.kind, options.steps))


if __name__ == "__main__":
    main()
