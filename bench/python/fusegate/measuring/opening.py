"""Opens a device and its meter."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..console import log
from ..errors import InputError, one_line
from ..machine.libraries import quieten
from .cuda_meter import CudaMeter
from .host_meter import HostMeter
from .numpy_device import NumpyDevice
from .torch_device import TorchDevice


def open_device(kind: str, needs_torch: bool) -> tuple[Any, Any]:
    """
    Parameters
    ----------
    kind : {"auto", "cuda", "cpu"}
        auto: CUDA if torch finds a GPU, else the CPU.
    needs_torch : bool
        False if every operation takes NumPy's arrays.

    Returns
    -------
    device, meter

    Raises
    ------
    InputError
        If there is no such device, or no library for it.
    """
    quieten()
    if kind == "auto" and not needs_torch:
        kind = "cpu"
    try:
        torch = importlib.import_module("torch") if needs_torch or kind == "cuda" else None
    # An installed library may fail in any way when it is loaded, for example without a driver.
    except Exception as error:  # pylint: disable=broad-except
        raise InputError("torch", "", f"cannot be imported, and kernels of torch, Triton and CuPy need it "
                                      f"({one_line(error)}); install it, or use NumPy's arrays") from error
    if torch is not None and (kind == "cuda" or (kind == "auto" and torch.cuda.is_available())):
        if not torch.cuda.is_available():
            raise InputError("--device", "", f"torch {torch.__version__} finds no CUDA GPU; measure with --device=cpu")
        return open_cuda(torch)
    if torch is not None:
        torch.set_grad_enabled(False)
        return TorchDevice(torch, "cpu"), HostMeter()
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        raise InputError("numpy", "", f"cannot be imported, and the operations take its arrays ({error}); install it") from error
    return NumpyDevice(numpy), HostMeter()


def open_cuda(torch: Any, program: str = "fusegate") -> tuple[TorchDevice, CudaMeter]:
    """Opens the GPU with a stream of its own, and runs a Triton kernel there: without a C compiler, for example, Triton can
    be imported but compiles nothing."""
    torch.cuda.set_stream(torch.cuda.Stream())  # the default one cannot be captured
    cupy = sys.modules.get("cupy")
    if cupy is not None:  # launches its kernels on the same stream
        cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream).use()
    torch.set_grad_enabled(False)
    read_clocks = None
    try:
        read_clocks = clock_reader(torch)
    except Exception as error:  # pylint: disable=broad-except
        log(f"SM clocks cannot be read, because Triton runs no kernel here ({one_line(error)})", program)
    return TorchDevice(torch), CudaMeter(torch, read_clocks)


def clock_reader(torch: Any):
    """The kernel that reads the SM clocks, after a first run."""
    from .sm_clock_kernel import FIELDS, enqueue_read_clocks  # pylint: disable=import-outside-toplevel
    enqueue_read_clocks(torch.zeros((1, FIELDS), dtype=torch.int64, device="cuda"))
    torch.cuda.synchronize()
    return enqueue_read_clocks
