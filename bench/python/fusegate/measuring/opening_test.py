"""Which device is opened, and what is said where there is none."""

import contextlib
import io
import sys
import types
import unittest
from unittest import mock

try:
    import numpy  # noqa: F401: what the CPU is measured with
except ImportError:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.errors import InputError
from fusegate.measuring.opening import open_cuda, open_device


class FakeTorch(types.SimpleNamespace):
    def __init__(self, has_gpu):
        self.streams, self.grad = [], True
        super().__init__(
            __version__="2.11.0", int64="int64", uint8="uint8", set_grad_enabled=lambda on: setattr(self, "grad", on),
            zeros=lambda *_, **__: [0, 0], cuda=types.SimpleNamespace(
                is_available=lambda: has_gpu, set_stream=self.streams.append, Stream=lambda: "a stream",
                current_stream=lambda: types.SimpleNamespace(cuda_stream=77), synchronize=lambda: None,
                get_device_properties=lambda _: types.SimpleNamespace(multi_processor_count=4, L2_cache_size=100)))


class OpenDeviceTest(unittest.TestCase):
    def opened(self, kind, needs_torch, torch):
        errors = io.StringIO()
        with mock.patch.dict(sys.modules, {"torch": torch, "triton": None}), contextlib.redirect_stderr(errors):
            device, meter = open_device(kind, needs_torch)
        return device.kind, type(device).__name__, type(meter).__name__, errors.getvalue()

    def test_takes_the_gpu_where_torch_finds_one(self):
        kind, device, meter, errors = self.opened("auto", True, FakeTorch(has_gpu=True))
        self.assertEqual((kind, device, meter), ("cuda", "TorchDevice", "CudaMeter"))
        self.assertRegex(errors, "fusegate: SM clocks cannot be read, because Triton runs no kernel here")
        self.assertEqual(self.opened("auto", True, FakeTorch(has_gpu=False))[:3], ("cpu", "TorchDevice", "HostMeter"))
        self.assertEqual(self.opened("cpu", True, FakeTorch(has_gpu=True))[:3], ("cpu", "TorchDevice", "HostMeter"))

    def test_numpys_kernels_need_no_torch(self):
        self.assertEqual(self.opened("auto", False, None), ("cpu", "NumpyDevice", "HostMeter", ""))

    def test_says_what_is_missing(self):
        for kind, needs_torch, torch, expected in (
                ("auto", True, None, "torch: cannot be imported, and kernels of torch, Triton and CuPy need it"),
                ("cuda", False, None, "torch: cannot be imported"),
                ("cuda", True, FakeTorch(has_gpu=False), "--device: torch 2.11.0 finds no CUDA GPU")):
            with self.subTest(expected), self.assertRaisesRegex(InputError, expected):
                self.opened(kind, needs_torch, torch)
        with mock.patch.dict(sys.modules, {"numpy": None}), self.assertRaisesRegex(InputError, "numpy: cannot be imported"):
            open_device("cpu", False)

    def test_everything_runs_on_a_stream_that_can_be_captured_cupys_kernels_too(self):
        torch, used = FakeTorch(has_gpu=True), []
        stream = types.SimpleNamespace(use=lambda: used.append(stream.number))

        def external(number):
            stream.number = number
            return stream
        cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(ExternalStream=external))
        with mock.patch.dict(sys.modules, {"cupy": cupy, "triton": None}), contextlib.redirect_stderr(io.StringIO()):
            open_cuda(torch)
        self.assertEqual((torch.streams, used, torch.grad), (["a stream"], [77], False))
