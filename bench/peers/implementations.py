"""The peers: what computes an operation, by which library. Each is built from the library's released package
and called as its users call it, on inputs that need no gradient."""

import dataclasses
import types

import problems

MAX_AUTOTUNE = "torch_compile_max_autotune"


@dataclasses.dataclass(frozen=True)
class Implementation:
    operation: str
    name: str
    needs: tuple  # names of libraries (libraries.py)
    stages: object  # of a problem: the work it must do at least
    build: object  # of the libraries: a function of the operation's inputs

    def benchmark_name(self, problem):
        return f"{self.operation}/{self.name}/{problem.name}"


def linear(functional):
    return functional.linear


def geglu(functional):
    def call(g, u):
        return functional.gelu(g, approximate="tanh") * u
    return call


def geglu_mlp(functional, gelu_mul=None):
    gelu_mul = gelu_mul or geglu(functional)

    def call(x, w_gate, w_up, w_down):
        hidden = gelu_mul(functional.linear(x, w_gate), functional.linear(x, w_up))
        return functional.linear(hidden, w_down)
    return call


def _eager(make):
    return lambda libraries: make(libraries["torch"].nn.functional)


def _compiled(make, mode=None):
    """Shapes are static, and nothing runs outside of what was compiled. The max-autotune mode is the one that
    captures no CUDA graphs of its own: the program captures all peers alike."""
    def build(libraries):
        torch = libraries["torch"]
        function = _with_code_of_its_own(_plain(make(torch.nn.functional)))
        return torch.compile(function, dynamic=False, fullgraph=True, mode=mode)
    return build


def _plain(function):
    """torch.nn.functional.linear is a builtin, without code to compile."""
    return function if isinstance(function, types.FunctionType) else lambda *inputs: function(*inputs)


def _with_code_of_its_own(function):
    """The compiler keeps its results with a function's code and gives up on code that it compiled for eight
    shapes. Places of all benchmarks are interleaved, so forgetting the others (torch._dynamo.reset) would mean
    to compile anew at every place; code of its own gives each benchmark a cache of its own."""
    return types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__,
                              function.__defaults__, function.__closure__)


def _liger_geglu(libraries):
    return libraries["liger"].ops.LigerGELUMulFunction.apply


def _liger_geglu_mlp(libraries):
    """What LigerGEGLUMLP.forward does, on weights that are handed over in place of its modules'."""
    return geglu_mlp(libraries["torch"].nn.functional, _liger_geglu(libraries))


TORCH, COMPILER, LIGER = ("torch",), ("torch", "triton"), ("torch", "triton", "liger")
AUTOTUNE = "max-autotune-no-cudagraphs"

# By operation, then name. The compilers' stages are those that they fuse by default: gelu and mul in one.
IMPLEMENTATIONS = (
    Implementation("geglu", "liger", LIGER, problems.geglu_fused_stages, _liger_geglu),
    Implementation("geglu", "torch_compile", COMPILER, problems.geglu_fused_stages, _compiled(geglu)),
    Implementation("geglu", MAX_AUTOTUNE, COMPILER, problems.geglu_fused_stages, _compiled(geglu, AUTOTUNE)),
    Implementation("geglu", "torch_eager", TORCH, problems.geglu_unfused_stages, _eager(geglu)),
    Implementation("geglu_mlp", "liger", LIGER, problems.geglu_mlp_fused_stages, _liger_geglu_mlp),
    Implementation("geglu_mlp", "torch_compile", COMPILER, problems.geglu_mlp_fused_stages, _compiled(geglu_mlp)),
    Implementation("geglu_mlp", MAX_AUTOTUNE, COMPILER, problems.geglu_mlp_fused_stages,
                   _compiled(geglu_mlp, AUTOTUNE)),
    Implementation("geglu_mlp", "torch_eager", TORCH, problems.geglu_mlp_unfused_stages, _eager(geglu_mlp)),
    Implementation("linear", "torch_compile", COMPILER, problems.linear_stages, _compiled(linear)),
    Implementation("linear", "torch_eager", TORCH, problems.linear_stages, _eager(linear)),
)
