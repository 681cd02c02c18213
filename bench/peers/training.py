"""Backward passes and steps of training of the gated units and their MLPs, from gated_unit_backward.cc and
gated_mlp_backward.cc: operations, and what PyTorch does for them.

Of a backward pass alone PyTorch's kernels are called as its autograd calls them. Two libraries have no part in it: Liger
overwrites g and u, and QuACK's gemm_dgated wants them interleaved, which only its own forward pass does. Both take steps."""

import functools
import math

import fusegate
import torch

from problems import GATED, PROBLEM, WEIGHTS, mlp_inputs, mlp_reference, rows, uniform


def operation(name, inputs, outputs, reference, products):
    """inputs, outputs: of a problem. products: how many of rows x dim x hidden; other work is not counted."""
    def moved(p):
        return p.itemsize * sum(math.prod(tensor.shape) for tensor in (*inputs(p).values(), *outputs(p).values()))
    return fusegate.Operation(
        name, **PROBLEM, inputs=inputs, outputs=outputs, reference=reference, bytes=moved,
        flops=lambda p: 2.0 * products * rows(p) * p.dim * p.hidden, weights=WEIGHTS if products else ())


def unit_backward_operation(unit):
    return operation(
        f"{unit}_backward", lambda p: {**kept(p), "dh": uniform(1, rows(p), p.hidden)},
        lambda p: {name: fusegate.empty(rows(p), p.hidden) for name in ("dg", "du")},
        functools.partial(unit_gradients, GATED[unit]), 0)


def mlp_backward_operation(unit):
    return operation(f"{unit}_mlp_backward", lambda p: {**step_inputs(p), **kept(p)}, gradients_of,
                     functools.partial(mlp_gradients, GATED[unit]), 6)


def mlp_training_operation(unit):
    def reference(x, w_gate, w_up, w_down, dy):
        out = mlp_reference(GATED[unit], x, w_gate, w_up, w_down)
        return (out, *mlp_gradients(GATED[unit], x, w_gate, w_up, w_down, dy, x @ w_gate.T, x @ w_up.T))
    return operation(f"{unit}_mlp_training", step_inputs,
                     lambda p: {"out": fusegate.empty(rows(p), p.dim), **gradients_of(p)}, reference, 9)


def kept(p):
    return {"g": uniform(3, rows(p), p.hidden), "u": uniform(1, rows(p), p.hidden)}


def step_inputs(p):
    return {**mlp_inputs(p), "dy": uniform(1, rows(p), p.dim)}


def gradients_of(p):
    return {f"d{name}": fusegate.empty(*tensor.shape) for name, tensor in mlp_inputs(p).items()}


def unit_gradients(activation, g, u, dh):
    return activation.slope(g) * u * dh, activation.formula(g) * dh


def mlp_gradients(activation, x, w_gate, w_up, w_down, dy, g, u):
    dg, du = unit_gradients(activation, g, u, dy @ w_down)
    return dg @ w_gate + du @ w_up, dg.T @ x, du.T @ x, dy.T @ (activation.formula(g) * u)


def unit_backward(activation):
    def backward(g, u, dh):
        return activation.eager_backward(u * dh, g), activation.eager(g) * dh
    return backward


def mlp_backward(activation):
    def backward(x, w_gate, w_up, w_down, dy, g, u):
        activated, dh = activation.eager(g), dy @ w_down
        dg, du = activation.eager_backward(u * dh, g), activated * dh
        return dg @ w_gate + du @ w_up, dg.T @ x, du.T @ x, dy.T @ (activated * u)
    return backward


def gradients(forward, leaves, dy):
    """The result of forward, and its product's with dy derivatives by the leaves. Without threads of autograd's own, whose
    memory would not be the benchmark's."""
    leaves = [leaf.detach().requires_grad_() for leaf in leaves]
    with torch.autograd.set_multithreading_enabled(False):
        out = forward(*leaves)
        return out.detach(), torch.autograd.grad(out, leaves, dy)


class Step:
    """A step of training: out, dx and the gradients of the weights. forward: of x and the weights. apart: makes the
    operation's gradients of forward's. choices, after the first call: the most memory that torch allocates for one, results
    included."""

    def __init__(self, forward, problem, apart=lambda gradients: gradients):
        self._forward, self._apart, self._is_on_gpu, self.choices = forward, apart, problem.device == "cuda", {}

    def __call__(self, *inputs):
        if self._is_on_gpu and not self.choices:
            self._call(*inputs)  # compiles and tunes, which takes memory too
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            result = self._call(*inputs)
            self.choices["peak_bytes"] = torch.cuda.max_memory_allocated() - before
            return result
        return self._call(*inputs)

    def _call(self, *inputs):
        *leaves, dy = inputs
        out, found = gradients(self._forward, leaves, dy)
        return (out, *self._apart(found))
