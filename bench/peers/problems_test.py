"""Names, inputs and work, against what fusegate_bench wrote for the same problems; activations, against its sources."""

import math
import pathlib
import re
import unittest

import problems
from fakes import fake_problem

SMALL = fake_problem("geglu_mlp")
ACTIVATIONS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "activations"


def totals(stages):
    return sum(stage.flops for stage in stages), sum(stage.min_bytes for stage in stages)


def activations_of_the_kernels():
    """By unit: the stage's name and the operations of an element, as the functors of the list have them."""
    headers = [path.read_text(encoding="utf-8") for path in ACTIVATIONS.glob("*.h")]
    (names,) = re.findall(r"using Activations = ActivationList<([^>]+)>", "".join(headers))
    found = {}
    for name in re.findall(r"\w+", names):
        (text,) = (text for text in headers if f"struct {name} {{" in text)
        unit, stage, flops = (re.search(f'k{key} = "?(\\w+)', text)[1] for key in ("Unit", "Stage", "Flops"))
        found[unit] = (stage, int(flops))
    return found


class ProblemsTest(unittest.TestCase):
    def test_is_named_as_fusegate_bench_names_it(self):
        self.assertEqual(SMALL.name, "bf16/batch:1/seq:128/dim:768/hidden:3072")
        self.assertEqual(SMALL.rows, 128)

    def test_work_is_what_fusegate_bench_counts(self):
        # From a run file of suite pr.
        self.assertEqual(totals(problems.gated_mlp_stages("geglu", False, SMALL)), (1815871488.0, 21037056.0))
        self.assertEqual(totals(problems.gated_stages("geglu", True, fake_problem("geglu", "1,128,768,11008"))),
                         (14090240.0, 8454144.0))
        fused = problems.gated_mlp_stages("geglu", True, fake_problem("geglu_mlp", "8,512,1024,8192"))
        self.assertEqual(totals(fused), (206493974528.0, 478150656.0))
        self.assertEqual([stage.name for stage in fused], ["gate_proj", "up_proj", "gelu_mul", "down_proj"])

    def test_both_projections_and_the_unit_in_one_write_the_hidden_alone(self):
        gate_up, down = problems.gate_up_mlp_stages("geglu", SMALL)
        rows, dim, hidden = 128, 768, 3072
        self.assertEqual((gate_up.name, down.name), ("gate_up_geglu", "down_proj"))
        self.assertEqual(gate_up.flops, 2 * 2 * rows * dim * hidden + 10 * rows * hidden)
        self.assertEqual(gate_up.min_bytes, 2 * (rows * dim + 2 * hidden * dim + rows * hidden))
        self.assertEqual(gate_up.flops + down.flops, totals(problems.gated_mlp_stages("geglu", True, SMALL))[0])

    def test_the_unit_in_the_second_product_reads_the_first(self):
        up, gate, down = problems.up_gate_mlp_stages("geglu", SMALL)
        rows, dim, hidden = 128, 768, 3072
        self.assertEqual([stage.name for stage in (up, gate, down)], ["up_proj", "gate_geglu_proj", "down_proj"])
        self.assertEqual(gate.min_bytes, 2 * (rows * dim + hidden * dim + 2 * rows * hidden))
        self.assertEqual(up.flops + gate.flops + down.flops, totals(problems.gated_mlp_stages("geglu", True, SMALL))[0])

    def test_activations_are_those_of_the_kernels(self):
        self.assertEqual({unit: (activation.name, activation.flops) for unit, activation in problems.GATED.items()},
                         activations_of_the_kernels())

    def test_linear_adds_its_bias_in_the_product(self):
        rows, dim, hidden = 128, 768, 3072
        (stage,) = problems.linear_stages(SMALL)
        self.assertEqual(stage.flops, 2 * rows * dim * hidden + rows * hidden)
        self.assertEqual(stage.min_bytes, 2 * (rows * dim + hidden * dim + hidden + rows * hidden))

    def test_inputs_have_the_operations_shapes_and_scales(self):
        x, w_gate, w_up, w_down = SMALL.inputs
        self.assertEqual((x["name"], x["shape"], x["fill"]), ("x", [128, 768], {"kind": "uniform", "scale": 4.0}))
        self.assertEqual({**w_gate, "name": "w_up"}, w_up)
        self.assertEqual((w_down["shape"], w_down["fill"]["scale"]), ([768, 3072], 1 / math.sqrt(3072)))
        self.assertEqual({name: tensor.shape for name, tensor in fake_problem("linear").tensors().items()},
                         {"x": (128, 768), "w": (3072, 768), "bias": (3072,)})
        self.assertEqual([fake_problem("linear", dtype=dtype).error_bound for dtype in problems.DTYPES],
                         [1e-2, 1.5e-3])
