"""The gated MLPs over several ranks, from gated_mlp_parallel.cc: operations, and what PyTorch does for them. NCCL's collectives
behind its products, eager or compiled; all-reduces on symmetric memory; and its asynchronous tensor parallelism.

A rank is a process with a GPU of its own. Each of these is made by a factory, since no process knows its rank when it loads."""

import dataclasses
import functools
import importlib
import os

import fusegate
import torch

from problems import GATED, PROBLEM, WEIGHTS, mlp_inputs, mlp_reference, mlp_stages, rows

# NVLink multicast is off for all, as it is for fusegate's own kernels: not every host has it. NCCL, torch and cuBLASMp read these
# when they are first used.
os.environ.update(NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1", CUBLASMP_DISABLE_MULTICAST="1")
# Else NCCL puts events between the calls of a batch, with which it keeps graphs apart that run at once.
os.environ.setdefault("NCCL_GRAPH_MIXING_SUPPORT", "0")

SPLIT = {"w_gate": 0, "w_up": 0, "w_down": 1}


def operation(unit, has_rows):
    """has_rows: a rank has its part of the rows of x and of out, the sequence-parallel form. Else both are whole on each."""
    return fusegate.Operation(
        f"{unit}_mlp_{'sp' if has_rows else 'tp'}", axes=[{**PROBLEM["axes"][0], "ranks": 2}], dtypes=PROBLEM["dtypes"],
        weights=WEIGHTS, split={**SPLIT, **({"x": 0, "out": 0} if has_rows else {})}, inputs=mlp_inputs,
        outputs=lambda p: {"out": fusegate.empty(rows(p), p.dim)}, reference=functools.partial(mlp_reference, GATED[unit]))


def group(problem):
    """Of the ranks that compute the problem, which find each other by the environment that fusegate sets. Raises ValueError where
    torch's only one has another number."""
    distributed, ranks = torch.distributed, {"rank": fusegate.rank(), "world_size": problem.ranks}
    if not distributed.is_initialized():
        if problem.device == "cuda":
            distributed.init_process_group("nccl", device_id=own_gpu(), **ranks)
        else:
            distributed.init_process_group("gloo", **ranks)
    if distributed.get_world_size() != problem.ranks:
        raise ValueError(f"torch has a group of {distributed.get_world_size()} ranks in this process; measure {problem.ranks} in a "
                         f"run of their own, by --axis=ranks={problem.ranks}")
    return distributed.group.WORLD


def own_gpu():
    return torch.device("cuda", torch.cuda.current_device())


# The least work, as gated_mlp_parallel.cc counts it: an exchange reads and writes a rank's memory once. What the link carries is no
# traffic of that memory.


def of_rank(p):
    """The problem of one rank's products."""
    return dataclasses.replace(p, items=tuple((axis, value // p.ranks if axis == "hidden" else value) for axis, value in p.items))


def exchange(name, p, additions):
    elements = rows(p) * p.dim
    return fusegate.Stage(name, float(additions * elements), 2.0 * p.itemsize * elements)


def all_reduce_stage(p):
    return exchange("all_reduce", p, p.ranks - 1)


def all_gather_stage(p):
    return exchange("all_gather", p, 0)


def reduce_scatter_stage(p):
    return exchange("reduce_scatter", p, (p.ranks - 1) / p.ranks)


def tensor_parallel_stages(local, p):
    """local: of the problem of a rank."""
    return [*local(of_rank(p)), all_reduce_stage(p)]


def sequence_parallel_stages(local, p):
    return [all_gather_stage(p), *local(of_rank(p)), reduce_scatter_stage(p)]


def together(*stages):
    """What they do, as one that has their names."""
    return fusegate.Stage("_".join(stage.name for stage in stages), sum(stage.flops for stage in stages),
                          sum(stage.min_bytes for stage in stages))


def async_stages(unit, p):
    gate, up, *gated, down = mlp_stages(unit, True, of_rank(p))
    return [together(all_gather_stage(p), gate, up), *gated, together(down, reduce_scatter_stage(p))]


def gathered_stages(local, p):
    """x is gathered within the first product, and the last is a product of its own."""
    first, *rest = local(of_rank(p))
    return [together(all_gather_stage(p), first), *rest, reduce_scatter_stage(p)]


def reduced_stages(local, gathers, p):
    """The last product reduces, and the first one gathers."""
    first, *rest, last = local(of_rank(p))
    if gathers:
        return [together(all_gather_stage(p), first), *rest, together(last, reduce_scatter_stage(p))]
    return [first, *rest, together(last, all_reduce_stage(p))]


# NCCL. part is peers.marked or peers.unmarked.


def tensor_parallel(local, part, world):
    """local: the MLP of a rank's parts of the weights."""
    def all_reduce(out):
        torch.distributed.all_reduce(out, group=world)
        return out
    all_reduce = part("all_reduce", all_reduce)
    return lambda *inputs: all_reduce(local(*inputs))


def sequence_parallel(local, part, world, ranks):
    def all_gather(x):
        whole = torch.empty((ranks * x.shape[0], x.shape[1]), dtype=x.dtype, device=x.device)
        torch.distributed.all_gather_into_tensor(whole, x, group=world)
        return whole
    all_gather, scatter = part("all_gather", all_gather), part("reduce_scatter", reduce_scatter(world, ranks))
    return lambda x, *weights: scatter(local(all_gather(x), *weights))


def reduce_scatter(world, ranks):
    def call(summand):
        mine = torch.empty((summand.shape[0] // ranks, summand.shape[1]), dtype=summand.dtype, device=summand.device)
        torch.distributed.reduce_scatter_tensor(mine, summand, group=world)
        return mine
    return call


# Symmetric memory, which all ranks can read.


def symmetric_memory():
    """The module, which also defines torch.ops.symm_mem."""
    return importlib.import_module("torch.distributed._symmetric_memory")


def symmetric(world, *shape, dtype):
    tensor = symmetric_memory().empty(*shape, dtype=dtype, device=own_gpu())
    symmetric_memory().rendezvous(tensor, world.group_name)
    return tensor


class SymmetricAllReduce:
    """The down projection writes into symmetric memory, from where a kernel of torch's adds up. reduce: its name,
    one_shot_all_reduce (each rank reads all) or two_shot_all_reduce_ (each adds up a part, and writes that to all). hidden: makes h
    of x and two weights. Raises ValueError for fp16, for which torch has no such kernels."""

    def __init__(self, hidden, reduce, problem):
        if problem.dtype == "fp16":
            raise ValueError("computes in bf16 and fp32 only")
        self._world, self._hidden = group(problem), hidden
        self._summand = symmetric(self._world, rows(problem), problem.dim, dtype=problem.torch_dtype)
        self._reduce = getattr(torch.ops.symm_mem, reduce)

    def __call__(self, x, w_gate, w_up, w_down):
        h = self._hidden(x, w_gate, w_up)
        with fusegate.stage("down_proj"):
            torch.mm(h, w_down.T, out=self._summand)
        with fusegate.stage("all_reduce"):
            return self._reduce(self._summand, "sum", self._world.group_name)


class AsyncTensorParallel:
    """Both input projections take x part by part while the parts arrive, and the down projection's parts leave while the next are
    computed. unit: of gate and up."""

    def __init__(self, unit, problem):
        symmetric_memory()
        self._name, self._unit = group(problem).group_name, unit

    def __call__(self, x, w_gate, w_up, w_down):
        with fusegate.stage("all_gather_gate_proj_up_proj"):
            _, (gate, up) = torch.ops.symm_mem.fused_all_gather_matmul(x, [w_gate.T, w_up.T], 0, self._name, return_A=False)
        h = self._unit(gate, up)
        with fusegate.stage("down_proj_reduce_scatter"):
            return torch.ops.symm_mem.fused_matmul_reduce_scatter(h, w_down.T, "sum", 0, self._name)
