"""The bill of materials of the build that this test belongs to, and of files that are made up."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import sbom

BUILD = pathlib.Path(os.environ["FUSEGATE_BUILD"])
PROGRAM = pathlib.Path(os.environ["FUSEGATE_PROGRAM"]).relative_to(BUILD)


class OfThisBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("dpkg-query"):
            raise unittest.SkipTest("no dpkg here")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "bill.json"
            subprocess.run([sys.executable, sbom.__file__, "--build", BUILD, "--version", "1.0.0", "--out", out, PROGRAM], check=True)
            cls.bill = json.loads(out.read_text())
        cls.names = {component["name"]: component for component in cls.bill["components"]}

    def test_holds_what_is_compiled_in_and_what_is_linked(self):
        for name in ("nlohmann-json3-dev", "libcli11-dev", "libboost1.74-dev", "libfmt9", "zlib1g", "libc6"):
            self.assertTrue(any(found.startswith(name.partition("1.74")[0]) for found in self.names), name)

    def test_holds_nothing_that_tests_alone_use(self):
        self.assertEqual([name for name in self.names if "gtest" in name or "gmock" in name or "googletest" in name], [])

    def test_holds_nothing_of_ours_and_no_file_without_an_owner(self):
        self.assertEqual([name for name in self.names if name.startswith("/")], [])

    def test_every_package_has_a_version_and_says_where_it_is_from(self):
        for component in self.bill["components"]:
            self.assertTrue(component["version"], component)
            self.assertTrue(component.get("purl", "").startswith("pkg:") or component["name"] == "CUDA toolkit", component)

    def test_a_linked_library_has_its_hash(self):
        [library] = [file for component in self.bill["components"] for file in component.get("components", [])
                     if "/libz.so" in file["name"]]
        self.assertRegex(library["hashes"][0]["content"], "^[0-9a-f]{64}$")

    def test_says_which_program_it_is_of(self):
        self.assertEqual([file["name"] for file in self.bill["metadata"]["component"]["components"]], [str(BUILD / PROGRAM)])
        self.assertTrue(self.bill["metadata"]["tools"]["components"][0]["version"])


class OfFilesWithoutAPackage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name).resolve()

    def file(self, path):
        (self.build / path).parent.mkdir(parents=True, exist_ok=True)
        (self.build / path).write_text("x")
        return self.build / path

    def components(self, *files):
        return sbom.components_of(self.build, set(files), (sbom.ROOT / "cmake" / "Dependencies.cmake").read_text())

    def test_what_cmake_fetched_has_its_archive_s_hash(self):
        files = [self.file("_deps/fmt-src/include/fmt/core.h"), self.file("_deps/fmt-build/libfmt.a")]
        [component] = self.components(*files)
        self.assertEqual(component["purl"], "pkg:github/fmtlib/fmt@9.1.0")
        self.assertIn("5dea48d1", component["externalReferences"][0]["hashes"][0]["content"])
        self.assertEqual([file["name"] for file in component["components"]], [str(files[1])])

    def test_everything_that_cmake_may_fetch_is_found(self):
        for name in ("nlohmann_json", "simdjson", "cli11", "zlib", "boost_math", "benchmark", "dnnl", "googletest"):
            self.assertEqual(len(self.components(self.file(f"_deps/{name}-src/a.h"))), 1)
        with self.assertRaisesRegex(ValueError, "fetches no other"):
            self.components(self.file("_deps/other-src/a.h"))

    def test_a_toolkit_is_one_component(self):
        self.file("CMakeFiles/3.25.1/CMakeCUDACompiler.cmake").write_text('set(CMAKE_CUDA_COMPILER_VERSION "13.0.88")\n')
        [component] = self.components(self.file("cuda/include/cuda.h"), self.file("cuda/lib/libcublas.so.13"))
        self.assertEqual((component["name"], component["version"]), ("CUDA toolkit", "13.0.88"))

    def test_a_file_of_nobody_stands_for_itself(self):
        [component] = self.components(self.file("odd/liba.so.1"))
        self.assertEqual(component["name"], str(self.build / "odd" / "liba.so.1"))
        self.assertEqual(len(component["components"]), 1)
