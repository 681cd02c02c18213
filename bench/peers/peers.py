#!/usr/bin/env python3
"""fusegate's peers: PyTorch, its compiler, Liger, QuACK, cuDNN, cuBLASMp, FlashInfer and DeepGEMM, as implementations of
fusegate_bench's operations. Each is the library's released package, called as its users call it. Flags, suites and run files
are fusegate_bench's.

    bench/peers/peers.py --suite=ladder --out=FILE
    bench/peers/peers.py --problem=64,128,768,3072 --operation=geglu_mlp --out=FILE

docs/commands.md is the manual.
"""

import functools
import importlib
import operator
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # where both lie side by side

# pylint: disable=wrong-import-position
import fusegate

try:
    import torch
except Exception as error:  # pylint: disable=broad-except
    print(f"peers: torch cannot be imported: {error}", file=sys.stderr)
    sys.exit(2)

import cublasmp_mlp
import flashinfer_mlp
import fp8
import parallel
import problems
import training
from compiled import MODES, compiled
from cudnn_mlp import CudnnMlp
from deep_gemm_mlp import deep_gemm_mlp
from marks import marked, unmarked
from problems import GATED
from quack_mlp import (CONCATENATED, INTERLEAVED, QuackFp8Mlp, QuackMlp, QuackStep, pack, pack_fp8, pack_step)
from quack_parallel import QuackAllGatherMlp

# Of another torch than requirements.txt's, which cannot be in the same environment: names say so, so that both can stand in
# one report.
TORCH, THIS_TORCH = "2.11", ".".join(torch.__version__.split(".")[:2])
OF_TORCH = "" if THIS_TORCH == TORCH else f"-torch{THIS_TORCH}"
LIGER = {"requires": ("triton", "liger_kernel"), "device": "cuda"}
QUACK = {"requires": ("triton", "quack", "nvidia_cutlass_dsl"), "device": "cuda"}


def benchmark(operation, name, **fields):
    return operation.benchmark(name + OF_TORCH, **fields)


# part is marked or unmarked.


def product(x, w, bias=None):
    return torch.nn.functional.linear(x, w, bias)


def linear(part):
    return part("addmm", product)


def gated(activation, part):
    activate, mul = part(activation.name, activation.eager), part("mul", operator.mul)
    return lambda g, u: mul(activate(g), u)


def mlp(unit, part):
    gate_proj, up_proj, down_proj = (part(f"{name}_proj", product) for name in ("gate", "up", "down"))
    return lambda x, w_gate, w_up, w_down: down_proj(unit(gate_proj(x, w_gate), up_proj(x, w_up)), w_down)


def register_torchs(operation, make, fused, unfused):
    """make: of marked or unmarked, the implementation. fused, unfused: their stages. The compiler fuses activation and mul by
    default, and cannot be marked."""
    benchmark(operation, "torch_eager", stages=unfused)(make(marked))
    for name, mode in MODES.items():
        benchmark(operation, name, factory=True, requires="triton", stages=problems.in_one(operation.name, fused))(
            lambda _, mode=mode: compiled(make(unmarked), mode))


def register_backward(operation, function):
    benchmark(operation, "torch_eager")(function)
    for name, mode in MODES.items():
        benchmark(operation, name, factory=True, requires="triton")(lambda _, mode=mode: compiled(function, mode))


def liger(activation, part=marked):
    return part(f"{activation.name}_mul", getattr(importlib.import_module("liger_kernel.ops"), activation.liger).apply)


def register_tuned(operation, name, make, **fields):
    """make: of the problem, a callable with choices."""
    made = {}

    def build(problem):
        made[problem] = make(problem)
        return made[problem]
    benchmark(operation, name, factory=True, choices=lambda problem: made[problem].choices, **fields)(build)


def register_unit(unit, activation):
    operation = problems.gated_operation(unit)
    fused, unfused = (functools.partial(problems.gated_stages, unit, is_fused) for is_fused in (True, False))
    register_torchs(operation, functools.partial(gated, activation), fused, unfused)
    if activation.liger:
        benchmark(operation, "liger", factory=True, **LIGER, stages=fused)(lambda _: liger(activation))


def register_mlp(unit, activation):
    operation = problems.mlp_operation(unit)
    fused, unfused = (functools.partial(problems.mlp_stages, unit, is_fused) for is_fused in (True, False))
    register_torchs(operation, lambda part: mlp(gated(activation, part), part), fused, unfused)
    if activation.liger:
        benchmark(operation, "liger", factory=True, **LIGER, stages=fused)(lambda _: mlp(liger(activation), marked))
    register_tuned(operation, "cudnn", functools.partial(CudnnMlp, unit, activation.cudnn), requires=("cudnn", "triton"),
                   device="cuda", stages=functools.partial(problems.up_gate_mlp_stages, unit))
    if activation.flashinfer:
        benchmark(operation, "flashinfer", factory=True, requires=("triton", "flashinfer"), device="cuda",
                            prepare=flashinfer_mlp.pack, stages=functools.partial(problems.packed_mlp_stages, unit))(
            functools.partial(flashinfer_mlp.FlashinferMlp, activation.name, activation.flashinfer))
    for name, layout, is_down_quacks in () if not activation.quack else (
            ("quack", INTERLEAVED, False), ("quack_both", INTERLEAVED, True), ("quack_concat", CONCATENATED, False),
            ("quack_concat_both", CONCATENATED, True)):
        register_tuned(operation, name, functools.partial(QuackMlp, activation.quack, layout, is_down_quacks),
                       **QUACK, prepare=functools.partial(pack, layout, is_down_quacks),
                       stages=functools.partial(problems.gate_up_mlp_stages, unit))


