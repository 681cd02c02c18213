"""fusegate codes and codes-diff: on stored fat binaries, and on programs that nvcc builds here, where it is."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "fuzzing" / "testdata" / "codes"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

SOURCE = """
namespace { __global__ void scale(float* p, float by) { p[threadIdx.x] *= by; } }
__global__ void shift(float* p, float by) { p[threadIdx.x] += by; }
int main() { scale<<<1, 1>>>(nullptr, 1); shift<<<1, 1>>>(nullptr, 1); }
"""
# As nvdisasm counts them, but for what fills the section up.
KINDS_OF_ONE = {"BRA": 1, "EXIT": 1, "FADD": 1, "IMAD": 1, "LDC": 2, "LDG": 1, "S2R": 1, "STG": 1, "ULDC": 1}
CUBINS = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a"]


class CodesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def fusegate(self, *arguments, code=0):
        ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout + ended.stderr

    def codes(self, *paths):
        """By architecture and name."""
        self.fusegate("codes", *paths, "--out", "codes.json")
        kernels = json.loads((self.folder / "codes.json").read_text(encoding="utf-8"))["kernels"]
        return {(kernel["architecture"], kernel["name"]): kernel for kernel in kernels}


class OfStoredFiles(CodesTest):
    def test_packed_or_not_they_have_the_same_code(self):
        expected = self.codes(STORED / "one.cubin")
        self.assertEqual([*expected], [("sm_90a", "k(float*)")])
        self.assertEqual(expected["sm_90a", "k(float*)"]["registers"], 8)
        for name in ("zstd.fatbin", "lz4.fatbin"):
            self.assertEqual(self.codes(STORED / name), expected, name)

    def test_a_difference_names_kernel_and_numbers(self):
        self.fusegate("codes", STORED / "one.cubin", "--out", "base.json")
        self.assertIn("no kernel changed: no GPU needed", self.fusegate("codes-diff", "base.json", STORED / "zstd.fatbin"))
        head = json.loads((self.folder / "base.json").read_text(encoding="utf-8"))
        head["kernels"][0] |= {"hash": "0123456789abcdef", "registers": 9}
        (self.folder / "head.json").write_text(json.dumps(head), encoding="utf-8")
        said = self.fusegate("codes-diff", "base.json", "head.json", "--json", "diff.json", code=1)
        self.assertIn("of 1 kernel, 1 changed", said)
        self.assertIn("the same ones", said)
        self.assertIn("8 -> 9", said)
        diff = json.loads((self.folder / "diff.json").read_text(encoding="utf-8"))
        self.assertEqual((diff["exit_code"], diff["changes"][0]["after"]["registers"]), (1, 9))

    def test_instructions_have_the_names_that_the_disassembler_gives_them(self):
        self.assertEqual(self.codes(STORED / "one.cubin")["sm_90a", "k(float*)"]["kinds"], KINDS_OF_ONE)

    def test_markdown_has_the_headline_and_the_table(self):
        self.fusegate("codes", STORED / "one.cubin", "--out", "base.json")
        codes = json.loads((self.folder / "base.json").read_text(encoding="utf-8"))
        codes["kernels"][0] |= {"hash": "0123456789abcdef", "kinds": KINDS_OF_ONE | {"STL": 3}}
        (self.folder / "head.json").write_text(json.dumps(codes), encoding="utf-8")
        self.fusegate("codes-diff", "base.json", "head.json", "--markdown", "diff.md", code=1)
        said = (self.folder / "diff.md").read_text(encoding="utf-8")
        self.assertIn("**of 1 kernel, 1 changed**", said)
        self.assertIn("| STL +3 |", said)
        self.fusegate("codes-diff", "base.json", "base.json", "--markdown", "diff.md")
        self.assertTrue((self.folder / "diff.md").read_text(encoding="utf-8").startswith("**no kernel changed: no GPU needed**\n"))

    def test_what_cannot_be_read_or_compared_ends_with_2(self):
        (self.folder / "cut.fatbin").write_bytes((STORED / "lz4.fatbin").read_bytes()[:-100])
        (self.folder / "text").write_text("text", encoding="utf-8")
        for file, said in (("cut.fatbin", "cut.fatbin: fat binary 1 ends before"), ("text", "text: is not a program"),
                           ("missing", "missing: "), (PROGRAM, "has no kernels: name the program")):
            self.assertIn(said, self.fusegate("codes", file, code=2))
            self.assertIn(said, self.fusegate("codes-diff", STORED / "one.cubin", file, code=2))
        said = self.fusegate("codes-diff", STORED / "one.cubin", STORED / "ptx.fatbin", code=2)
        self.assertIn("compute_80: only the head has it", said)


@unittest.skipUnless(NVCC, "no nvcc")
class OfBuiltPrograms(CodesTest):
    def build(self, name, *flags, source=SOURCE):
        """In a folder of its own: the name of the source enters that of kernels in anonymous namespaces."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "some.cu").write_text(source, encoding="utf-8")
        subprocess.run([NVCC, *(flags or CUBINS), "some.cu", "-o", "built"], check=True, cwd=folder, capture_output=True, timeout=120)
        return folder / "built"

    def test_they_have_the_same_codes_however_they_are_packed_and_linked(self):
        plain = self.build("plain", *CUBINS, "--compress-mode=none")
        expected = self.codes(plain)
        self.assertEqual([*expected], [("sm_80", "(anonymous namespace)::scale(float*, float)"),
                                       ("sm_90a", "(anonymous namespace)::scale(float*, float)"),
                                       ("sm_80", "shift(float*, float)"), ("sm_90a", "shift(float*, float)")])
        subprocess.run(["strip", plain, "-o", self.folder / "stripped"], check=True)
        for built in (self.folder / "stripped", self.build("packed", *CUBINS, "--compress-mode=size"),
                      self.build("object", *CUBINS, "-c"), self.build("archive", *CUBINS, "-lib"),
                      self.build("shared", *CUBINS, "-shared", "-Xcompiler=-fPIC"), self.build("alone", *CUBINS, "-fatbin")):
            self.assertEqual(self.codes(built), expected, built)

    def test_a_comment_changes_no_kernel_and_a_change_one(self):
        base = self.build("base")
        comment = self.build("comment", source="// a comment\n" + SOURCE)
        self.assertIn("no kernel changed: no GPU needed", self.fusegate("codes-diff", base, comment, "--json", "diff.json"))
        diff = json.loads((self.folder / "diff.json").read_text(encoding="utf-8"))
        self.assertEqual((diff["gpu"], diff["host"]), ("none", {"changed": []}))
        said = self.fusegate("codes-diff", base, self.build("change", source=SOURCE.replace("*= by", "*= by * by")), code=1)
        self.assertIn("of 4 kernels, 2 changed", said)
        self.assertIn("(anonymous namespace)::scale", said)
        self.assertNotIn("shift", said)

    def gpu_work(self, base, head):
        self.fusegate("codes-diff", base, head, "--json", "diff.json", code=1)
        return json.loads((self.folder / "diff.json").read_text(encoding="utf-8"))["gpu"]

    def test_a_changed_launch_or_text_for_nvrtc_is_to_be_identified(self):
        base = self.build("base")
        self.assertEqual(self.gpu_work(base, self.build("launch", source=SOURCE.replace("<<<1, 1>>>", "<<<1, 2>>>"))), "identify")
        texts = [self.build(name, source=f'const char* text = "p[i] {name} 1";' + SOURCE) for name in ("plus", "minus")]
        self.assertEqual(self.gpu_work(*texts), "identify")

    def test_kernels_that_lie_last_change_nothing_of_the_host(self):
        last = [*CUBINS, f"-Xlinker=-T,{ROOT / 'cmake' / 'kernels_last.ld'}"]
        longer = SOURCE.replace("*= by", "*= sinf(by) * cosf(by) / by")
        self.assertEqual(self.gpu_work(self.build("base", *last), self.build("longer", *last, source=longer)), "some")

    def test_a_library_that_is_loaded_at_its_start_is_named(self):
        self.assertIn("name those of yours too: libcudart.so", self.fusegate("codes", self.build("shared", *CUBINS, "-cudart=shared")))
        opening = '#include <dlfcn.h>\nvoid* plugin = dlopen("libplugin.so", RTLD_NOW);' + SOURCE
        self.assertIn("what it opens by dlopen()", self.fusegate("codes", self.build("opening", *CUBINS, "-cudart=shared", source=opening)))

    def test_kernels_of_one_name_are_said(self):
        other = self.build("other", *CUBINS, source=SOURCE.replace("+= by", "-= by"))
        self.assertIn("2 of 4 kernels: several have that name", self.fusegate("codes", self.build("one"), other))

    def test_of_another_architecture_or_cut_short_they_are_not_compared(self):
        base = self.build("base")
        said = self.fusegate("codes-diff", base, self.build("other", "-gencode=arch=compute_90a,code=sm_90a"), code=2)
        self.assertIn("sm_80: only the base has it (2 kernels)", said)
        cut = self.folder / "cut"
        cut.write_bytes(base.read_bytes()[:-5000])
        self.assertIn("cut: ends before", self.fusegate("codes-diff", base, cut, code=2))

    def test_linked_device_code_is_that_of_the_link_alone(self):
        """What nvlink was given stays in the program, and differs: its calls have no addresses yet."""
        source = SOURCE.replace("p[threadIdx.x] += by;", "p[threadIdx.x] += twice(by);")
        source = "__device__ __noinline__ float twice(float by) { return by * by + 1; }\n" + source
        linked = self.codes(self.build("linked", *CUBINS, "-rdc=true", source=source))
        self.assertEqual([kernel["of_one_name"] for kernel in linked.values()], [1] * 4)
        self.assertEqual([*self.codes(self.build("object", *CUBINS, "-rdc=true", "-c", source=source))], [*linked])

    def test_ptx_alone_goes_by_its_text(self):
        base, same, other = (self.build(name, "-gencode=arch=compute_80,code=compute_80", source=source) for name, source in (
            ("base", SOURCE), ("same", "// a comment\n" + SOURCE), ("other", SOURCE.replace("+= by", "-= by"))))
        self.assertIn("PTX alone", self.fusegate("codes-diff", base, same))
        self.assertIn("2 changed", self.fusegate("codes-diff", base, other, code=1))


if __name__ == "__main__":
    unittest.main()
