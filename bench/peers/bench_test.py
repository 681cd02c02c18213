"""The plan of fusegate_bench, and its error messages as the peers'."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from fusegate.errors import InputError

from bench import find_bench, read_plan, require_same_gpu

SUITES = pathlib.Path(__file__).resolve().parent.parent / "suites"
LADDER = [(1, 1, 768, 3072), (1, 128, 768, 3072), (4, 128, 768, 3072), (16, 128, 768, 3072), (64, 128, 768, 3072),
          (64, 512, 768, 3072), (2, 512, 1024, 4096), (8, 512, 2048, 8192), (1, 1024, 4096, 14336),
          (8, 1024, 4096, 11008), (1, 1, 4096, 14336)]


def plan(*flags):
    return read_plan(find_bench(), flags)


def sizes(problem):
    return tuple(problem["axes"][axis] for axis in ("batch", "seq", "dim", "hidden"))


class ReadPlanTest(unittest.TestCase):
    def test_knows_all_suites_of_the_project(self):
        for path in SUITES.glob("*.json"):
            self.assertEqual(plan(f"--suite={path.stem}")["fusegate"]["suite"], path.stem)

    def test_the_ladder_is_the_targets_eleven_problems(self):
        work = plan("--suite=ladder")["work"]
        mlps = [problem for swept in work if swept["operation"] == "geglu_mlp" for problem in swept["problems"]]
        self.assertEqual({problem["dtype"] for problem in mlps}, {"bf16"})
        self.assertEqual(sorted(map(sizes, mlps)), sorted(LADDER))
        self.assertLessEqual({"linear", "control_copy", "control_gemm"}, {swept["operation"] for swept in work},
                             "roofline times need these")

    def test_takes_problems_directly(self):
        work = plan("--problem=1,2,3,4", "--problem=5,6,7,8", "--operation=geglu_mlp", "--dtype=fp16")["work"]
        self.assertEqual([(sizes(problem), problem["dtype"]) for swept in work for problem in swept["problems"]],
                         [((1, 2, 3, 4), "fp16"), ((5, 6, 7, 8), "fp16")])

    def test_passes_on_the_programs_message(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.json"
            bad.write_text('{"name": "bad", "sweeps": 3}', encoding="utf-8")
            for flags, expected in (([f"--suite={bad}"], f"{bad}: sweeps: must be a list"),
                                    (["--suite=nope"], "nope: no such suite; expected ladder, nightly"),
                                    (["--speed=3"], "--speed=3: unknown flag"),
                                    (["--process=0"], "--process: ")):
                with self.subTest(flags), self.assertRaises(InputError) as caught:
                    plan(*flags)
                self.assertTrue(str(caught.exception).startswith(expected), caught.exception)

    def test_names_a_program_without_a_plan(self):
        for program, expected in (("/nonexistent/bench", "/nonexistent/bench: cannot be started: No such file"),
                                  ("/bin/true", "/bin/true: does not print a plan"), ("/bin/false", "exit code 1")):
            with self.assertRaisesRegex(InputError, expected):
                read_plan(program, [])


class FindBenchTest(unittest.TestCase):
    def test_takes_the_named_one_first(self):
        with mock.patch.dict(os.environ, {"FUSEGATE_BENCH": "/opt/fusegate_bench"}):
            self.assertEqual(find_bench(), "/opt/fusegate_bench")

    def test_advises_to_build_or_name_one(self):
        with mock.patch.dict(os.environ, {"FUSEGATE_BENCH": "", "PATH": ""}), \
                mock.patch.object(pathlib.Path, "is_file", lambda _: False):
            with self.assertRaisesRegex(InputError, "fusegate_bench: not found; build it, or name it with --bench"):
                find_bench()


class RequireSameGpuTest(unittest.TestCase):
    def test_refuses_another_gpu_and_none(self):
        def seen(uuid):
            return {"fusegate": {"provenance": {"device_uuid": uuid}}}
        require_same_gpu(seen("GPU-1"), "bench", "GPU-1")
        with self.assertRaisesRegex(InputError, "bench: finds GPU-2, but torch measures on GPU-1"):
            require_same_gpu(seen("GPU-2"), "bench", "GPU-1")
        with self.assertRaisesRegex(InputError, "bench: finds no GPU, or was built without CUDA"):
            require_same_gpu(seen(""), "bench", "GPU-1")
