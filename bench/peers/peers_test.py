"""The peers on libraries that are made up: what they compute, their stages, and the program on the CPU."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import peers
import torch
from fusegate import operations
from fakes import in_ranks, installed, part_of, problem, problem_of_ranks, random

PROGRAM = pathlib.Path(__file__).resolve().parent / "peers.py"
QUICK = ("--device=cpu", "--samples=2", "--layouts=2", "--idle-us=0", "--batch-us=50")
OF_AN_MLP = ["torch_eager", "torch_compile", "torch_compile_max_autotune", "liger", "cudnn", "flashinfer", "quack",
             "quack_both", "quack_concat", "quack_concat_both"]


def implementations():
    return [each for operation in operations().values() for each in operation.implementations.values()]


def find(operation, name):
    return operations()[operation].implementations[name]


def call_in_ranks(implementation, of):
    """The results of all ranks in one, and the reference's."""
    operation, ranks = implementation.operation, of.ranks
    inputs = {name: random(*tensor.shape) for name, tensor in operation.inputs(of).items()}

    def run(rank):
        parts = [part_of(whole, operation.split.get(name), rank, ranks) for name, whole in inputs.items()]
        return implementation.callable_for(of)(*implementation.prepared(of, parts))
    results = in_ranks(ranks, run)
    if "out" in operation.split:
        return (torch.numpy.concatenate(results),), operation.reference(of, inputs.values())
    for result in results[1:]:
        assert abs(result - results[0]).max() == 0
    return (results[0],), operation.reference(of, inputs.values())


