"""QuACK's MLP on a QuACK that is made up, and where its parts are looked for."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import quack_mlp
from fakes import installed, problem, random
from quack_mlp import CONCATENATED, INTERLEAVED, QuackMlp, load, pack

GATED, DOWN = "tile_m=128, tile_n=192, pingpong=True", "tile_m=256, tile_n=192, pingpong=False"
INPUTS = (random(3, 4), random(5, 4), random(5, 4), random(4, 5))


class QuackMlpTest(unittest.TestCase):
    def setUp(self):
        load.cache_clear()
        self.addCleanup(load.cache_clear)
        quack_mlp._taken.clear()
        libraries = installed()
        self.quack = libraries.__enter__()
        self.addCleanup(libraries.__exit__, None, None, None)

    def call(self, layout, is_down_quacks, of=problem(), times=1):
        mlp = QuackMlp("geglu", layout, is_down_quacks, of)
        for _ in range(times):
            mlp(*pack(layout, is_down_quacks, *INPUTS))
        return mlp.choices

    def test_says_what_the_tuner_took_for_its_own_products(self):
        self.assertEqual(self.call(INTERLEAVED, False), {"gate_up_geglu": GATED})
        self.assertEqual(self.call(CONCATENATED, True), {"gate_up_geglu": GATED, "down_proj": DOWN})

    def test_what_was_tuned_for_another_implementation_is_remembered(self):
        self.call(INTERLEAVED, True)
        self.assertEqual(self.call(INTERLEAVED, False), {"gate_up_geglu": GATED})
        self.assertEqual(self.call(INTERLEAVED, True), {"gate_up_geglu": GATED, "down_proj": DOWN})

    def test_the_same_rows_in_other_batches_are_tuned_once(self):
        self.call(INTERLEAVED, True, problem(batch=3, seq=1))
        self.assertEqual(self.call(INTERLEAVED, True), {"gate_up_geglu": GATED, "down_proj": DOWN})
        self.assertEqual(self.call(INTERLEAVED, False, problem(dim=8)), {"gate_up_geglu": "unknown"}, "nobody was asked")

    def test_quick_tuning_times_candidates_for_less(self):
        with mock.patch.dict(os.environ, FUSEGATE_QUACK_TUNING="quick"):
            with self.assertRaisesRegex(ImportError, "FUSEGATE_QUACK_TUNING=quick: this QuACK's tuner has no "):
                load("quack.autotuner")
            self.quack._bench_cuda_graph_l2_rotate = lambda fn, warmup_target_ms=200, n_timed_calls=200: (
                fn, warmup_target_ms, n_timed_calls)
            load("quack.autotuner")
        self.assertEqual(self.quack._bench_cuda_graph_l2_rotate("fn"), ("fn", 20, 60))

    def test_the_tuner_is_listened_to_once(self):
        ask = self.quack.Autotuner.__call__
        with mock.patch.object(quack_mlp, "_asked", wraps=quack_mlp._asked) as asked:
            self.call(INTERLEAVED, True, times=3)
        self.assertEqual(asked.call_count, 2)
        self.assertIs(self.quack.Autotuner.__call__, ask)

    def test_a_shape_that_quack_refuses_leaves_the_tuner_as_it_was(self):
        ask = self.quack.Autotuner.__call__
        with mock.patch.object(self.quack, "gemm_gated", side_effect=ValueError("stride must be divisible by 8")), \
                self.assertRaisesRegex(ValueError, "divisible by 8"):
            self.call(INTERLEAVED, False)
        self.assertIs(self.quack.Autotuner.__call__, ask)


class LoadTest(unittest.TestCase):
    """With modules named as QuACK's, in a folder of this test's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("QUACK_")}
        for each in (mock.patch.dict(os.environ, {**environment, "HOME": "/home/u", "XDG_CACHE_HOME": ""}, clear=True),
                     mock.patch.object(sys, "path", [*sys.path]), mock.patch.dict(sys.modules)):
            each.start()
            self.addCleanup(each.stop)
        load.cache_clear()
        self.addCleanup(load.cache_clear)

    def install(self, folder, *modules):
        for module in modules:
            path = self.folder / folder / module
            path.mkdir(parents=True)
            (path / "__init__.py").write_text("import os\nfound = dict(os.environ)\n", encoding="utf-8")
        sys.path.insert(0, str(self.folder / folder))

    def test_the_cutlass_dsl_is_found_without_its_pth_file(self):
        self.install("site-packages", "quack", "nvidia_cutlass_dsl/dsl_packages/cutlass")
        found = load("quack").found
        inner = str(self.folder / "site-packages" / "nvidia_cutlass_dsl" / "dsl_packages")
        self.assertEqual(found["PYTHONPATH"].split(os.pathsep)[0], inner, "for the processes that compile")
        self.assertEqual((found["QUACK_CACHE_DIR"], int(found["QUACK_COMPILE_WORKERS"]) >= 2),
                         ("/home/u/.cache/fusegate/quack/NVIDIA_H200", True))

    def test_reports_a_folder_that_quack_refuses(self):
        self.install("lib", "quack", "cutlass")
        with self.assertRaisesRegex(ImportError, rf"but it is in {self.folder}/lib/cutlass; inst"):
            load("quack")

    def test_the_users_own_cache_folder_is_taken(self):
        self.install("dist-packages", "quack", "cutlass")
        os.environ["QUACK_CACHE_DIR"] = "/mine"
        self.assertEqual(load("quack").found["QUACK_CACHE_DIR"], "/mine")
