"""QuACK's MLP: both input projections and the gated unit in one tuned GEMM, then the down projection by cuBLAS or by
QuACK; and its step of training.

QuACK tunes a GEMM in its first call, before the benchmark is checked. It stores its choices and its compiled kernels in a
folder for the next process (docs/commands.md)."""

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import os
import pathlib
import sys

import fusegate
import torch

import fp8
from compiled import compiled
from problems import sizes
from remembered import cache_folder
from training import Step

# The tuner's choices by tuned product, its activation and layout, and the sizes. QuACK asks its tuner once in a process, and
# the implementations share the answers.
_taken = {}


# QuACK's argument for the order of gate and up weights in one tensor: rows gate 0, up 0, gate 1, up 1, ...; or all of gate,
# then all of up.
INTERLEAVED, CONCATENATED = None, ("B",)


def packed(concat_layout, both):
    return torch.cat(both) if concat_layout else torch.stack(both, dim=1).flatten(0, 1)


def pack(concat_layout, is_down_quacks, x, w_gate, w_up, w_down):
    """QuackMlp's arguments. QuACK takes a weight as (inputs, outputs)."""
    return x, torch.t(packed(concat_layout, (w_gate, w_up))), torch.t(w_down) if is_down_quacks else w_down


def pack_fp8(is_down_quacks, *inputs):
    """QuackFp8Mlp's arguments."""
    x, both, w_down, *scales = fp8.pack("tensor", functools.partial(packed, INTERLEAVED), *inputs)
    return x, torch.t(both), torch.t(w_down) if is_down_quacks else w_down, *scales


def pack_step(concat_layout, x, w_gate, w_up, w_down, dy):
    """QuackStep's arguments. Its mlp_func takes weights as torch.nn.Linear's."""
    return x, packed(concat_layout, (w_gate, w_up)), w_down, dy


def unpacked(concat_layout, gradients):
    """dx, dw_gate, dw_up and dw_down of dx, the packed weights' and dw_down."""
    dx, both, dw_down = gradients
    half = both.shape[0] // 2
    gate, up = (both[:half], both[half:]) if concat_layout else (both[0::2], both[1::2])
    return dx, gate, up, dw_down


class QuackMlp:
    """activation: QuACK's name. choices: the tuner's by stage. Empty before the first call. Raises what load() raises."""

    def __init__(self, activation, concat_layout, is_down_quacks, problem):
        self._gemms, self._sizes, self.choices = load("quack.gemm_interface"), sizes(problem), {}
        self._activation, self._concat_layout, self._is_down_quacks = activation, concat_layout, is_down_quacks

    def __call__(self, x, w_gate_up, w_down, *scales):
        if not self.choices:
            return self._call_first(x, w_gate_up, w_down, *scales)
        return self._down(self._gated(x, w_gate_up, *scales), w_down, *scales)

    def _call_first(self, x, w_gate_up, w_down, *scales):
        """Tunes, and records the tuner's choices."""
        with noted(self.choices, (f"gate_up_{self._activation}", self._concat_layout), self._sizes):
            hidden = self._gated(x, w_gate_up, *scales)
        if not self._is_down_quacks:
            return self._down(hidden, w_down, *scales)
        with noted(self.choices, ("down_proj",), self._sizes):
            return self._down(hidden, w_down, *scales)

    def _gated(self, x, w_gate_up, *_):
        """Stores only the unit's result, as in inference."""
        with fusegate.stage(f"gate_up_{self._activation}"):
            return self._gemms.gemm_gated(x, w_gate_up, activation=self._activation, store_preact=False,
                                          concat_layout=self._concat_layout)[1]

    def _down(self, hidden, w_down, *_):
        with fusegate.stage("down_proj"):
            if self._is_down_quacks:
                # With split_k=None the tuner also splits the sum; otherwise few rows would leave most of the GPU idle.
                return self._gemms.gemm(hidden, w_down, split_k=None)
            return torch.nn.functional.linear(hidden, w_down)


class QuackFp8Mlp(QuackMlp):
    """The same in fp8, with one scale a tensor; QuACK has no other for e4m3. On sm_90 it writes bf16, and promotes its sums to
    fp32: it does not offer fast accumulation. The compiler's kernel rounds h."""

    def __init__(self, activation, is_down_quacks, problem):
        super().__init__(activation.quack, INTERLEAVED, is_down_quacks, problem)
        self._factors = compiled(lambda x, w, h, w_down: ((x * w).flatten(), (h * w_down).flatten()))
        self._round = compiled(lambda h, of_up, h_scale: fp8.e4m3(h.float() * (of_up / h_scale)))

    def _gated(self, x, w_gate_up, *scales):
        """h, and the factor of its product with w_down."""
        x_scale, w_scale, of_up, w_down_scale, h_scale = scales
        with fusegate.stage(f"gate_up_{self._activation}"):
            factor, of_down = self._factors(x_scale, w_scale, h_scale, w_down_scale)
            h = self._gemms.gemm_gated(x, w_gate_up, activation=self._activation, alpha=factor, store_preact=False,
                                       postact_dtype=torch.bfloat16, concat_layout=self._concat_layout)[1]
        with fusegate.stage("round"):
            return self._round(h, of_up, h_scale), of_down

    def _down(self, hidden, w_down, *scales):
        (h, factor), (*_, w_down_scale, h_scale) = hidden, scales
        with fusegate.stage("down_proj"):
            if self._is_down_quacks:
                return self._gemms.gemm(h, w_down, alpha=factor, out_dtype=torch.bfloat16, split_k=None)
            return fp8.scaled_mm(h, w_down, h_scale, w_down_scale)


