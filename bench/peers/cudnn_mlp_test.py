"""cuDNN's MLP on a cuDNN that is made up: which plan is taken, and what is remembered."""

import tempfile
import unittest
from unittest import mock

import cudnn_mlp
from cudnn_mlp import CudnnMlp, take_remembered
from fakes import FakeCudnn, installed, problem, random

INPUTS = (random(3, 4), random(5, 4), random(5, 4), random(4, 5))


class CudnnMlpTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def choices(self, cudnn, of=problem(), calls=1):
        with installed(cudnn, self.cache):
            mlp = CudnnMlp("geglu", "gelu_approx_tanh", of)
            for _ in range(calls):
                mlp(*INPUTS)
        return mlp.choices

    def test_every_product_takes_its_fastest_plan_and_says_so(self):
        cudnn = FakeCudnn()
        self.assertEqual(self.choices(cudnn), {"cudnn_library": "9.19.0", "up_proj": "eng1_k2=3",
                                               "gate_geglu_proj": "eng1_k2=3", "down_proj": "eng1_k2=3"})
        self.assertEqual([graph.taken[-1] for graph in cudnn.graphs], [1, 1, 1])

    def test_tunes_in_the_first_call_alone(self):
        cudnn = FakeCudnn()
        self.choices(cudnn, calls=3)
        self.assertEqual([len(graph.built) for graph in cudnn.graphs], [4, 4, 4], "each of three, and the fastest again")

    def test_the_next_process_takes_the_same_without_timing(self):
        first, later = self.choices(FakeCudnn()), FakeCudnn(times=(1, 2, 3))
        self.assertEqual((self.choices(later), later.timed), (first, 0))
        self.assertEqual([graph.built for graph in later.graphs], [[1], [1], [1]])

    def test_another_problem_and_another_cudnn_are_tuned_anew(self):
        self.choices(FakeCudnn())
        for cudnn, of in ((FakeCudnn(times=(1, 2, 3)), problem(dtype="fp16")), (FakeCudnn(version="9.20.0"), problem())):
            self.choices(cudnn, of)
            self.assertEqual(cudnn.timed, 9)

    def test_a_plan_that_is_no_more_is_not_taken(self):
        product = mock.Mock(plans=lambda: ["eng0", "eng1"])
        for stored, fails, expected in (("eng7", None, ""), (None, None, ""), ("eng1", None, "eng1"),
                                        ("eng1", RuntimeError("no valid engine"), "")):
            product.take.side_effect = fails
            with mock.patch.object(cudnn_mlp, "remembered", lambda _, stored=stored: stored):
                self.assertEqual(take_remembered(product, None), expected)
        self.assertEqual(product.take.call_args_list, [mock.call(1)] * 2)

    def test_plans_that_cannot_be_built_are_passed_over(self):
        self.assertEqual(self.choices(FakeCudnn(broken=[1]))["down_proj"], "eng1_k2=4")

    def test_fails_in_cudnns_words(self):
        for cudnn, of, expected in (
                (FakeCudnn(broken=[0, 1, 2]), problem(), r"no plan that runs here \(eng1_k2=4: RuntimeError: no valid engine"),
                (FakeCudnn(plans=()), problem(), r"no plan that runs here \(it has no plans\)"),
                (FakeCudnn(), problem(dtype="fp32"), "computes in bf16 and fp16 only")):
            with self.assertRaisesRegex(Exception, expected):
                self.choices(cudnn, of)

    def test_only_the_most_promising_plans_are_timed(self):
        cudnn = FakeCudnn(times=range(40, 0, -1), plans=[f"eng{index}" for index in range(40)])
        self.assertEqual(self.choices(cudnn)["up_proj"], f"eng{cudnn_mlp.MOST_PLANS - 1}")

    def test_weights_are_read_as_they_lie(self):
        cudnn = FakeCudnn()
        self.choices(cudnn, problem(dtype="fp16"))
        up, gate, down = cudnn.graphs
        self.assertEqual([(node.dim, node.stride, node.data_type) for node in gate.inputs],
                         [([1, 3, 4], [12, 4, 1], "HALF"), ([1, 4, 5], [20, 1, 4], "HALF"), ([1, 3, 5], [15, 5, 1], "HALF")])
        self.assertEqual([len(graph.inputs) for graph in (up, gate, down)], [2, 3, 2])
        self.assertEqual(down.inputs[1].dim, [1, 5, 4])
