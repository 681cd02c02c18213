"""Layouts by number, and canaries."""

import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.errors import InputError
from fusegate.measuring.memory import ALIGNMENT, Arena, Buffer, layout_bytes, padded
from fusegate.measuring.numpy_device import NumpyDevice

SIZES = [3 << 20, 1000, 7 << 20, 1, 4096]
KEPT = [0, 7413760, 19809280, 33121280, 46433792]


class Blocks:
    """Memory that nobody writes to: a block is its number."""

    def __init__(self, free=1 << 40):
        self.made, self.free = [], free

    def free_bytes(self):
        return self.free

    def raw(self, number_of_bytes):
        self.made.append(number_of_bytes)
        return len(self.made)


class ArenaTest(unittest.TestCase):
    @staticmethod
    def distances(arena, number):
        arena.begin(number)
        begins = [arena.allocate(size)[1] for size in SIZES]
        return [begin - begins[0] for begin in begins]

    def test_one_number_has_the_same_distances_in_every_process(self):
        one, other = Arena(Blocks(), SIZES, 1), Arena(Blocks(), SIZES, 2)
        for number in (0, 1, 47):
            self.assertEqual(self.distances(one, number), self.distances(other, number))
        self.assertEqual(len({tuple(self.distances(one, number)) for number in range(50)}), 50)

    def test_keeps_its_layouts(self):
        # The numbers of one machine must be those of the next, whatever its Python.
        self.assertEqual(self.distances(Arena(Blocks(), SIZES, 1), 5), KEPT)

    def test_tensors_lie_apart_and_aligned_and_fit(self):
        blocks = Blocks()
        arena = Arena(blocks, SIZES, 1)
        for number in range(100):
            arena.begin(number)
            end = 0
            for size in SIZES:
                _, begin = arena.allocate(size)
                self.assertEqual(begin % ALIGNMENT, 0)
                self.assertGreaterEqual(begin, end)
                end = begin + padded(size)
            self.assertLessEqual(end, blocks.made[0])

    def test_begins_in_any_block(self):
        arena, seen = Arena(Blocks(), SIZES, 1), set()
        for _ in range(100):
            arena.begin(7)
            seen.add(arena.allocate(1)[0])
        self.assertEqual(seen, {1, 2, 3, 4})

    def test_takes_no_more_than_there_is(self):
        blocks = Blocks(free=5 << 30)
        Arena(blocks, [1 << 30], 1)
        self.assertEqual(blocks.made, [layout_bytes([1 << 30])] * 2)
        with self.assertRaisesRegex(InputError, "protocol.layout: numbered layouts of these tensors need twice 1.1 GB "
                                                "of free memory; measure with --layout=driver"):
            Arena(Blocks(free=1 << 30), [1 << 30], 1)


class BufferTest(unittest.TestCase):
    def test_finds_writes_outside(self):
        device = NumpyDevice(numpy)
        raw = device.raw(padded(24))
        buffer = Buffer(device, raw, 0, (2, 3), "fp32")
        buffer.array[...] = 7
        self.assertEqual(buffer.overrun(), "")
        first = buffer.array.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
        raw[first - 1] = 0
        self.assertEqual(buffer.overrun(), "1 bytes before it")
        raw[first + 24:first + 27] = 0
        self.assertEqual(buffer.overrun(), "1 bytes before it and 3 bytes after it")

    def test_numbered_tensors_lie_in_the_arena(self):
        device = NumpyDevice(numpy)
        device.reserve([24], 1)
        device.lay_out(3)
        laid_out = device.allocate((2, 3), "fp32").array
        self.assertGreater(laid_out.base.base.size if laid_out.base.base is not None else laid_out.base.size, 1 << 29)
        device.lay_out(None)
        self.assertEqual(device.allocate((2, 3), "fp32").array.shape, (2, 3))
