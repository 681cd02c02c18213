"""The wheel: made of this build without the network, installed into a fresh environment, and used there."""

import email
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

if any(importlib.util.find_spec(name) is None for name in ("scikit_build_core", "auditwheel")):
    sys.exit(77)  # ctest shows it as skipped

from fake_runs import write_run  # noqa: E402: only where it is used

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bench" / "python" / "fusegate"
VERSION = re.search(r"project\(\s*fusegate\s+VERSION\s+([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
MOST_BYTES = 20_000_000
# Of the manylinux policy; auditwheel takes in all others, and would take in NVIDIA's and oneDNN's.
OF_EVERY_LINUX = {"ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0",
                  "librt.so.1", "libstdc++.so.6", "libz.so.1"}
TAKEN_IN = {"benchmark", "fmt", "re2", "simdjson", "sqlite3"}

KERNELS = '''
import fusegate

@fusegate.benchmark(operation="scale", axes={"n": [64]}, dtypes=["fp32"], arrays="numpy", reference=lambda x: 2 * x,
                    inputs=lambda p: {"x": fusegate.uniform(p.n)}, implementation="numpy")
def scale(x):
    return 2 * x
'''


def run(*command, code=0, **environment):
    """Nothing of the checkout, nor of whatever else this Python knows."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_", "FUSEGATE_"))}
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=250, check=False, cwd="/",
                           env={**clean, **environment})
    if ended.returncode != code:
        raise AssertionError(f"{command} ended with {ended.returncode}, not {code}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        run(ROOT / "ci" / "pipelines" / "wheel.sh", "--build", os.environ["FUSEGATE_BUILD"], "--out", cls.folder / "dist")
        (cls.wheel,) = (cls.folder / "dist").glob("*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", cls.folder / "venv")
        cls.bin = cls.folder / "venv" / "bin"
        run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", cls.bin / "python", "install",
            "--no-index", "--no-deps", cls.wheel)
        cls.package = pathlib.Path(run(cls.bin / "python", "-c", "import fusegate; print(fusegate.__path__[0])").strip())

    def test_fits_every_python_on_common_distributions(self):
        tag = re.fullmatch(rf"fusegate-{VERSION}-py3-none-manylinux_2_(\d+)_x86_64\.whl", self.wheel.name)
        self.assertIsNotNone(tag, self.wheel.name)
        self.assertLessEqual(int(tag[1]), 39, "newer than Ubuntu 24.04")
        self.assertIn(f"manylinux_2_{tag[1]}_x86_64", run(sys.executable, "-m", "auditwheel", "show", self.wheel))
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)

    def test_needs_no_library_of_nvidia_s(self):
        files = [path for path in self.package.parent.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertLessEqual({"fusegate", "libfusegate_engine.so"}, {path.name for path in files})
        for path in files:
            needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path))
            taken_in = {name for name in needed if (self.package.parent / "fusegate.libs" / name).is_file()}
            self.assertLessEqual({re.match("lib([a-z0-9]+)-", name)[1] for name in taken_in}, TAKEN_IN, path)
            self.assertLessEqual(set(needed) - taken_in, OF_EVERY_LINUX, path)

    def test_holds_the_package_and_no_test(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = email.message_from_bytes(archive.read(f"fusegate-{VERSION}.dist-info/METADATA"))
            entries = archive.read(f"fusegate-{VERSION}.dist-info/entry_points.txt").decode()
        modules = {f"fusegate/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")
                   if not path.name.startswith("fake") and not path.name.endswith("_test.py")}
        held = {name for name in names if re.match(r"fusegate/(?!share/).*[^/]$", name)}
        self.assertEqual(held, {*modules, "fusegate/py.typed", "fusegate/LICENSE", "fusegate/bin/fusegate",
                                "fusegate/lib/libfusegate_engine.so"})
        self.assertIsNone(metadata.get_all("Requires-Dist"), "needs nothing besides Python")
        for entry in ("fusegate = fusegate.gate_program:main", "fusegate_bench = fusegate.bench:command",
                      "fusegate = fusegate.pytest_plugin"):
            self.assertIn(entry, entries)

    def test_module_and_script_are_the_same_program(self):
        for program in ([self.bin / "fusegate"], [self.bin / "python", "-m", "fusegate"]):
            self.assertEqual(run(*program, "--version"), f"fusegate {VERSION}\n")
            self.assertIn("gate ", run(*program, "--help"))
        self.assertEqual(run(self.bin / "python", "-c", "import fusegate; print(fusegate.__version__)"), f"{VERSION}\n")

    def test_engine_answers(self):
        ask = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).fusegate_abi())"
        abi = re.search(r"#define FUSEGATE_ABI (\d+)", (ROOT / "bench/program/fusegate.h").read_text(encoding="utf-8"))[1]
        self.assertEqual(run(self.bin / "python", "-c", ask, self.package / "lib" / "libfusegate_engine.so"), f"{abi}\n")

    def test_gate_passes_and_fails(self):
        baseline = write_run(self.folder / "baseline", 1)
        gate = [self.bin / "python", "-m", "fusegate", "gate", "--baseline", baseline, "--candidate"]
        self.assertIn("12 unchanged", run(*gate, write_run(self.folder / "same", 2)))
        self.assertRegex(run(*gate, write_run(self.folder / "slower", 3, slower=1.2), code=1),
                         r"regression +kernel/n:1 .*\+[12]\d\.\d\d %")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_measures_a_file_of_kernels(self):
        kernels = self.folder / "kernels.py"
        kernels.write_text(KERNELS, encoding="utf-8")
        # This Python's NumPy, without what else it has.
        numpys = self.folder / "numpys"
        numpys.mkdir()
        for path in pathlib.Path(sysconfig.get_path("platlib")).glob("numpy*"):
            (numpys / path.name).symlink_to(path)
        measured = self.folder / "measured"
        run(self.bin / "fusegate", "run", "--program", f"{self.bin / 'fusegate_bench'} {kernels}", "--suite", "all",
            "--processes", 2, "--out", measured, PYTHONPATH=str(numpys))
        self.assertIn("scale/numpy/fp32/n:64", run(self.bin / "fusegate", "show", measured))

    def test_program_finds_its_templates_and_writes_a_page(self):
        self.assertIn("next: ", run(self.bin / "fusegate", "init", self.folder / "demo"))
        self.assertTrue((self.folder / "demo" / "gate.sh").is_file())
        page = self.folder / "report.html"
        run(self.bin / "fusegate", "report", "--candidate", write_run(self.folder / "drawn", 4), "--html", page)
        self.assertTrue(page.is_file())

    def test_script_leaves_no_signal_ignored(self):
        read, write = os.pipe()
        os.close(read)
        codes = [subprocess.run([program, "--help"], stdout=write, stderr=subprocess.DEVNULL, check=False).returncode
                 for program in (self.bin / "fusegate", self.package / "bin" / "fusegate")]
        os.close(write)
        self.assertEqual(*codes)


if __name__ == "__main__":
    unittest.main()
