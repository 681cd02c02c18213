"""Torch's pools, with a fake torch that ends as torch does where one is freed too early."""

import contextlib
import gc
import types
import unittest

from fusegate.arrays import Torch


class FakeCuda:
    def __init__(self):
        self.entered, self.freed, self.freed_too_early = [], [], []
        cuda = self

        class MemPool:
            def __del__(self):
                (cuda.freed_too_early if cuda.entered else cuda.freed).append(id(self))
        self.MemPool = MemPool

    @contextlib.contextmanager
    def use_mem_pool(self, pool):
        self.entered.append(id(pool))
        yield
        self.entered.remove(id(pool))

    def init(self):
        pass

    def set_device(self, number):
        self.current = number

    def set_stream(self, stream):
        self.stream = stream

    @staticmethod
    def ExternalStream(address):  # pylint: disable=invalid-name
        return address



class PoolTest(unittest.TestCase):
    def setUp(self):
        self.cuda = FakeCuda()
        own = types.SimpleNamespace(_len_torch_dispatch_stack=lambda: 0, _len_torch_function_stack=lambda: 0,
                                    _cuda_getDevice=lambda: self.cuda.current, _cuda_getCurrentRawStream=lambda _: self.cuda.stream)
        utils = types.SimpleNamespace(_device=types.SimpleNamespace(DeviceContext=None))
        torch = types.SimpleNamespace(Tensor=type(None), cuda=self.cuda, ones=lambda *_, **__: None, mm=lambda *_: None,
                                      _C=own, utils=utils, __name__="torch")
        self.torch = Torch(torch, "cuda", 7, 1)

    def test_are_freed_when_all_are_left(self):
        first, second = self.torch.enter_pool(), self.torch.enter_pool()
        second()
        del second
        gc.collect()
        self.assertEqual((self.cuda.freed, self.cuda.freed_too_early), ([], []))
        third = self.torch.enter_pool()
        first()
        third()
        del first, third
        gc.collect()
        self.assertEqual((len(self.cuda.freed), self.cuda.freed_too_early), (3, []))

    def test_a_callable_must_leave_the_stream_as_it_is(self):
        self.assertEqual(self.torch.changed_device(), "")
        self.cuda.set_stream(8)
        self.assertEqual(self.torch.changed_device(), "makes another stream the current one")
        self.assertEqual(self.torch.changed_device(), "", "and it is set again")

    def test_a_callable_must_leave_its_ranks_device_as_it_is(self):
        self.assertEqual((self.cuda.current, self.torch.changed_device()), (1, ""))
        self.cuda.current = 0
        self.assertEqual(self.torch.changed_device(), "makes cuda:0 the current device")


if __name__ == "__main__":
    unittest.main()
