"""The program `fusegate_bench FILE`, and of a file of kernels that ends in fusegate.main(): measures once, in one process."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import json
import os
import pathlib
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Callable, Optional

from . import engine, exchange, loading
from .binding import Binding, is_installed
from .console import log, take_streams
from .errors import InputError
from .implementation import Implementation
from .version import __version__

# The suite of the registered problems.
ALL = "all"
# What decides speeds, where a file imports it; and what an implementation requires.
_LIBRARIES = ("torch", "triton", "cupy", "numpy", "liger_kernel")
_START = pathlib.Path.cwd()
_USAGE = f"""usage: fusegate_bench FILE_OR_MODULE [flags]
       fusegate_bench FILE_OR_MODULE --help

Measures the benchmarks that a Python file registers with @fusegate.benchmark, once, in one process. Without --suite:
"{ALL}", every registered problem. A run of several processes:

    fusegate run --program "fusegate_bench FILE" --suite {ALL}"""


def main(arguments: Optional[Sequence[str]] = None, *, suites: Optional[str] = None, foreign_suites: bool = False) -> None:
    """Measure the registered benchmarks, as the command line asks, and end the program.

    As the last line of a file of kernels, it makes the file a program for ``fusegate run --program``::

        if __name__ == "__main__":
            fusegate.main()

    Args:
      arguments: the command line; by default ``sys.argv[1:]``.
      suites: the folder of named suites; by default ``suites`` beside the file.
      foreign_suites: True if the suites are another program's: of what they name, this one measures the operations that it
        has, with all of its implementations.

    Raises InputError if ``fusegate_bench`` loads the file: it must call this only as the program itself. Raises SystemExit
    with 0 if every benchmark was measured, and with 2 if one failed, or the flags cannot be followed.
    """
    loading.require_loaded()
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Python 3.9 has no sys.orig_argv.
    restart = [sys.executable, *getattr(sys, "orig_argv", [None, *sys.argv])[1:]]
    sys.exit(_guarded(lambda: _measure(loading.Kernels(sys.argv[0], pathlib.Path(sys.argv[0]).resolve().parent), given, restart,
                                       suites, foreign_suites)))


def command(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs `fusegate_bench`. Returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for names, text in ((("--help", "-h"), _USAGE), (("--version",), f"fusegate {__version__}")):
        if given and given[0] in names:
            print(text)
            return 0

    def work() -> int:
        if not given or given[0].startswith("-"):
            raise InputError("the command line", "", "names no file of kernels; use `fusegate_bench FILE_OR_MODULE [flags]`")
        return _measure(loading.load(given[0]), given[1:], [sys.executable, "-m", "fusegate.bench", *given])
    return _guarded(work)


def _guarded(work: Callable[[], int]) -> int:
    """Returns the exit code. Prints an error as one line."""
    take_streams()
    # A line of the engine must not end up within one of Python's.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        try:
            return work()
        finally:
            sys.stdout.flush()  # a full disk behind a redirection shows only now
    except InputError as error:
        log(f"rank {exchange.OTHER}: {error}" if exchange.OTHER else error, "fusegate_bench")
    except KeyboardInterrupt:
        if not exchange.OTHER:
            log("interrupted", "fusegate_bench")
    except OSError as error:
        log(f"standard output: cannot be written: {error.strerror}", "fusegate_bench")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python reports the same error when it ends
    return 2


def _measure(kernels: loading.Kernels, flags: list[str], restart: list[str], suites: Optional[str] = None,
             foreign_suites: bool = False) -> int:
    loaded = engine.load()
    binding, callbacks = Binding(loaded), engine.Callbacks()
    for operation in kernels.operations:
        binding.add(operation)
    if not any(flag.startswith("--device") for flag in flags) and not any(map(_may_use_a_gpu, kernels.implementations)):
        flags = ["--device=cpu", *flags]
    commit = _git(kernels.folder, "rev-parse", "HEAD")
    suite = {"name": ALL, "sweeps": [{"operations": [operation.name for operation in kernels.operations]}]}
    program = engine.CProgram(
        b"fusegate_bench", json.dumps(suite).encode(), os.fsencode(suites or kernels.folder / "suites"), foreign_suites,
        json.dumps(_versions(kernels)).encode(), commit.encode(),
        bool(commit and _git(kernels.folder, "status", "--porcelain", "--untracked-files=no")),
        engine.strings(restart, ended=True), callbacks(engine.Launch, exchange.take_environment))
    arguments = engine.strings(["", *flags])
    sys.stdout.flush()
    os.chdir(_START)  # of the paths in flags; kernels may have changed it
    try:
        return loaded.fusegate_main(len(arguments), arguments, ctypes.byref(program))
    finally:
        # The engine's, which remember and do nothing.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _may_use_a_gpu(implementation: Implementation) -> bool:
    """NumPy's cannot, nor torch's if it was built without CUDA."""
    torch = sys.modules.get("torch")
    is_without = implementation.arrays == "torch" and torch is not None and torch.version.cuda is None
    return implementation.device != "cpu" and implementation.arrays != "numpy" and not is_without


def _versions(kernels: loading.Kernels) -> dict[str, str]:
    required = {name for each in kernels.implementations for name in each.requires if is_installed(name)}
    versions = {name: _version_of(name) for name in sorted(required.union(filter(sys.modules.get, _LIBRARIES)))}
    torch = sys.modules.get("torch")
    if torch is not None and torch.version.cuda:
        versions["cuda"] = torch.version.cuda
        versions.update(_cublas(torch.version.cuda))
        if any("ranks" in operation.axes for operation in kernels.operations):
            versions.update(_nccl())
    return versions


def _version_of(module: str) -> str:
    """Prefers the module's own version: torch's names its CUDA, its package's does not."""
    try:
        return str(getattr(sys.modules.get(module), "__version__", "") or importlib.metadata.version(_package_of(module)))
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


# The packages of each module. Python 3.9 does not know.
_packages = functools.lru_cache(maxsize=None)(getattr(importlib.metadata, "packages_distributions", dict))


def _package_of(module: str) -> str:
    """Of a module of several packages, such as nvidia.cublasmp, that which has files there."""
    packages = _packages().get(module.partition(".")[0], [module.replace("_", "-")])
    folder = module.replace(".", "/")
    return next((package for package in packages
                 if any(file.is_relative_to(folder) for file in importlib.metadata.files(package) or ())), packages[0])


def _cublas(cuda: str) -> dict[str, str]:
    try:
        # By this name, the loader finds the library that torch has loaded.
        number = ctypes.CDLL(f"libcublasLt.so.{cuda.split('.')[0]}").cublasLtGetVersion
    except (OSError, AttributeError):
        return {}
    number.restype = ctypes.c_size_t
    value = number()
    return {"cublas": f"{value // 10000}.{value // 100 % 100}.{value % 100}"}


def _nccl() -> dict[str, str]:
    """Of the library that torch has loaded: torch.cuda.nccl.version() is that of the one it was built with."""
    number = ctypes.c_int()
    try:
        ctypes.CDLL("libnccl.so.2").ncclGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return {}
    return {"nccl": f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"}


def _git(folder: pathlib.Path, *arguments: str) -> str:
    try:
        result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20,
                                check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


# The compiler's tables of tuned kernels would bury our messages.
os.environ.setdefault("TORCHINDUCTOR_AUTOTUNE_NUM_CHOICES_DISPLAYED", "0")
if exchange.OTHER:  # what there is to say, the first says
    warnings.simplefilter("ignore")
# torch works without NumPy, but warns in three lines.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
