"""PyTorch's compiler, for static shapes and without graph breaks. Of the max-autotune modes it takes the one without CUDA
graphs, since all peers are captured in the same way."""

import types

import torch

MODES = {"torch_compile": None, "torch_compile_max_autotune": "max-autotune-no-cudagraphs"}


def compiled(function, mode=None):
    """The compiler caches its results by a function's code, and gives up on code that it compiled for eight shapes. So each
    benchmark gets code of its own."""
    own = types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__, function.__defaults__,
                             function.__closure__)
    return torch.compile(own, dynamic=False, fullgraph=True, mode=mode)