class ImplementationsTest(unittest.TestCase):
    def setUp(self):
        marks = mock.patch.object(peers.fusegate, "stage")
        self.marks = marks.start()
        self.addCleanup(marks.stop)
        libraries = installed()
        libraries.__enter__()
        self.addCleanup(libraries.__exit__, None, None, None)

    def call(self, implementation):
        """The results, and the reference's."""
        operation, of = implementation.operation, problem()
        if "ranks" in operation.axes:
            return call_in_ranks(implementation, problem_of_ranks())
        if "blockwise" in operation.name:
            of = problem(dim=128, hidden=384)
        inputs = [random(*tensor.shape) for tensor in operation.inputs(of).values()]
        result = implementation.callable_for(of)(*implementation.prepared(of, inputs))
        return result if isinstance(result, tuple) else (result,), operation.reference(of, inputs)

    def test_all_compute_what_the_operation_is(self):
        self.assertEqual(len(implementations()), 131)
        for implementation in implementations():
            results, expected = self.call(implementation)
            self.assertEqual(list(expected), implementation.operation.output_names(problem()))
            for result, (name, right) in zip(results, expected.items()):
                self.assertEqual(result.shape, right.shape)
                self.assertLess(abs(result - right).max(), 1e-7, (implementation.path, name))

    def test_an_mlp_has_all_peers(self):
        self.assertEqual(list(operations()["geglu_mlp"].implementations), OF_AN_MLP)

    def test_a_step_of_training_has_all_peers_and_says_what_memory_it_takes(self):
        self.assertEqual(list(operations()["geglu_mlp_training"].implementations),
                         ["torch_eager", "torch_compile", "torch_compile_max_autotune", "liger", "quack", "quack_concat",
                          "quack_recompute"])
        for name in ("torch_eager", "quack_recompute"):
            self.call(find("geglu_mlp_training", name))
            self.assertEqual(find("geglu_mlp_training", name).chosen(problem())["peak_bytes"], "64")

    def test_problems_that_a_library_does_not_take_are_refused_in_words(self):
        for operation, name, of, expected in (
                ("geglu_mlp", "flashinfer", problem(dtype="fp32"), "computes in bf16 and fp16 only"),
                ("geglu_mlp_fp8_blockwise", "deep_gemm", problem(dim=128, hidden=192), "multiples of 128")):
            with self.assertRaisesRegex(ValueError, expected):
                find(operation, name).callable_for(of)

    def test_marks_the_stages_that_it_declares(self):
        for implementation in implementations():
            self.marks.reset_mock()
            self.call(implementation)
            marked = [call.args[0] for call in self.marks.call_args_list]
            ranks = 2 if "ranks" in implementation.operation.axes else 1
            declared = [stage.name for stage in implementation.work(problem() if ranks == 1 else problem_of_ranks())]
            self.assertEqual(sorted(marked), [] if declared == [implementation.operation.name] else sorted(ranks * declared),
                             implementation.path)
            if not marked:
                self.assertEqual(len(declared), 1)

    def test_the_compiler_gets_static_shapes_and_code_of_its_own_and_captures_no_graphs(self):
        for name, mode in (("torch_compile", None), ("torch_compile_max_autotune", "max-autotune-no-cudagraphs")):
            for operation in ("linear", "geglu", "geglu_mlp"):
                with mock.patch.object(torch, "compile") as compile_:
                    for _ in range(2):
                        find(operation, name).callable_for(problem())
                first, second = compile_.call_args_list
                self.assertEqual(first.kwargs, {"dynamic": False, "fullgraph": True, "mode": mode})
                self.assertIsInstance(first.args[0], types.FunctionType)
                self.assertIsNot(first.args[0].__code__, second.args[0].__code__)

    def test_choices_are_those_of_the_last_call(self):
        for name, stages in (("cudnn", ["cudnn_library", "up_proj", "gate_geglu_proj", "down_proj"]),
                             ("quack_both", ["gate_up_geglu", "down_proj"])):
            self.call(find("geglu_mlp", name))
            self.assertEqual(list(find("geglu_mlp", name).chosen(problem())), stages)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")

    def process(self, *flags, **environment):
        """Finds modules of the folder first."""
        path = os.pathsep.join((str(self.folder), os.environ["PYTHONPATH"]))
        return subprocess.run([sys.executable, PROGRAM, *flags], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "PYTHONPATH": path, **environment})

    def test_measures_what_it_has_of_another_programs_suite(self):
        self.write("suites/nightly.json", json.dumps({"name": "nightly", "sweeps": [
            {"operations": ["geglu_mlp", "softmax"], "implementations": ["fused"], "dtype": ["fp32"], "batch": [2], "seq": [3],
             "dim": [8], "hidden": [16]}, {"operations": ["softmax"], "batch": [2]}]}))
        out = self.folder / "1.json"
        ended = self.process(*QUICK, "--suite=nightly", f"--out={out}", FUSEGATE_BENCH=str(self.folder / "fusegate_bench"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        left_out = [line for line in ended.stderr.splitlines() if "left out" in line]
        self.assertIn("fusegate_bench: left out geglu_mlp/torch_compile/fp32/batch:2/seq:3/dim:8/hidden:16: triton is not "
                      "installed", left_out)
        self.assertEqual(len(left_out), len(OF_AN_MLP) - 1)
        written = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual({entry["run_name"] for entry in written["benchmarks"]},
                         {"geglu_mlp/torch_eager/fp32/batch:2/seq:3/dim:8/hidden:16"})
        self.assertEqual(written["context"]["fusegate"]["environment"]["torch"], "2.11.0")

    def test_a_library_that_cannot_be_used_fails_its_peers_alone(self):
        self.write("triton/__init__.py", "")
        self.write("triton-3.6.0.dist-info/METADATA", "Name: triton\nVersion: 3.6.0\n")
        self.write("triton-3.6.0.dist-info/top_level.txt", "triton\n")
        self.write("torch.py", f"exec(open({torch.__file__!r}).read())\n"
                               f"def compile(*_, **__):\n    raise ImportError('libtriton.so: not found')\n")
        out = self.folder / "1.json"
        ended = self.process(*QUICK, "--problem=2,3,8,16", "--operation=linear", "--dtype=fp32", f"--out={out}")
        self.assertEqual(ended.returncode, 2)
        written = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual(written["context"]["fusegate"]["environment"]["triton"], "3.6.0")
        self.assertEqual({entry["run_name"].split("/")[1]: entry.get("error_message", "") for entry in written["benchmarks"]},
                         {"torch_eager": "", **dict.fromkeys(["torch_compile", "torch_compile_max_autotune"],
                                                             "ImportError: libtriton.so: not found")})

    def test_another_torchs_peers_have_names_of_their_own(self):
        self.write("torch.py", f"exec(open({torch.__file__!r}).read())\n__version__ = '2.15.0+cu132'\n")
        out = self.folder / "1.json"
        ended = self.process(*QUICK, "--problem=2,3,8,16", "--operation=linear", "--dtype=fp32", f"--out={out}")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        (name,) = {entry["run_name"] for entry in json.loads(out.read_text(encoding="utf-8"))["benchmarks"]}
        self.assertEqual(name.split("/")[1], "torch_eager-torch2.15")
        wanted = PROGRAM.with_name("requirements.in").read_text(encoding="utf-8")
        self.assertIn(f"torch=={peers.TORCH}.", wanted)

    def test_the_checkouts_suites_are_known(self):
        ended = self.process("--suite=nope", FUSEGATE_BENCH="")
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "fusegate_bench: nope: no such suite; expected ladder, models, nightly, pr, smoke, tensor_parallel, training, or a .json file\n"))

    def test_without_torch_ends_with_2_and_one_line(self):
        self.write("torch.py", "raise OSError('libcudart.so.13: not found')")
        ended = self.process("--suite=ladder")
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "peers: torch cannot be imported: libcudart.so.13: not found\n"))
