"""Several ranks measure with NumPy on the CPU: MLPs whose parts they add up by what they exchange, what is recorded, and
what is said where one goes wrong."""

import importlib.util
import sys
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

import fusegate
from fusegate.fakes import QUICK, FolderTest

KERNELS = '''
import os, sys, warnings
import numpy
import fusegate

print("loaded")
warnings.warn("old")

def silu(x):
    return x / (1 + numpy.exp(-x))

def operation(name, split, hidden=12):
    return fusegate.Operation(
        name, axes={"rows": [6], "dim": [8], "hidden": [hidden], "ranks": [2, 3]}, dtypes=["fp32"], arrays="numpy",
        inputs=lambda p: {"x": fusegate.uniform(p.rows, p.dim), "w_up": numpy.random.rand(p.hidden, p.dim).astype("float32"),
                          "w_down": fusegate.uniform(p.dim, p.hidden), "ranks": p.ranks},
        reference=lambda x, w_up, w_down, ranks: silu(x @ w_up.T) @ w_down.T, split=split)

def shared(what, mine):
    return [numpy.frombuffer(part, mine.dtype).reshape(mine.shape) for part in fusegate.gather(what, mine.tobytes())]

mlp_tp = operation("mlp_tp", {"w_up": 0, "w_down": 1})
mlp_sp = operation("mlp_sp", {"x": 0, "w_up": 0, "w_down": 1, "out": 0})

@mlp_tp.benchmark()
def reduced(x, w_up, w_down, ranks):
    assert (fusegate.ranks(), w_up.shape, w_down.shape) == (ranks, (12 // ranks, 8), (8, 12 // ranks))
    assert os.environ["RANK"] == str(fusegate.rank()) and int(os.environ["WORLD_SIZE"]) >= ranks
    assert "MASTER_PORT" in os.environ and "FUSEGATE_RANK" not in os.environ
    return sum(shared("all_reduce", silu(x @ w_up.T) @ w_down.T))

@mlp_sp.benchmark()
def gathered(x, w_up, w_down, ranks):
    whole = sum(shared("reduce_scatter", silu(numpy.concatenate(shared("all_gather", x)) @ w_up.T) @ w_down.T))
    return numpy.split(whole, ranks)[fusegate.rank()].copy()
'''
# By the implementation's name: what it does with the right result, and what is said of it.
WRONG = {
    "off": ("right + 9 * fusegate.rank()", r"^rank 1: wrong result: .*element \[\d, \d\]"),
    "raises": ("right if fusegate.rank() == 0 else right / missing",
               r"^rank 1: kernels.py:\d+: mlp_sp.raises: raised NameError: name 'missing' is not defined at kernels.py:\d+"),
    "elsewhere": ("right if fusegate.gather(f'of {fusegate.rank()}', b'') else right",
                  "^rank 1 is at 'of 1', and rank 0 at 'of 0'$"),
    "swallows": ("silent(right)", "^rank 1 is at 'odd 1', and rank 0 at 'odd 0'$"),
    "whole": ("numpy.concatenate([right, right])", r"^rank 0: kernels.py:\d+: mlp_sp.whole: wrong result: 'out' has the shape "
                                                   r"\(6, 8\), the rank's part has \(3, 8\)$"),
    "leaves": ("right if fusegate.rank() == 0 else sys.exit(0)", "^rank 1: .*mlp_sp.leaves: raised SystemExit"),
}
WRONGS = "".join(f'''
@mlp_sp.benchmark("{name}")
def _(x, w_up, w_down, ranks):
    right = gathered(x, w_up, w_down, ranks)
    return {result}
''' for name, (result, _) in WRONG.items())
SILENT = '''
def silent(right):
    try:
        fusegate.gather(f"odd {fusegate.rank()}", b"")
    except RuntimeError:
        pass
    return right
'''
DIES = '''
@mlp_tp.benchmark()
def dies(x, w_up, w_down, ranks):
    if fusegate.rank() == 1:
        os._exit(7)
    return reduced(x, w_up, w_down, ranks)
'''
ODD = '''
odd = operation("odd", {"w_up": 0, "w_down": 1}, hidden=13)
odd.benchmark("one")(reduced)
unknown = operation("unknown", {"w_gate": 0})
unknown.benchmark("one")(reduced)
across = operation("across", {"out": 1})
across.benchmark("one")(reduced)
'''
BENCH = ("-m", "fusegate.bench", "kernels.py")


