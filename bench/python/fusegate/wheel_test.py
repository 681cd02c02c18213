"""The wheel: built without the network, installed into a fresh environment, and used there."""

import email
import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

if any(importlib.util.find_spec(name) is None for name in ("hatchling", "numpy")):
    sys.exit(77)  # ctest shows it as skipped

import numpy  # noqa: E402: only where it is

from fusegate.measuring.fakes import FolderTest  # noqa: E402
from fusegate.version import __version__  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[1]
KERNELS = '''
import fusegate

@fusegate.benchmark(operation="scale", axes={"n": [64]}, dtypes=["fp32"], arrays="numpy", reference=lambda x: 2 * x,
                    inputs=lambda p: {"x": fusegate.uniform(p.n)}, implementation="numpy")
def scale(x):
    return 2 * x
'''


class WheelTest(FolderTest):
    def run_program(self, *arguments, **environment):
        # Nothing of the checkout, nor of whatever else this Python knows.
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_"))}
        result = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=250, check=False,
                                cwd=self.folder, env={**clean, **environment})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def pip(self, *arguments):
        return self.run_program(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)

    def test_is_built_installed_and_used_in_a_fresh_environment(self):
        self.pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "--check-build-dependencies", "--wheel-dir",
                 "dist", PROJECT)
        (wheel,) = (self.folder / "dist").glob("*.whl")
        self.assertEqual(wheel.name, f"fusegate-{__version__}-py3-none-any.whl")
        self.assert_holds_the_package(wheel)
        self.run_program(sys.executable, "-m", "venv", "--without-pip", "venv")
        python = self.folder / "venv" / "bin" / "python"
        self.pip("--python", python, "install", "--no-index", "--no-deps", wheel)
        self.assertEqual(self.run_program(python, "-c", "import fusegate; print(fusegate.__version__)").strip(), __version__)
        self.assertIn("usage: python -m fusegate run", self.run_program(python, "-m", "fusegate", "--help"))
        self.assertEqual(self.run_program(python, "-m", "fusegate", "--version"), f"fusegate {__version__}\n")
        self.assertEqual(self.run_program(python, "-c", "from importlib.metadata import entry_points; print([each.value for "
                                          "each in entry_points(group='pytest11')])"), "['fusegate.pytest_plugin']\n")
        self.assert_measures(python)

    def assert_holds_the_package(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata = email.message_from_bytes(archive.read(f"fusegate-{__version__}.dist-info/METADATA"))
        modules = {f"fusegate/{path.relative_to(PROJECT / 'fusegate').as_posix()}"
                   for path in (PROJECT / "fusegate").rglob("*.py")
                   if not path.name.startswith("fake") and not path.name.endswith("_test.py")}
        self.assertEqual({name for name in names if ".dist-info/" not in name}, {*modules, "fusegate/py.typed"})
        self.assertIsNone(metadata["Requires-Dist"])

    def assert_measures(self, python):
        """On the CPU, with this Python's NumPy beside the fresh one's package."""
        (self.folder / "kernels.py").write_text(KERNELS, encoding="utf-8")
        numpys = self.folder / "numpys"
        numpys.mkdir()
        for path in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
            (numpys / path.name).symlink_to(path)
        printed = self.run_program(python, "-m", "fusegate", "run", "kernels.py", "--samples=2", "--batch-us=50",
                                   PYTHONPATH=str(numpys))
        self.assertRegex(printed, r"^scale/numpy/fp32/n:64 +[\d.]+ us\n$")
