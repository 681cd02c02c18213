"""Which libraries are installed: their modules and versions, and why some cannot be used."""

import dataclasses
import importlib
import importlib.metadata
import os
import warnings

from input_error import InputError

PACKAGES = {"torch": "torch", "triton": "triton", "liger": "liger-kernel"}


@dataclasses.dataclass
class Libraries:
    modules: dict = dataclasses.field(default_factory=dict)
    versions: dict = dataclasses.field(default_factory=dict)
    missing: dict = dataclasses.field(default_factory=dict)  # why, in one sentence

    def torch_on_a_gpu(self):
        """Raises InputError where there is none."""
        torch = self.modules.get("torch")
        if torch is None:
            raise InputError("torch", "", f"no peer can be measured: {self.missing['torch']}")
        if not torch.cuda.is_available():
            raise InputError("torch", "", f"no peer can be measured: torch {torch.__version__} finds no CUDA GPU")
        return torch

    def drop(self, name, why):
        self.modules.pop(name, None)
        self.versions.pop(name, None)
        self.missing[name] = why


def find_libraries(load=importlib.import_module):
    """load: imports a module by its name, or raises."""
    libraries = Libraries()
    # The compiler's tables of what it tuned would bury what is said here.
    os.environ.setdefault("TORCHINDUCTOR_AUTOTUNE_NUM_CHOICES_DISPLAYED", "0")
    # torch does without NumPy, which is no dependency of it, and says so in three lines.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    for name, modules in (("torch", ("torch",)), ("triton", ("triton",)),
                          ("liger", ("liger_kernel", "liger_kernel.ops"))):
        try:
            libraries.modules[name] = [load(module) for module in modules][0]
            libraries.versions[name] = _version(libraries.modules[name], PACKAGES[name])
        # A library that is there may still fail in any way when it is loaded, without a driver for one.
        except Exception as error:  # pylint: disable=broad-except
            libraries.drop(name, f"{PACKAGES[name]} cannot be imported ({one_line(error)})")
    return libraries


def _version(module, package):
    """torch's own version names its CUDA too; its package's version does not."""
    version = getattr(module, "__version__", "")
    return str(version) if version else importlib.metadata.version(package)


def one_line(error):
    """An exception's first line. A compiler's error goes on for pages."""
    # Half a character of a path that is no UTF-8 would make the run file no JSON to other readers.
    text = str(error).encode("utf-8", "replace").decode("utf-8")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:400]}" if lines else type(error).__name__
