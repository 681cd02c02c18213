"""The peers: which library computes which operation, and how. Each peer is the library's released package, called as its
users call it, on inputs without gradients."""

import dataclasses
import importlib
import types
from functools import partial

import problems
import quack_mlp
from cudnn_mlp import CudnnMlp
from problems import GATED
from quack_mlp import CONCATENATED, INTERLEAVED, QuackMlp

MAX_AUTOTUNE = "torch_compile_max_autotune"


@dataclasses.dataclass(frozen=True)
class Implementation:
    operation: str
    name: str
    needs: tuple  # names of LIBRARIES
    stages: object  # of a problem: the least work
    build: object  # of the libraries and the problem: a function of the operation's inputs, which may have choices
    prepare: object = None  # of the libraries: a function of the inputs that returns the arguments of build's function

    def benchmark_name(self, problem):
        return f"{self.operation}/{self.name}/{problem.name}"


# For fusegate.machine.libraries: package and modules by name.
LIBRARIES = {"torch": ("torch", "torch"), "triton": ("triton", "triton"),
             "liger": ("liger-kernel", "liger_kernel", "liger_kernel.ops"),
             "quack": ("quack-kernels", "quack", "quack.gemm_interface"),
             "cutlass_dsl": ("nvidia-cutlass-dsl", "cutlass"), "cudnn": ("nvidia-cudnn-frontend", "cudnn")}


def needed_libraries(benchmarks):
    """The part of LIBRARIES that these benchmarks need: some take ten seconds to load."""
    needed = {"torch", "triton", *(name for each in benchmarks for name in each.implementation.requires)}
    return {name: modules for name, modules in LIBRARIES.items() if name in needed}


def load(module, device):
    """device: the GPU's name."""
    is_quacks = module.partition(".")[0] in ("quack", "cutlass")
    return quack_mlp.load(module, device) if is_quacks else importlib.import_module(module)


def linear(functional):
    return functional.linear


def gated(activation, functional):
    activate = activation.eager

    def call(g, u):
        return activate(functional, g) * u
    return call


def gated_mlp(activation, functional, unit=None):
    unit = unit or gated(activation, functional)

    def call(x, w_gate, w_up, w_down):
        hidden = unit(functional.linear(x, w_gate), functional.linear(x, w_up))
        return functional.linear(hidden, w_down)
    return call


def _eager(make):
    return lambda libraries, _: make(libraries["torch"].nn.functional)


def _compiled(make, mode=None):
    """Compiles for static shapes and without graph breaks. Of the max-autotune modes it takes the one without CUDA graphs,
    since peers.py captures all peers in the same way."""
    def build(libraries, _):
        torch = libraries["torch"]
        function = _with_code_of_its_own(_plain(make(torch.nn.functional)))
        return torch.compile(function, dynamic=False, fullgraph=True, mode=mode)
    return build


def _plain(function):
    """A Python function: torch.nn.functional.linear is a builtin, which has no code to compile."""
    return function if isinstance(function, types.FunctionType) else lambda *inputs: function(*inputs)


def _with_code_of_its_own(function):
    """The compiler caches its results by a function's code, and gives up on code that it compiled for eight shapes. So each
    benchmark gets code of its own. Clearing the cache (torch._dynamo.reset) would make every benchmark compile again in
    every layout, since layouts are interleaved."""
    return types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__,
                              function.__defaults__, function.__closure__)


def _liger(activation, libraries, _=None):
    return getattr(libraries["liger"].ops, activation.liger).apply


def _liger_mlp(activation, libraries, _):
    """The forward pass of Liger's MLP, with weights as inputs."""
    return gated_mlp(activation, libraries["torch"].nn.functional, _liger(activation, libraries))


TORCH, COMPILER, LIGER = ("torch",), ("torch", "triton"), ("torch", "triton", "liger")
QUACK, CUDNN = ("torch", "triton", "quack", "cutlass_dsl"), ("torch", "cudnn")
AUTOTUNE = "max-autotune-no-cudagraphs"


def _torch(operation, make, fused, unfused):
    """Compiled peers have activation and mul in one stage, as the compiler fuses them by default."""
    return (Implementation(operation, "torch_compile", COMPILER, fused, _compiled(make)),
            Implementation(operation, MAX_AUTOTUNE, COMPILER, fused, _compiled(make, AUTOTUNE)),
            Implementation(operation, "torch_eager", TORCH, unfused, _eager(make)))


def _gated(unit, activation):
    found = []
    for operation, stages, make, liger in ((unit, problems.gated_stages, gated, _liger),
                                           (f"{unit}_mlp", problems.gated_mlp_stages, gated_mlp, _liger_mlp)):
        fused, unfused = (partial(stages, unit, is_fused) for is_fused in (True, False))
        if activation.liger:
            found.append(Implementation(operation, "liger", LIGER, fused, partial(liger, activation)))
        found.extend(_torch(operation, partial(make, activation), fused, unfused))
    found.append(Implementation(f"{unit}_mlp", "cudnn", CUDNN, partial(problems.up_gate_mlp_stages, unit),
                                partial(CudnnMlp, unit=unit, activation=activation.cudnn)))
    return found + (_quack(unit, activation.quack) if activation.quack else [])


def _quack(unit, activation):
    found = []
    for name, layout, is_down_quacks in (("quack", INTERLEAVED, False), ("quack_both", INTERLEAVED, True),
                                         ("quack_concat", CONCATENATED, False),
                                         ("quack_concat_both", CONCATENATED, True)):
        found.append(Implementation(
            f"{unit}_mlp", name, QUACK, partial(problems.gate_up_mlp_stages, unit),
            partial(QuackMlp, activation=activation, layout=layout, is_down_quacks=is_down_quacks),
            partial(quack_mlp.prepare, layout, is_down_quacks)))
    return found


# By operation, then name.
IMPLEMENTATIONS = tuple(sorted((
    *(each for unit, activation in GATED.items() for each in _gated(unit, activation)),
    Implementation("linear", "torch_compile", COMPILER, problems.linear_stages, _compiled(linear)),
    Implementation("linear", "torch_eager", TORCH, problems.linear_stages, _eager(linear)),
), key=lambda each: (each.operation, each.name)))
