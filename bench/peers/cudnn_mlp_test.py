"""cuDNN's MLP on a cuDNN that is made up: which plan is taken, and what is remembered."""

import os
from unittest import mock

from fusegate.measuring.cuda_meter import Sample
from fusegate.measuring.fakes import FolderTest

import cudnn_mlp
from cudnn_mlp import CudnnMlp, take_stored
from fakes import FakeCudnn, fake_libraries, fake_problem

INPUTS = (2.0, 3.0, 5.0, 7.0)


class PlanMeter:
    """A plan takes as many microseconds as times_us says, by its index."""

    def __init__(self, times_us, cudnn):
        self._times_us, self._cudnn, self.batches = times_us, cudnn, []

    def record(self, launch, calls, l2):
        def run():
            launch()
            return Sample(1e3 * calls * self._times_us[self._cudnn.launched], 1e9)
        self.batches.append((calls, l2))
        return mock.Mock(run=run)

    def synchronize(self):
        pass


class CudnnMlpTest(FolderTest):
    def setUp(self):
        super().setUp()
        cache = mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder))
        cache.start()
        self.addCleanup(cache.stop)

    def mlp(self, cudnn=None, times_us=(3, 1, 2), problem=None):
        modules = {**fake_libraries().modules, "cudnn": cudnn or FakeCudnn()}
        self.cudnn, self.meter = modules["cudnn"], PlanMeter(times_us, modules["cudnn"])
        with mock.patch.object(cudnn_mlp, "CudaMeter", lambda _: self.meter):
            mlp = CudnnMlp(modules, problem or fake_problem("geglu_mlp"), "geglu", "gelu_approx_tanh")
            self.assertEqual(mlp(*INPUTS), 420.0)
        return mlp

    def test_every_product_takes_its_fastest_plan_and_says_so(self):
        mlp = self.mlp()
        self.assertEqual(mlp.choices, {"cudnn_library": "9.19.0", "up_proj": "eng1_k2=3",
                                       "gate_geglu_proj": "eng1_k2=3", "down_proj": "eng1_k2=3"})
        self.assertEqual([graph.taken[-1] for graph in self.cudnn.graphs], [1, 1, 1])
        self.assertEqual(self.meter.batches[:2], [(2, "warm"), (100, "warm")])

    def test_tunes_in_the_first_call_alone(self):
        mlp = self.mlp()
        built = [len(graph.built) for graph in self.cudnn.graphs]
        self.assertEqual(built, [4, 4, 4], "each of three, and the fastest again")
        self.assertEqual(mlp(*INPUTS), 420.0)
        self.assertEqual([len(graph.built) for graph in self.cudnn.graphs], built)

    def test_the_next_process_takes_the_same_without_timing(self):
        first = self.mlp().choices
        second = self.mlp(times_us=(1, 2, 3))
        self.assertEqual((second.choices, self.meter.batches), (first, []))
        self.assertEqual([graph.built for graph in self.cudnn.graphs], [[1], [1], [1]])

    def test_another_problem_and_another_cudnn_are_tuned_anew(self):
        self.mlp()
        self.mlp(times_us=(1, 2, 3), problem=fake_problem("geglu_mlp", "1,1,8,8"))
        self.assertEqual([graph.taken[-1] for graph in self.cudnn.graphs], [0, 0, 0])
        newer = FakeCudnn()
        newer.backend_version_string = lambda: "9.20.0"
        self.mlp(newer, times_us=(3, 2, 1))
        self.assertEqual([graph.taken[-1] for graph in self.cudnn.graphs], [2, 2, 2])

    def test_a_plan_that_is_no_more_is_not_taken(self):
        product = mock.Mock(plans=lambda: ["eng0", "eng1"])
        self.assertEqual((take_stored(product, "eng7"), take_stored(product, None)), ("", ""))
        product.take.assert_not_called()
        self.assertEqual(take_stored(product, "eng1"), "eng1")
        product.take.side_effect = RuntimeError("no valid engine")
        self.assertEqual(take_stored(product, "eng1"), "")

    def test_plans_that_cannot_be_built_are_passed_over(self):
        self.assertEqual(self.mlp(FakeCudnn(broken=[1])).choices["down_proj"], "eng1_k2=4")

    def test_without_a_plan_the_benchmark_fails_in_cudnns_words(self):
        with self.assertRaisesRegex(RuntimeError, r"no plan that runs here \(eng1_k2=4: RuntimeError: no valid engine"):
            self.mlp(FakeCudnn(broken=[0, 1, 2]))
        with self.assertRaisesRegex(RuntimeError, r"no plan that runs here \(it has no plans\)"):
            self.mlp(FakeCudnn(plans=()))

    def test_only_the_most_promising_plans_are_timed(self):
        mlp = self.mlp(FakeCudnn(plans=[f"eng{index}" for index in range(40)]), times_us=range(40, 0, -1))
        self.assertEqual(mlp.choices["up_proj"], f"eng{cudnn_mlp.MOST_PLANS - 1}")

    def test_weights_are_read_as_they_lie(self):
        self.mlp(problem=fake_problem("geglu_mlp", "1,128,768,3072", "fp16"))
        up, gate, down = self.cudnn.graphs
        self.assertEqual([(node.dim, node.stride, node.data_type) for node in gate.inputs],
                         [([1, 128, 768], [128 * 768, 768, 1], "HALF"), ([1, 768, 3072], [768 * 3072, 1, 768], "HALF"),
                          ([1, 128, 3072], [128 * 3072, 3072, 1], "HALF")])
        self.assertEqual([len(graph.inputs) for graph in (up, gate, down)], [2, 3, 2])
        self.assertEqual(down.inputs[1].dim, [1, 3072, 768])