class QuackStep(Step):
    """A step of training by QuACK's mlp_func. Its gradient of the input of the down projection and the unit's are one GEMM
    (gemm_dgated). keeps: both input projections, for the backward pass, which otherwise computes them again. Raises what
    load() raises."""

    def __init__(self, activation, concat_layout, keeps, problem):
        forward = functools.partial(load("quack.mlp").mlp_func, activation=activation, recompute=not keeps,
                                    concat_layout=bool(concat_layout))
        super().__init__(forward, problem, functools.partial(unpacked, concat_layout))
        self._product, self._sizes = ("gemms", activation, concat_layout, keeps), sizes(problem)

    def __call__(self, *inputs):
        if self.choices:
            return super().__call__(*inputs)
        with noted(self.choices, self._product, self._sizes):
            return super().__call__(*inputs)


@contextlib.contextmanager
def noted(choices, product, problem_sizes):
    """Adds what the tuner chooses meanwhile, by the product's first name."""
    with _asked(load("quack.autotuner").Autotuner) as configs:
        yield
    key = (*product, problem_sizes)
    if configs:
        _taken[key] = "; ".join(map(config_text, configs))
    choices[product[0]] = _taken.get(key, "unknown")


def config_text(config):
    """config: QuACK's AutotuneConfig, which holds a GemmConfig: tiles, cluster, schedule and split."""
    fields = dataclasses.asdict(config.kwargs["config"])
    return ", ".join(f"{name}={value}" for name, value in fields.items()
                     if value is not None and name != "device_capacity")


@contextlib.contextmanager
def _asked(autotuner):
    """The configurations that tuners of this class choose meanwhile: newly tuned, or found on disk."""
    ask, configs = autotuner.__call__, []

    def note(tuner, *arguments, **named):
        result = ask(tuner, *arguments, **named)
        configs.append(tuner.best_config)
        return result
    autotuner.__call__ = note
    try:
        yield configs
    finally:
        autotuner.__call__ = ask


@functools.lru_cache(maxsize=None)
def load(name):
    """Imports a module of QuACK's. Raises ImportError if QuACK would load but refuse to compute, or has another tuner than
    $FUSEGATE_QUACK_TUNING=quick expects."""
    # QuACK reads both variables when it is imported. Its cache does not record the GPU.
    os.environ.setdefault("QUACK_CACHE_DIR", str(cache_folder("quack")))
    os.environ.setdefault("QUACK_COMPILE_WORKERS", str(max(2, len(os.sched_getaffinity(0)) - 2)))
    add_cutlass_dsl()
    module = importlib.import_module(name)
    cutlass = pathlib.Path(importlib.import_module("cutlass").__file__)
    if not {"site-packages", "dist-packages"} & set(cutlass.parts):
        raise ImportError(f"QuACK refuses every gated unit unless nvidia-cutlass-dsl is in a folder named site-packages, but "
                          f"it is in {cutlass.parent}; install both into one")
    if name == "quack.autotuner" and os.environ.get("FUSEGATE_QUACK_TUNING") == "quick":
        tune_quickly(module)
    return module


def tune_quickly(autotuner):
    """Makes QuACK's tuner spend about a quarter of the time: 60 calls after 20 ms for each candidate, not 200 after 200."""
    name = "_bench_cuda_graph_l2_rotate"
    if not hasattr(autotuner, name):
        raise ImportError(f"FUSEGATE_QUACK_TUNING=quick: this QuACK's tuner has no {name}; unset the variable")
    setattr(autotuner, name, functools.partial(getattr(autotuner, name), warmup_target_ms=20, n_timed_calls=60))


def add_cutlass_dsl():
    """Makes nvidia-cutlass-dsl importable, also for QuACK's compiling processes: Python finds it by a .pth file, which it does
    not read after `pip install --target`."""
    if importlib.util.find_spec("cutlass") is not None:
        return
    package = importlib.util.find_spec("nvidia_cutlass_dsl")
    for folder in package.submodule_search_locations if package else ():
        inner = os.path.join(folder, "dsl_packages")
        if os.path.isdir(inner):
            sys.path.insert(0, inner)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (inner, os.environ.get("PYTHONPATH"))))
            importlib.invalidate_caches()
            return
