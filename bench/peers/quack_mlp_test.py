"""QuACK's MLP on a QuACK that is made up, and where its parts are looked for."""

import os
import pathlib
import sys
from unittest import mock

from fusegate.errors import InputError
from fusegate.measuring.fakes import FolderTest

import quack_mlp
from fakes import Packed, fake_libraries, fake_problem
from quack_mlp import CONCATENATED, INTERLEAVED, QuackMlp, load, prepare, tune_quickly

GATED, DOWN = "tile_m=128, tile_n=192, pingpong=True", "tile_m=256, tile_n=192, pingpong=False"
INPUTS = (2.0, 3.0, 5.0, 7.0)


class QuackMlpTest(FolderTest):
    def setUp(self):
        super().setUp()
        quack_mlp._taken.clear()
        self.modules = fake_libraries().modules

    def call(self, layout, is_down_quacks, problem=None, times=1):
        mlp = QuackMlp(self.modules, problem or fake_problem("geglu_mlp"), "geglu", layout, is_down_quacks)
        for _ in range(times):
            self.assertEqual(mlp(*prepare(layout, is_down_quacks, self.modules)(*INPUTS)), 420.0)
        return mlp.choices

    def test_weights_are_interleaved_or_one_after_the_other(self):
        self.modules["torch"].t = lambda weight: ("transposed", weight)
        stacked = mock.Mock(return_value=mock.Mock(flatten=lambda *dims: ("interleaved", dims)))
        with mock.patch.object(self.modules["torch"], "stack", stacked):
            self.assertEqual(prepare(INTERLEAVED, True, self.modules)(*INPUTS),
                             (2.0, ("transposed", ("interleaved", (0, 1))), ("transposed", 7.0)))
        stacked.assert_called_once_with((3.0, 5.0), dim=1)
        self.assertEqual(prepare(CONCATENATED, False, self.modules)(*INPUTS),
                         (2.0, ("transposed", Packed(3.0, 5.0, ("B",))), 7.0))

    def test_says_what_the_tuner_took_for_its_own_products(self):
        self.assertEqual(self.call(INTERLEAVED, False), {"gate_up_geglu": GATED})
        self.assertEqual(self.call(CONCATENATED, True), {"gate_up_geglu": GATED, "down_proj": DOWN})

    def test_what_was_tuned_for_another_implementation_is_remembered(self):
        self.call(INTERLEAVED, True)
        self.assertEqual(self.call(INTERLEAVED, False), {"gate_up_geglu": GATED})
        self.assertEqual(self.call(INTERLEAVED, True), {"gate_up_geglu": GATED, "down_proj": DOWN})

    def test_the_same_rows_in_other_batches_are_tuned_once(self):
        self.call(INTERLEAVED, True, fake_problem("geglu_mlp", "8,16,8,8"))
        self.assertEqual(self.call(INTERLEAVED, True, fake_problem("geglu_mlp", "128,1,8,8")),
                         {"gate_up_geglu": GATED, "down_proj": DOWN})

    def test_another_problem_has_choices_of_its_own(self):
        self.call(INTERLEAVED, False)
        self.assertEqual(self.call(INTERLEAVED, False, fake_problem("geglu_mlp", "1,1,8,8")),
                         {"gate_up_geglu": "unknown"}, "nobody was asked for it")

    def test_quick_tuning_times_candidates_for_less(self):
        tuner = self.modules["quack"].autotuner
        with self.assertRaisesRegex(InputError, "--quack-tuning=quick: this QuACK's tuner has no "):
            tune_quickly(self.modules["quack"])
        tuner._bench_cuda_graph_l2_rotate = lambda fn, warmup_target_ms=200, n_timed_calls=200: (
            fn, warmup_target_ms, n_timed_calls)
        tune_quickly(self.modules["quack"])
        self.assertEqual(tuner._bench_cuda_graph_l2_rotate("fn"), ("fn", 20, 60))

    def test_the_tuner_is_listened_to_once(self):
        ask = self.modules["quack"].autotuner.Autotuner.__call__
        with mock.patch.object(quack_mlp, "_asked", wraps=quack_mlp._asked) as asked:
            self.call(INTERLEAVED, True, times=3)
        self.assertEqual(asked.call_count, 2)
        self.assertIs(self.modules["quack"].autotuner.Autotuner.__call__, ask)

    def test_a_shape_that_quack_refuses_leaves_the_tuner_as_it_was(self):
        quack = self.modules["quack"]
        ask = quack.autotuner.Autotuner.__call__
        with mock.patch.object(quack, "gemm_gated", side_effect=ValueError("stride must be divisible by 8")), \
                self.assertRaisesRegex(ValueError, "divisible by 8"):
            self.call(INTERLEAVED, False)
        self.assertIs(quack.autotuner.Autotuner.__call__, ask)

    def test_asks_for_the_unit_by_quacks_name(self):
        QuackMlp(self.modules, fake_problem("swiglu_mlp"), "swiglu", INTERLEAVED, False)(
            *prepare(INTERLEAVED, False, self.modules)(*INPUTS))
        self.assertEqual(self.modules["quack"].calls, ["swiglu"])


class LoadTest(FolderTest):
    """With modules named as QuACK's, in a folder of this test's."""

    def setUp(self):
        super().setUp()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("QUACK_")}
        for each in (mock.patch.dict(os.environ, {**environment, "HOME": "/home/u", "XDG_CACHE_HOME": ""}, clear=True),
                     mock.patch.object(sys, "path", [*sys.path]), mock.patch.dict(sys.modules)):
            each.start()
            self.addCleanup(each.stop)

    def install(self, folder, *modules):
        for module in modules:
            path = pathlib.Path(folder) / module
            path.mkdir(parents=True)
            (path / "__init__.py").write_text("import os\nfound = dict(os.environ)\n", encoding="utf-8")

    def test_the_cutlass_dsl_is_found_without_its_pth_file(self):
        target = self.folder / "lib" / "site-packages"
        self.install(target, "quack", "nvidia_cutlass_dsl/dsl_packages/cutlass")
        sys.path.insert(0, str(target))
        found = load("quack", "NVIDIA H200").found
        inner = str(target / "nvidia_cutlass_dsl" / "dsl_packages")
        self.assertEqual(found["PYTHONPATH"].split(os.pathsep)[0], inner, "for the processes that compile")
        self.assertEqual((found["QUACK_CACHE_DIR"], int(found["QUACK_COMPILE_WORKERS"]) >= 2),
                         ("/home/u/.cache/fusegate/quack/NVIDIA_H200", True))
        load("quack", "NVIDIA H200")
        self.assertEqual(sys.path.count(inner), 1)

    def test_reports_a_folder_that_quack_refuses(self):
        self.install(self.folder, "quack", "cutlass")
        sys.path.insert(0, str(self.folder))
        with self.assertRaisesRegex(ImportError, rf"but it is in {self.folder}/cutlass; inst"):
            load("quack", "NVIDIA H200")

    def test_without_quack_nothing_is_added(self):
        before = list(sys.path)
        with self.assertRaises(ImportError):
            load("quack", "NVIDIA H200")
        self.assertEqual(sys.path, before)

    def test_the_users_own_cache_folder_is_taken(self):
        target = self.folder / "dist-packages"
        self.install(target, "quack", "cutlass")
        sys.path.insert(0, str(target))
        os.environ["QUACK_CACHE_DIR"] = "/mine"
        self.assertEqual(load("quack", "NVIDIA H200").found["QUACK_CACHE_DIR"], "/mine")
