"""Allocates tensors with canaries around them, in numbered memory layouts.

The distances between tensors decide which of their lines share an L2 set, which changed times of kernels near the L2's
size by 1 % (kernels/contract/layout_arena.h). A layout's number fixes the distances between tensors that are allocated in
the same order, in every process."""

from __future__ import annotations

import math
import random
from typing import Any, Optional

from ..errors import InputError
from ..tensors import DTYPES

ALIGNMENT = 512  # cudaMalloc's is at least 256
GUARD_BYTES = 4096
CANARY = 0xA5
_BLOCK_BYTES = 1 << 30
_MOST_BLOCKS = 4
_GAP_STEP, _GAP_STEPS = 64 << 10, 256  # up to 16 MiB, a third of an H200's L2


class Buffer:
    """A tensor between two canaries.

    Attributes
    ----------
    array
        The tensor itself, in the device's own library.
    """

    def __init__(self, device: Any, raw: Any, begin: int, shape: tuple[int, ...], dtype: str):
        self._device, self._raw = device, raw
        self.bytes = math.prod(shape) * DTYPES[dtype][0]
        inner, end = begin + GUARD_BYTES, begin + GUARD_BYTES + self.bytes
        self._before, self._after = (begin, inner), (end, end + GUARD_BYTES)
        for first, last in (self._before, self._after):
            device.bytes_of(raw, first, last)[...] = CANARY
        self.array = device.view(device.bytes_of(raw, inner, end), shape, dtype)

    def overrun(self) -> str:
        """Writes outside of it, in words; empty if there are none."""
        found = []
        for where, (first, last) in (("before", self._before), ("after", self._after)):
            count = self._device.count_other(self._device.bytes_of(self._raw, first, last), CANARY)
            if count:
                found.append(f"{count} bytes {where} it")
        return " and ".join(found)


def padded(number_of_bytes: int) -> int:
    whole = number_of_bytes + 2 * GUARD_BYTES
    return (whole + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def layout_bytes(sizes: list[int]) -> int:
    """The most bytes that a layout of tensors of these sizes takes."""
    return sum(padded(size) for size in sizes) + (len(sizes) + 1) * _GAP_STEP * _GAP_STEPS


class Arena:
    """Blocks of contiguous memory for numbered layouts.

    Parameters
    ----------
    device
        Has ``raw(bytes)`` and ``free_bytes()``.
    sizes : list of int
        Bytes of the tensors of the largest layout.
    seed : int
        Chooses the block of each layout at random, since no process can choose its blocks' addresses.
    """

    def __init__(self, device: Any, sizes: list[int], seed: int):
        block_bytes = max(_BLOCK_BYTES, layout_bytes(sizes))
        blocks = min(_MOST_BLOCKS, device.free_bytes() // 2 // block_bytes)
        if blocks < 1:
            raise InputError("protocol.layout", "", f"numbered layouts of these tensors need twice {block_bytes / 1e9:.1f} GB "
                                                    f"of free memory; measure with --layout=driver")
        self._blocks = [device.raw(block_bytes) for _ in range(blocks)]
        self._choose, self._block_bytes = random.Random(seed), block_bytes
        self._gaps, self._raw, self._offset = random.Random(0), self._blocks[0], 0

    def begin(self, number: int) -> None:
        """Begins the layout of that number. Tensors of the layout before must no longer be used."""
        self._gaps = random.Random(number)
        self._raw = self._blocks[self._choose.randrange(len(self._blocks))]
        self._offset = self._gap()

    def allocate(self, number_of_bytes: int) -> tuple[Any, int]:
        """The block, and the offset in it."""
        begin = self._offset
        self._offset += padded(number_of_bytes) + self._gap()
        if begin + padded(number_of_bytes) > self._block_bytes:
            raise MemoryError("the inputs are larger than they were during the check; `inputs` must return the same shapes")
        return self._raw, begin

    def _gap(self) -> int:
        return self._gaps.getrandbits(8) % _GAP_STEPS * _GAP_STEP


class Memory:
    """The part that all devices share: allocating tensors."""

    def __init__(self):
        self._arena: Optional[Arena] = None
        self._is_laid_out = False

    def raw(self, number_of_bytes: int) -> Any:
        raise NotImplementedError

    def draw(self, array: Any, how: str, numbers: list[float], generator: Any) -> None:
        """Fills it with random numbers of a distribution, or with one number."""
        raise NotImplementedError

    def fill(self, array: Any, fill: Any, generator: Any) -> None:
        """fill: of a Tensor (tensors.py)."""
        if callable(fill):
            fill(array, generator)
        elif fill is not None:
            self.draw(array, fill[0], list(fill[1:]), generator)

    def reserve(self, sizes: list[int], seed: int) -> None:
        """Allocates the blocks for numbered layouts."""
        if self._arena is None:
            self._arena = Arena(self, sizes, seed)

    def lay_out(self, number: Optional[int]) -> None:
        """Allocates from the layout of that number from now on; None: from the driver or malloc."""
        self._is_laid_out = number is not None
        if number is not None:
            self._arena.begin(number)

    def allocate(self, shape: tuple[int, ...], dtype: str) -> Buffer:
        number_of_bytes = math.prod(shape) * DTYPES[dtype][0]
        raw, begin = (self._arena.allocate(number_of_bytes) if self._is_laid_out
                      else (self.raw(padded(number_of_bytes)), 0))
        return Buffer(self, raw, begin, tuple(shape), dtype)