class ExchangeTest(FolderTest):
    def measure(self, *flags, text=KERNELS, command=BENCH):
        self.write("kernels.py", text)
        return self.process(*command, *QUICK, f"--out={self.out}", *flags)

    def test_a_program_alone_is_rank_0_of_1(self):
        self.assertEqual((fusegate.rank(), fusegate.ranks(), fusegate.gather("it", b"a\0b")), (0, 1, [b"a\0b"]))

    def test_measures_across_two_and_three_ranks(self):
        result = self.measure("--ranks=3")
        self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
        recorded = {entry["name"].rpartition(":")[2]: entry["details"]["ranks"] for entry in self.read()["benchmarks"]
                    if "details" in entry and "ranks" in entry["details"]}
        self.assertEqual({count: len(ranks) for count, ranks in recorded.items()}, {"2": 2, "3": 3})
        for ranks in recorded.values():
            self.assertAlmostEqual(sum(rank["last_share"] for rank in ranks), 1)
        self.assertEqual(self.measured(), {f"{name}/fp32/rows:6/dim:8/hidden:12/ranks:{ranks}" for ranks in (2, 3)
                                           for name in ("mlp_tp/reduced", "mlp_sp/gathered")})
        # What the others have to say, the first says.
        self.assertEqual(result.stdout.count("loaded"), 1, result.stdout)
        self.assertEqual(result.stderr.count("UserWarning: old"), 1, result.stderr)

    def test_more_ranks_than_there_are_are_left_out(self):
        result = self.measure("--ranks=2")
        self.assertEqual((result.returncode, len(self.measured())), (0, 2), result.stderr)
        self.assertIn("left out mlp_tp/reduced/fp32/rows:6/dim:8/hidden:12/ranks:3: it needs 3 ranks", result.stderr)

    def test_a_wrong_rank_is_named_and_the_others_are_measured(self):
        result = self.measure("--ranks=2", text=f"{KERNELS}{SILENT}{WRONGS}")
        self.assertEqual(result.returncode, 2, result.stderr)
        failures = {name.split("/")[1]: text for name, text in self.failures().items()}
        for name, (_, expected) in WRONG.items():
            with self.subTest(name):
                self.assertRegex(failures.pop(name, "measured"), expected)
        self.assertEqual((failures, len(self.measured())), ({}, 2))

    def test_after_a_rank_that_dies_a_fresh_program_measures_the_others(self):
        for command, text in ((BENCH, ""), (("-m", "fusegate.bench", "kernels"), ""), (("kernels.py",), "\nfusegate.main()\n")):
            result = self.measure("--ranks=2", "--force", text=f"{KERNELS}{DIES}{text}", command=command)
            self.assertEqual((result.returncode, len(self.measured())), (2, 2), result.stderr)
            self.assertRegex(*self.failures().values(), "^rank 1 ended with exit code 7; it was at '")

    def test_what_cannot_be_split_is_named(self):
        result = self.measure("--ranks=2", text=f"{KERNELS}{ODD}")
        self.assertEqual((result.returncode, len(self.measured())), (2, 2), result.stderr)
        self.assert_failed({
            "odd": ("", "'w_up': split_axis: 13 elements cannot be split into 2 parts"),
            "unknown": ("", "unknown.split: 'w_gate' is not a tensor; there are x, w_up, w_down, out"),
            "across": ("", "'out': split_axis is 1; an output is split along its first")})

    def test_a_rank_that_cannot_start_says_why(self):
        result = self.measure("--ranks=2", text=f"{KERNELS}\nif os.environ.get('RANK') == '1':\n    raise OSError('no link')\n")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"(?m)^fusegate_bench: rank 1: kernels.py: cannot be loaded: OSError: no link, at line")
        self.assertRegex(result.stderr, "(?m)^fusegate_bench: rank 1 ended with exit code 2, before it could begin$")
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
