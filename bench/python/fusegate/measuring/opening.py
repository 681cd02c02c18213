"""Opens a device and what times it."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..console import complain
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
        auto: CUDA where torch finds a GPU, and else the CPU.
    needs_torch : bool
        False where every operation takes NumPy's arrays.

    Returns
    -------
    device, meter

    Raises
    ------
    InputError
        Where there is no such device, or no library to drive it.
    """
    quieten()
    if kind == "auto" and not needs_torch:
        kind = "cpu"
    try:
        torch = importlib.import_module("torch") if needs_torch or kind == "cuda" else None
    # A library that is there may still fail in any way when it is loaded, without a driver for one.
    except Exception as error:  # pylint: disable=broad-except
        raise InputError("torch", "", f"cannot be imported, and drives the device for torch's, Triton's and CuPy's "
                                      f"kernels ({one_line(error)})") from error
    if torch is not None and (kind == "cuda" or (kind == "auto" and torch.cuda.is_available())):
        if not torch.cuda.is_available():
            raise InputError("--device", "", f"torch {torch.__version__} finds no CUDA GPU")
        return open_cuda(torch)
    if torch is not None:
        torch.set_grad_enabled(False)
        return TorchDevice(torch, "cpu"), HostMeter()
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        raise InputError("numpy", "", f"cannot be imported, and the operations take its arrays ({error})") from error
    return NumpyDevice(numpy), HostMeter()


def open_cuda(torch: Any, program: str = "fusegate") -> tuple[TorchDevice, CudaMeter]:
    """With a stream of its own. Triton is tried out there: without a C compiler, for one, it imports and compiles
    nothing."""
    torch.cuda.set_stream(torch.cuda.Stream())  # the default one cannot be captured
    cupy = sys.modules.get("cupy")
    if cupy is not None:  # its kernels are launched where torch's are
        cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream).use()
    torch.set_grad_enabled(False)
    read_clocks = None
    try:
        read_clocks = clock_reader(torch)
    except Exception as error:  # pylint: disable=broad-except
        complain(f"SM clocks are not read, since Triton runs no kernel here ({one_line(error)})", program)
    return TorchDevice(torch), CudaMeter(torch, read_clocks)


def clock_reader(torch: Any):
    """The kernel that reads the SM clocks. It has run once."""
    from .sm_clock_kernel import FIELDS, enqueue_read_clocks  # pylint: disable=import-outside-toplevel
    enqueue_read_clocks(torch.zeros((1, FIELDS), dtype=torch.int64, device="cuda"))
    torch.cuda.synchronize()
    return enqueue_read_clocks
