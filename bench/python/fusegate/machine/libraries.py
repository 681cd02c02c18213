"""Installed libraries: their modules and versions, and why some cannot be used."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from ..errors import InputError, one_line


@dataclasses.dataclass
class Libraries:
    """missing: the reason by name, in one sentence."""

    modules: dict[str, Any] = dataclasses.field(default_factory=dict)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)

    def torch_on_a_gpu(self, what: str) -> Any:
        """what: fails without torch, in words. Raises InputError without torch or a GPU."""
        torch = self.modules.get("torch")
        if torch is None:
            raise InputError("torch", "", f"{what}: {self.missing['torch']}")
        if not torch.cuda.is_available():
            raise InputError("torch", "", f"{what}: torch {torch.__version__} finds no CUDA GPU")
        return torch

    def drop(self, name: str, why: str) -> None:
        self.modules.pop(name, None)
        self.versions.pop(name, None)
        self.missing[name] = why


def find_libraries(wanted: Mapping[str, Sequence[str]],
                   load: Callable[[str], Any] = importlib.import_module) -> Libraries:
    """wanted: by name, its package, the library's module, and other modules that must load. load: imports a module by its
    name, or raises."""
    libraries = Libraries()
    quieten()
    for name, (package, *modules) in wanted.items():
        try:
            libraries.modules[name] = [load(module) for module in modules][0]
            libraries.versions[name] = version_of(libraries.modules[name], package)
        # An installed library may fail in any way when it is loaded, for example without a driver.
        except Exception as error:  # pylint: disable=broad-except
            libraries.drop(name, f"{package} cannot be imported ({one_line(error)})")
    return libraries


def quieten() -> None:
    # The compiler's tables of tuned kernels would bury our messages.
    os.environ.setdefault("TORCHINDUCTOR_AUTOTUNE_NUM_CHOICES_DISPLAYED", "0")
    # torch works without NumPy, but warns in three lines.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")


def loaded_versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of the libraries that are imported."""
    return {name: version_of(sys.modules[name], name.replace("_", "-")) for name in names if name in sys.modules}


def version_of(module: Any, package: str) -> str:
    """Prefers the module's own version: torch's names its CUDA, its package's does not."""
    version = getattr(module, "__version__", "")
    if version:
        return str(version)
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
