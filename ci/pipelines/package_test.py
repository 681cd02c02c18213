"""What others get of a build: it is installed into a folder, and used from there as any project would."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["FUSEGATE_BUILD"])

KERNEL = """#include <fusegate/work.h>
int registrations() { return static_cast<int>(fusegate::kernels::operations().size()); }
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def git(folder, *arguments):
    run("git", "-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", *arguments).check_returncode()


class CudaArchitectures(unittest.TestCase):
    """The default architectures of kernels, with a fake nvidia-smi."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def chosen(self, smi, *flags, **environment):
        (self.folder / "nvidia-smi").write_text(f"#!/bin/sh\n{smi}\n")
        (self.folder / "nvidia-smi").chmod(0o755)
        script = self.folder / "choose.cmake"
        script.write_text(f"set(fusegate_CUDA_ARCHITECTURES 80 90a-real)\ninclude({ROOT}/cmake/CudaArchitectures.cmake)\n"
                          "fusegate_choose_cuda_architectures()\nmessage(STATUS \"chosen ${CMAKE_CUDA_ARCHITECTURES}.\")\n")
        ended = run("cmake", *flags, "-P", script, env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", **environment})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def test_are_those_of_the_machine_s_gpus(self):
        self.assertIn("chosen 90.\n", self.chosen("echo 9.0; echo 9.0"))
        self.assertIn("chosen 80;120.\n", self.chosen("echo 8.0; echo 12.0"))

    @unittest.skipIf(pathlib.Path("/dev/nvidia0").exists(), "this machine has a GPU")
    def test_are_fusegate_s_own_without_a_gpu(self):
        for smi in ("exit 9", "echo 'No devices were found'"):
            output = self.chosen(smi)
            self.assertIn("chosen 80;90a-real.\n", output)
            self.assertIn("-- fusegate: no GPU found, so compiling CUDA kernels for fusegate's own architectures: 80;90a-real", output)

    def test_are_those_that_the_user_names(self):
        self.assertIn("chosen 75.\n", self.chosen("echo 9.0", "-DCMAKE_CUDA_ARCHITECTURES=75"))
        self.assertIn("chosen .\n", self.chosen("echo 9.0", CUDAARCHS="75"))  # which CMake itself reads


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.prefix = pathlib.Path(cls.scratch.name) / "prefix"
        for component in ("runtime", "development"):  # as without CUDA, whatever was built here
            run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component).check_returncode()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def configure(self, cmake_lists, *flags):
        (self.folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.24)\nproject(mine LANGUAGES CXX)\n{cmake_lists}\n")
        return run("cmake", "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", *flags)

    def build(self, cmake_lists, *flags):
        configured = self.configure(cmake_lists, *flags)
        self.assertEqual(configured.returncode, 0, configured.stderr)
        built = run("cmake", "--build", self.folder / "build")
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)

    def with_benchmark(self):
        (self.folder / "kernel.cc").write_text(KERNEL)
        (self.folder / "mine.json").write_text(json.dumps({"name": "mine", "sweeps": [
            {"operations": ["control_copy"], "dtype": ["fp32"], "batch": [1], "seq": [8], "dim": [1], "hidden": [64]}]}))
        return "find_package(fusegate 1 CONFIG REQUIRED)\nfusegate_add_benchmark(mine SOURCES kernel.cc SUITES mine.json)"

    def mine(self):
        """A program that no test changes, built once."""
        folder = pathlib.Path(self.scratch.name) / "mine"
        if not folder.exists():
            folder.mkdir()
            self.folder, own = folder, self.folder
            self.build(self.with_benchmark())
            self.folder = own
        return folder / "build" / "mine"

    def provenance(self):
        out = self.folder / "run.json"
        measured = run(self.folder / "build" / "mine", "--suite=mine", f"--out={out}")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        return json.loads(out.read_text())["context"]["fusegate"]["provenance"]

    def test_each_header_compiles_alone(self):
        headers = sorted((self.prefix / "include" / "fusegate").iterdir())
        self.assertIn("kernel.h", [header.name for header in headers])
        for header in headers:
            with self.subTest(header.name):
                compiled = run("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I",
                               self.prefix / "include", "-include", header, "-x", "c++", "/dev/null")
                self.assertEqual(compiled.returncode, 0, compiled.stderr)
                self.assertNotRegex(header.read_text(), r'#include "', "includes a header that is not installed")

    def test_searches_no_library_in_the_build_folder(self):
        prefixes = [self.prefix]
        if (BUILD / "lib" / "libfusegate_cuda.so").exists():
            prefixes.append(self.folder / "cuda")
            run("cmake", "--install", BUILD, "--prefix", prefixes[-1], "--component", "cuda").check_returncode()
        files = [path for prefix in prefixes for path in prefix.rglob("*")
                 if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertIn(self.prefix / "bin" / "fusegate", files)
        for path in files:
            searched = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", path).stdout)
            self.assertLessEqual(set(searched), {"$ORIGIN"}, path)

    def test_each_package_carries_the_licence(self):
        for package in ("fusegate", "fusegate-dev"):
            self.assertEqual((self.prefix / "share" / "doc" / package / "copyright").read_text(), (ROOT / "LICENSE").read_text())

    def test_exports_only_our_own_symbols(self):
        symbols = run("nm", "-DC", "--defined-only", self.prefix / "lib" / "libfusegate.so").stdout
        self.assertIn("fusegate::kernels::operations()", symbols)
        self.assertIn(" T fusegate_main\n", symbols)  # of the C interface
        foreign = [line for line in symbols.splitlines() if "fusegate::" not in line and " T fusegate_" not in line]
        self.assertEqual(foreign, [])

    def test_run_files_name_the_commit_of_the_program_and_the_version_of_fusegate(self):
        lists = self.with_benchmark()
        (self.folder / ".gitignore").write_text("build\nrun.json\n")
        git(self.folder, "init", "--quiet")
        self.configure(lists)
        git(self.folder, "add", ".")
        git(self.folder, "commit", "--quiet", "--message=first")
        commit = run("git", "-C", self.folder, "rev-parse", "HEAD").stdout.strip()
        self.build(lists, "-DCMAKE_BUILD_TYPE=Release")
        provenance = self.provenance()
        self.assertEqual((provenance["commit"], provenance["dirty"]), (commit, False))
        version = run(self.prefix / "bin" / "fusegate", "--version").stdout.strip()
        self.assertEqual(f"fusegate {provenance['fusegate']}", version)
        self.assertIn("Release", provenance["toolchain"])

        (self.folder / "kernel.cc").write_text(KERNEL + "// changed\n")
        run("cmake", "--build", self.folder / "build").check_returncode()
        self.assertTrue(self.provenance()["dirty"])

    def test_help_of_a_program_is_of_that_program(self):
        text = run(self.mine(), "--help").stdout
        self.assertIn("mine [OPTIONS]", text)
        self.assertIn("The suite to measure: mine, or a .json file", " ".join(text.split()))
        self.assertIn("Example:\n  mine --suite=mine --out=1.json\n", text)
        self.assertNotIn("fusegate_bench", text)

    def test_doctor_works_with_the_packages_and_with_a_program(self):
        doctor = self.prefix / "bin" / "fusegate", "doctor"
        alone = run(*doctor)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertRegex(alone.stdout, r"warn +benchmark program +none is named.*\n +-> name yours: fusegate doctor --program")
        self.assertIn("host load", alone.stdout)
        mine = run(*doctor, "--program", self.mine())
        self.assertEqual(mine.returncode, 0, mine.stderr)
        self.assertRegex(mine.stdout, r"ok +benchmark program +\S+/build/mine\n")

    def test_suites_follow_their_changes(self):
        self.build(self.with_benchmark())
        suite = self.folder / "mine.json"
        suite.write_text(suite.read_text().replace('"hidden": [64]', '"hidden": [96]'))
        run("cmake", "--build", self.folder / "build").check_returncode()
        self.assertEqual((self.folder / "build" / "suites" / "mine.json").read_text(), suite.read_text())

    def test_another_major_version_is_refused(self):
        for wanted, found in ("1", True), ("1.0.0", True), ("2", False), ("1.99", False), ("0.9", False):
            with self.subTest(wanted):
                configured = self.configure(f"find_package(fusegate {wanted} CONFIG REQUIRED)")
                self.assertEqual(configured.returncode == 0, found, configured.stderr)
                if not found:
                    self.assertRegex(configured.stderr, rf'compatible\s+with\s+requested\s+version\s+"{wanted}"')
                (self.folder / "build" / "CMakeCache.txt").unlink()

    def test_a_program_of_another_major_version_does_not_start(self):
        library = self.folder / "library"
        library.mkdir()
        (library / "libfusegate.so.2").symlink_to(self.prefix / "lib" / "libfusegate.so.1")
        program = self.folder / "mine"
        program.write_bytes(self.mine().read_bytes().replace(str(self.prefix).encode(), b"/" * len(str(self.prefix))))
        program.chmod(0o755)
        started = run(program, "--help", env={"LD_LIBRARY_PATH": str(library)})
        self.assertEqual(started.returncode, 127)
        self.assertRegex(started.stderr, r"libfusegate\.so\.1: cannot open shared object file")
        (library / "libfusegate.so.1").symlink_to(self.prefix / "lib" / "libfusegate.so.1")
        self.assertEqual(run(program, "--help", env={"LD_LIBRARY_PATH": str(library)}).returncode, 0)

    def test_names_wrong_arguments(self):
        find = "find_package(fusegate 1 CONFIG REQUIRED)\n"
        for call, problem in (("fusegate_add_benchmark(mine SUITES a.json)", "SOURCES is missing"),
                              ("fusegate_add_benchmark(mine kernel.cc)", 'unknown argument "kernel.cc"'),
                              ("fusegate_add_benchmark(mine SOURCES CMakeLists.txt SUITES gone.json)", "SUITES: no such file: gone.json")):
            with self.subTest(problem):
                configured = self.configure(find + call)
                self.assertNotEqual(configured.returncode, 0)
                self.assertIn(f"fusegate_add_benchmark(mine): {problem}", " ".join(configured.stderr.split()))

    def test_cuda_is_asked_for_by_name(self):
        configured = self.configure("find_package(fusegate 1 CONFIG REQUIRED COMPONENTS cuda)")
        self.assertNotEqual(configured.returncode, 0)
        self.assertRegex(configured.stderr, r"component\s+cuda:\s+install\s+the\s+package\s+fusegate-cuda")

    def test_init_refuses_a_folder_that_is_not_empty(self):
        program = self.prefix / "bin" / "fusegate"
        for kind in "cpp", "python":
            init = program, "init", self.folder / kind, *(["--python"] if kind == "python" else [])
            self.assertEqual(run(*init).returncode, 0)
            again = run(*init)
            self.assertEqual((again.returncode, again.stdout), (2, ""))
            self.assertRegex(again.stderr, f"^fusegate: .*/{kind}: is not empty")
            self.assertEqual(run("shellcheck", self.folder / kind / "gate.sh").stdout, "")
            self.assertTrue(os.access(self.folder / kind / ".github/fusegate/action/measure.sh", os.X_OK))

    def test_runs_no_python_from_above_its_installation(self):
        python = self.prefix.parent / "venv" / "bin" / "python3"  # build/venv, of a program that lies in build/host/bin
        python.parent.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, python.parent.parent)
        python.write_text(f"#!/bin/sh\ntouch {self.folder}/ran\n")
        python.chmod(0o755)
        doctor = run(self.prefix / "bin" / "fusegate", "doctor", "--program", BUILD / "bin" / "fusegate_bench")
        self.assertEqual(doctor.returncode, 0, doctor.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.assertNotIn(str(python), doctor.stdout)

    def test_builds_within_another_project(self):
        configured = self.configure(f"include(CTest)\nadd_subdirectory({ROOT} fusegate)\n" + self.with_benchmark().partition("\n")[2]
                                    + "\nforeach(target kernels bench_main fusegate)\n  if(NOT TARGET fusegate::${target})\n"
                                    + "    message(FATAL_ERROR \"no ${target}\")\n  endif()\nendforeach()", "-DFUSEGATE_CUDA=OFF")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        targets = run("cmake", "--build", self.folder / "build", "--target", "help").stdout
        self.assertIn(" mine\n", targets)
        self.assertNotIn("_test", targets)


if __name__ == "__main__":
    unittest.main()
