"""Operations and work, against what fusegate_bench has and counts for the same problems; activations, against its sources."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import peers  # registers the operations
import problems
import torch
from fakes import problem
from fusegate import operations

PEERS = pathlib.Path(__file__).resolve().parent
ROWS, DIM, HIDDEN = 128, 768, 3072
SMALL = problem(1, ROWS, DIM, HIDDEN)


def plan(*command):
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)["work"]


def totals(stages):
    return sum(stage.flops for stage in stages), sum(stage.min_bytes for stage in stages)


def activations_of_the_kernels():
    """By unit: the stage's name and the operations of an element, as the functors of the list have them."""
    headers = [path.read_text(encoding="utf-8") for path in (PEERS.parents[1] / "kernels" / "activations").glob("*.h")]
    (names,) = re.findall(r"using Activations = ActivationList<([^>]+)>", "".join(headers))
    found = {}
    for name in re.findall(r"\w+", names):
        (text,) = (text for text in headers if f"struct {name} {{" in text)
        unit, stage, flops = (re.search(f'k{key} = "?(\\w+)', text)[1] for key in ("Unit", "Stage", "Flops"))
        found[unit] = (stage, int(flops))
    return found


class ProblemsTest(unittest.TestCase):
    def test_names_inputs_and_tolerances_are_fusegate_benchs(self):
        seen = set()
        for suite in (*(path.stem for path in (PEERS.parent / "suites").glob("*.json")), self.odd_suite()):
            own, theirs = (plan(*program, f"--suite={suite}", "--plan") for program in (
                (sys.executable, PEERS / "peers.py"), (os.environ["FUSEGATE_BENCH"],)))
            shared = {swept["operation"] for swept in own} & {swept["operation"] for swept in theirs}
            self.assertEqual(*([swept for swept in side if swept["operation"] in shared] for side in (own, theirs)), suite)
            seen |= shared
        self.assertEqual(seen, set(operations()))

    def odd_suite(self):
        """Every operation at sizes that end within a block of scales."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "odd.json"
        path.write_text(json.dumps({"name": "odd", "sweeps": [
            {"operations": [name for name, operation in operations().items()
                            if dtype in operation.dtypes and ("ranks" in operation.axes) == bool(ranks)],
             "dtype": [dtype], "batch": [2], "seq": [3], "dim": [144], "hidden": [272], **ranks}
            for dtype, ranks in (("bf16", {}), ("fp8_e4m3", {}), ("bf16", {"ranks": [2]}))]}), encoding="utf-8")
        return str(path)

    def test_activations_are_those_of_the_kernels(self):
        self.assertEqual({unit: (activation.name, activation.flops) for unit, activation in problems.GATED.items()},
                         activations_of_the_kernels())

    def test_slopes_are_derivatives_of_the_formulas(self):
        g = torch.tensor([-5.0, -1.3, -0.2, 0.4, 3.0])
        for unit, activation in problems.GATED.items():
            difference = (activation.formula(g + 1e-6) - activation.formula(g - 1e-6)) / 2e-6
            self.assertLess(abs(activation.slope(g) - difference).max(), 1e-8, unit)

    def test_work_is_what_fusegate_bench_counts(self):
        # From a run file of suite pr.
        self.assertEqual(totals(problems.mlp_stages("geglu", False, SMALL)), (1815871488.0, 21037056.0))
        self.assertEqual(totals(problems.gated_stages("geglu", True, problem(1, 128, 768, 11008))), (14090240.0, 8454144.0))
        fused = problems.mlp_stages("geglu", True, problem(8, 512, 1024, 8192))
        self.assertEqual(totals(fused), (206493974528.0, 478150656.0))
        self.assertEqual([stage.name for stage in fused], ["gate_proj", "up_proj", "gelu_mul", "down_proj"])
        (stage,) = problems.linear_stages(SMALL)
        self.assertEqual(stage.flops, 2 * ROWS * DIM * HIDDEN + ROWS * HIDDEN)
        self.assertEqual(stage.min_bytes, 2 * (ROWS * DIM + HIDDEN * DIM + HIDDEN + ROWS * HIDDEN))

    def test_fused_products_read_and_write_each_operand_once(self):
        flops = totals(problems.mlp_stages("geglu", True, SMALL))[0]
        gate_up, down = problems.gate_up_mlp_stages("geglu", SMALL)
        self.assertEqual((gate_up.name, down.name), ("gate_up_geglu", "down_proj"))
        self.assertEqual(gate_up.min_bytes, 2 * (ROWS * DIM + 2 * HIDDEN * DIM + ROWS * HIDDEN))
        self.assertEqual(gate_up.flops + down.flops, flops)
        up, gate, down = problems.up_gate_mlp_stages("geglu", SMALL)
        self.assertEqual([stage.name for stage in (up, gate, down)], ["up_proj", "gate_geglu_proj", "down_proj"])
        self.assertEqual(gate.min_bytes, 2 * (ROWS * DIM + HIDDEN * DIM + 2 * ROWS * HIDDEN))
        self.assertEqual(up.flops + gate.flops + down.flops, flops)