def register_training(unit, activation):
    register_backward(training.unit_backward_operation(unit), training.unit_backward(activation))
    register_backward(training.mlp_backward_operation(unit), training.mlp_backward(activation))
    operation, forward = training.mlp_training_operation(unit), mlp(gated(activation, unmarked), unmarked)
    register_tuned(operation, "torch_eager", functools.partial(training.Step, forward))
    for name, mode in MODES.items():
        register_tuned(operation, name, lambda problem, mode=mode: training.Step(compiled(forward, mode), problem),
                       requires="triton")
    if activation.liger:
        register_tuned(operation, "liger", lambda problem: training.Step(mlp(liger(activation, unmarked), unmarked), problem),
                       **LIGER)
    for name, layout, keeps in () if not activation.quack else (
            ("quack", INTERLEAVED, True), ("quack_concat", CONCATENATED, True), ("quack_recompute", INTERLEAVED, False)):
        register_tuned(operation, name, functools.partial(QuackStep, activation.quack, layout, keeps), **QUACK,
                       prepare=functools.partial(pack_step, layout))


def register_parallel(unit, activation, has_rows):
    operation, local = parallel.operation(unit, has_rows), functools.partial(problems.mlp_stages, unit)
    stages = parallel.sequence_parallel_stages if has_rows else parallel.tensor_parallel_stages
    fused, unfused = (functools.partial(stages, functools.partial(local, is_fused)) for is_fused in (True, False))

    def make(part, problem):
        of_rank, world = mlp(gated(activation, part), part), parallel.group(problem)
        return (parallel.sequence_parallel(of_rank, part, world, problem.ranks) if has_rows else
                parallel.tensor_parallel(of_rank, part, world))
    benchmark(operation, "torch_eager", factory=True, stages=unfused)(functools.partial(make, marked))
    for name, mode in MODES.items():
        benchmark(operation, name, factory=True, requires="triton", stages=problems.in_one(operation.name, fused))(
            lambda problem, mode=mode: compiled(make(unmarked, problem), mode))
    (register_sequence_parallel if has_rows else register_tensor_parallel)(operation, unit, activation, fused)
    register_tuned(operation, "cublasmp", functools.partial(cublasmp_mlp.CublasmpMlp, activation, has_rows),
                   prepare=cublasmp_mlp.pack, requires=("triton", "nvidia.cublasmp"), device="cuda", stages=functools.partial(
                       parallel.reduced_stages, functools.partial(problems.packed_mlp_stages, unit), has_rows))


def compiled_unit(activation):
    return marked(f"{activation.name}_mul", compiled(gated(activation, unmarked)))


def register_tensor_parallel(operation, _, activation, fused):
    def hidden(gate_proj, up_proj, unit):
        return lambda x, w_gate, w_up: unit(gate_proj(x, w_gate), up_proj(x, w_up))
    for name, reduce in (("torch_one_shot", "one_shot_all_reduce"), ("torch_two_shot", "two_shot_all_reduce_")):
        benchmark(operation, name, factory=True, requires="triton", device="cuda", stages=fused)(
            lambda problem, reduce=reduce: parallel.SymmetricAllReduce(
                hidden(marked("gate_proj", product), marked("up_proj", product), compiled_unit(activation)), reduce, problem))


def register_sequence_parallel(operation, unit, activation, _):
    benchmark(operation, "torch_async_tp", factory=True, requires="triton", device="cuda",
              stages=functools.partial(parallel.async_stages, unit))(
        lambda problem: parallel.AsyncTensorParallel(compiled_unit(activation), problem))
    if activation.quack:
        register_tuned(operation, "quack_all_gather", functools.partial(QuackAllGatherMlp, activation.quack), **QUACK,
                       prepare=functools.partial(pack, INTERLEAVED, False), stages=functools.partial(
                           parallel.gathered_stages, functools.partial(problems.gate_up_mlp_stages, unit)))


def register_fp8(unit, activation, scales):
    operation, stages = fp8.operation(unit, scales), functools.partial(fp8.stages, unit)
    packed = functools.partial(fp8.pack, scales, torch.cat)
    if scales == "block":
        benchmark(operation, "deep_gemm", factory=True, requires=("triton", "deep_gemm"), device="cuda", prepare=packed,
                            stages=stages)(functools.partial(deep_gemm_mlp, activation))
        return
    benchmark(operation, "torch_scaled_mm", factory=True, requires="triton", device="cuda", prepare=packed, stages=stages)(
        functools.partial(fp8.torch_mlp, activation))
    for name, is_down_quacks in (("quack", False), ("quack_both", True)) if scales == "tensor" else ():
        register_tuned(operation, name, functools.partial(QuackFp8Mlp, activation, is_down_quacks), **QUACK,
                       prepare=functools.partial(pack_fp8, is_down_quacks), stages=functools.partial(fp8.gate_up_stages, unit))


def suites():
    """Those of the program that $FUSEGATE_BENCH names, else the checkout's."""
    program = os.environ.get("FUSEGATE_BENCH")
    beside = pathlib.Path(shutil.which(program) or program) if program else pathlib.Path(__file__).parent
    return str(beside.resolve().parent / "suites")


register_torchs(problems.linear_operation(), linear, problems.linear_stages, problems.linear_stages)
for gated_unit, its_activation in GATED.items():
    register_unit(gated_unit, its_activation)
    register_mlp(gated_unit, its_activation)
    register_training(gated_unit, its_activation)
for gated_unit in fp8.UNITS:  # those of fusegate_bench's own products
    for rows_are_split in (False, True):
        register_parallel(gated_unit, GATED[gated_unit], rows_are_split)
    for kind_of_scales in fp8.SCALES:
        register_fp8(gated_unit, GATED[gated_unit], kind_of_scales)

if __name__ == "__main__":
    fusegate.main(suites=suites(), foreign_suites=True)
