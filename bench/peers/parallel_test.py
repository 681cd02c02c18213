"""Peers over several ranks: what is refused and recorded, the least work, and real processes on the fake torch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import cublasmp_mlp
import parallel
import peers  # registers the operations
from fakes import FakeCublasmp, in_ranks, installed, problem_of_ranks
from fusegate import operations

PROGRAM = pathlib.Path(peers.__file__)
QUICK = ("--device=cpu", "--dtype=fp32", "--samples=2", "--layouts=2", "--idle-us=0", "--batch-us=50")


def find(operation, name):
    return operations()[operation].implementations[name]


class ParallelTest(unittest.TestCase):
    def setUp(self):
        libraries = installed()
        libraries.__enter__()
        self.addCleanup(libraries.__exit__, None, None, None)

    def test_both_forms_have_all_peers(self):
        of_torch = ["torch_eager", "torch_compile", "torch_compile_max_autotune"]
        self.assertEqual(list(operations()["geglu_mlp_tp"].implementations),
                         [*of_torch, "torch_one_shot", "torch_two_shot", "cublasmp"])
        self.assertEqual(list(operations()["geglu_mlp_sp"].implementations),
                         [*of_torch, "torch_async_tp", "quack_all_gather", "cublasmp"])

    def test_libraries_use_no_multicast_and_nccl_no_events(self):
        self.assertEqual([os.environ[name] for name in (
            "NCCL_NVLS_ENABLE", "NCCL_GRAPH_MIXING_SUPPORT", "TORCH_SYMM_MEM_DISABLE_MULTICAST", "CUBLASMP_DISABLE_MULTICAST")],
            ["0", "0", "1", "1"])

    def test_work_is_what_a_rank_does(self):
        of, of_one = problem_of_ranks(ranks=4), parallel.of_rank(problem_of_ranks(ranks=4))
        self.assertEqual((of.hidden, of_one.hidden, of_one.seq), (24, 6, 512))
        elements = 512 * 4
        local = [(stage.name, stage.flops, stage.min_bytes) for stage in find("geglu_mlp", "torch_eager").work(of_one)]
        for name, before, after in (("geglu_mlp_tp", [], [("all_reduce", 3.0 * elements, 4.0 * elements)]),
                                    ("geglu_mlp_sp", [("all_gather", 0.0, 4.0 * elements)],
                                     [("reduce_scatter", 0.75 * elements, 4.0 * elements)])):
            stages = [(stage.name, stage.flops, stage.min_bytes) for stage in find(name, "torch_eager").work(of)]
            self.assertEqual(stages, [*before, *local, *after])
            for implementation in operations()[name].implementations.values():  # the unit in one kernel or two: one product more
                flops = [sum(stage.flops for stage in each.work(of)) for each in (implementation, find(name, "torch_eager"))]
                self.assertEqual(*flops, implementation.path)

    def test_rows_that_quacks_tiles_cannot_have_are_refused(self):
        def make(**sizes):
            return in_ranks(2, lambda _: find("geglu_mlp_sp", "quack_all_gather").callable_for(problem_of_ranks(**sizes)))[0]
        with self.assertRaisesRegex(ValueError, "a multiple of 128 rows a rank only"):
            make(seq=320)
        for seq, cluster in ((256, 1), (512, 2)):
            self.assertEqual(make(seq=seq).choices, {"all_gather_gate_up_geglu": f"tile_m=128, tile_n=256, cluster_m={cluster}"})

    def test_torchs_group_has_one_number_of_ranks(self):
        with mock.patch.multiple(parallel.torch.distributed, is_initialized=lambda: True, get_world_size=lambda: 4), \
                self.assertRaisesRegex(ValueError, "torch has a group of 4 ranks in this process; measure 2 in a run of their own"):
            in_ranks(2, lambda _: find("geglu_mlp_tp", "torch_eager").callable_for(problem_of_ranks()))

    def test_what_torch_does_not_add_up_is_refused(self):
        for name in ("torch_one_shot", "torch_two_shot"):
            with self.assertRaisesRegex(ValueError, "computes in bf16 and fp32 only"):
                find("geglu_mlp_tp", name).callable_for(problem_of_ranks(dtype="fp16"))

    def test_cublasmp_records_its_version_and_whether_it_overlaps(self):
        for is_registered, expected in ((True, "workspace registered"), (False, "workspace not registered (cublasMpBufferRegister: "
                                                                                "no symmetric memory)")):
            with mock.patch.object(cublasmp_mlp, "load", lambda given=is_registered: FakeCublasmp(given)):
                for name, exchange in (("geglu_mlp_tp", "all_reduce"), ("geglu_mlp_sp", "reduce_scatter")):
                    made = in_ranks(2, lambda _, name=name: find(name, "cublasmp").callable_for(problem_of_ranks()))
                    self.assertEqual(made[1].choices, {"cublasmp_library": "0.10.0", f"down_proj_{exchange}": expected})
        with self.assertRaisesRegex(ValueError, "computes in bf16 and fp16 only"):
            find("geglu_mlp_tp", "cublasmp").callable_for(problem_of_ranks(dtype="fp32"))

    def test_a_library_that_cannot_be_loaded_says_why(self):
        with self.assertRaisesRegex(ImportError, "cuBLASMp cannot be loaded; it needs NCCL 2.29.2 or newer: .*nowhere.so"):
            cublasmp_mlp.Libraries("/nowhere.so")


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "1.json"

    def test_measures_in_several_processes(self):
        for ranks in (2, 3):
            ended = subprocess.run(
                [sys.executable, PROGRAM, *QUICK, "--operation=geglu_mlp_tp,geglu_mlp_sp,swiglu_mlp_sp", "--batch=3", "--seq=4",
                 "--dim=8", "--hidden=24", f"--axis=ranks={ranks}", f"--out={self.out}", "--force"],
                capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            entries = json.loads(self.out.read_text(encoding="utf-8"))["benchmarks"]
            self.assertEqual({entry["run_name"] for entry in entries},
                             {f"{name}/torch_eager/fp32/batch:3/seq:4/dim:8/hidden:24/ranks:{ranks}"
                              for name in ("geglu_mlp_tp", "geglu_mlp_sp", "swiglu_mlp_sp")})
            self.assertEqual([len(entry["details"]["ranks"]) for entry in entries if "details" in entry], 3 * [ranks])
            self.assertIn("left out geglu_mlp_tp/torch_compile/", ended.stderr)
            self.assertIn("triton is not installed", ended.stderr)
