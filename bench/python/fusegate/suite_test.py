"""Suites of any axes: what they sweep, and what of them is refused."""

import json
import pathlib

import fusegate
from fusegate import InputError
from fusegate.measuring.fakes import FolderTest
from fusegate.plan import make_plan, name_filter
from fusegate.suite import parse_suite, read_suite, registered_suite


def everything(_name):
    return True


class Registered(FolderTest):
    def setUp(self):
        super().setUp()
        fusegate.clear()
        for name, axes in (("attention", [{"heads": 16, "kv": 64}, {"heads": 32, "kv": 128}]), ("softmax", {"cols": [8]})):
            operation = fusegate.Operation(name, axes=axes, dtypes=["bf16"], inputs=lambda p: {}, reference=lambda: 0)
            for implementation in ("eager", "triton"):
                operation.benchmark(implementation)(lambda: 0)
        self.operations = fusegate.operations()

    def planned(self, *sweeps, wanted=everything):
        suite = parse_suite({"name": "s", "sweeps": list(sweeps)}, "s.json", self.operations)
        return [each.name for each in make_plan(suite, self.operations, "cuda", wanted).benchmarks]


class SuiteTest(Registered):
    def test_all_is_what_was_registered(self):
        plan = make_plan(registered_suite(), self.operations, "cuda", everything)
        self.assertEqual([each.name for each in plan.benchmarks], [
            "attention/eager/bf16/heads:16/kv:64", "attention/triton/bf16/heads:16/kv:64",
            "attention/eager/bf16/heads:32/kv:128", "attention/triton/bf16/heads:32/kv:128",
            "softmax/eager/bf16/cols:8", "softmax/triton/bf16/cols:8"])

    def test_a_sweep_takes_every_combination_and_registered_values_of_the_rest(self):
        self.assertEqual(self.planned({"operations": ["attention"], "implementations": ["eager"], "dtype": ["fp16"],
                                       "heads": [1, 2], "kv": [7]}),
                         ["attention/eager/fp16/heads:1/kv:7", "attention/eager/fp16/heads:2/kv:7"])
        self.assertEqual(self.planned({"operations": ["attention"], "implementations": ["eager"], "heads": [1]}),
                         ["attention/eager/bf16/heads:1/kv:64", "attention/eager/bf16/heads:1/kv:128"])
        self.assertEqual(self.planned({"cols": [9], "implementations": ["eager"]})[-1], "softmax/eager/bf16/cols:9")

    def test_every_benchmark_is_measured_once(self):
        sweep = {"operations": ["softmax"]}
        self.assertEqual(len(self.planned(sweep, sweep)), 2)

    def test_says_what_is_wrong_and_where(self):
        sweeps = {"operations": ["softmax"]}
        for suite, expected in (
                ([], "s.json: must be an object"), ({"name": "s"}, "sweeps: must be a list with at least one element"),
                ({"name": "a/b", "sweeps": [sweeps]}, "name: must be a file's name"),
                ({"name": "s", "sweep": [], "sweeps": [sweeps]}, "sweep: unknown key; known: name, protocol, gate, controls, "
                                                                "compared_with, sweeps"),
                ({"name": "s", "sweeps": [3]}, r"sweeps\[0\]: must be an object"),
                ({"name": "s", "sweeps": [{**sweeps, "rows": [1]}]},
                 r"sweeps\[0\].rows: unknown axis; softmax has cols"),
                ({"name": "s", "sweeps": [{"operations": ["nope"]}]},
                 r"sweeps\[0\].operations\[0\]: unknown name 'nope'; known: attention, softmax"),
                ({"name": "s", "sweeps": [{"implementations": ["eager", "cuda"]}]},
                 r"sweeps\[0\].implementations\[1\]: unknown name 'cuda'; known: eager, triton"),
                ({"name": "s", "sweeps": [{"dtype": ["half"]}]}, r"sweeps\[0\].dtype\[0\]: unknown name 'half'"),
                ({"name": "s", "sweeps": [{"cols": [0]}]}, r"sweeps\[0\].cols\[0\]: must be a whole number from 1"),
                ({"name": "s", "sweeps": [{"cols": 4}]}, r"sweeps\[0\].cols: must be a list"),
                ({"name": "s", "protocol": {"samples": "x"}, "sweeps": [sweeps]}, "protocol.samples: must be a whole"),
                ({"name": "s", "gate": {"tpu": {}}, "sweeps": [sweeps]}, "gate.tpu: unknown key; known: cuda, cpu"),
                ({"name": "s", "gate": {"cpu": {"min_effect": 2}}, "sweeps": [sweeps]},
                 "gate.cpu.min_effect: must be a number between 0 and 1"),
                ({"name": "s", "gate": {"cuda": {"allow": True}}, "sweeps": [sweeps]},
                 "gate.cuda.allow: must be a number between 0 and 1"),
                ({"name": "s", "gate": {"cpu": {"min_effect": 0.1, "allow": 0.05}}, "sweeps": [sweeps]},
                 "gate.cpu.allow: must not be below min_effect, 0.1"),
                ({"name": "s", "gate": {"cpu": {}}, "sweeps": [sweeps]},
                 "gate.cpu: must have at least one of min_effect, allow, host"),
                ({"name": "s", "gate": {"cpu": {"host": {}}}, "sweeps": [sweeps]}, "gate.cpu.host: must have at least one"),
                ({"name": "s", "gate": {"cpu": {"host": {"min_us": -1}}}, "sweeps": [sweeps]},
                 "gate.cpu.host.min_us: must be a number from 0 to 1000000"),
                ({"name": "s", "gate": {"cpu": {"host": {"min_effect": True}}}, "sweeps": [sweeps]},
                 "gate.cpu.host.min_effect: must be a number between 0 and 1"),
                ({"name": "s", "gate": {"cpu": {"host": {"min_ns": 1}}}, "sweeps": [sweeps]}, "gate.cpu.host.min_ns: unknown"),
                ({"name": "s", "compared_with": {"nope": "eager"}, "sweeps": [sweeps]}, "compared_with.nope: unknown key"),
                ({"name": "s", "compared_with": {"softmax": "nope"}, "sweeps": [sweeps]},
                 "compared_with.softmax: unknown name 'nope'; known: eager"),
                ({"name": "s", "controls": "softmax", "sweeps": [sweeps]}, "controls: must be a list"),
                ({"name": "s", "controls": ["softmax", ""], "sweeps": [sweeps]}, r"controls\[1\]: must be a non-empty string"),
                ({"name": "s", "controls": ["["], "sweeps": [sweeps]},
                 r'controls\[0\]: "\[" is not a regular expression')):
            with self.subTest(expected), self.assertRaisesRegex(InputError, expected):
                parse_suite(suite, "s.json", self.operations)

    def test_the_gates_smallest_effects_go_by_the_kind_of_device(self):
        suite = parse_suite({"name": "s", "gate": {"cuda": {"host": {"min_effect": 0.2, "min_us": 1.5}}},
                             "sweeps": [{"operations": ["softmax"]}]}, "s.json", self.operations)
        protocol = suite.protocol_on("cuda").to_json()
        self.assertEqual((protocol["host_min_effect"], protocol["host_min_ns"]), (0.2, 1500))
        self.assertNotIn("min_effect", protocol)
        self.assertNotIn("host_min_ns", suite.protocol_on("cpu").to_json())

    def test_too_many_problems_are_refused_before_they_are_listed(self):
        many = list(range(1, 1001))
        with self.assertRaisesRegex(InputError, "s: sweeps: have 2000000 problems; at most 100000 can be measured"):
            self.planned({"operations": ["attention"], "heads": many, "kv": many})

    def test_is_found_beside_the_kernels_or_by_its_file(self):
        folder = self.folder / "suites"
        folder.mkdir()
        file = folder / "pr.json"
        file.write_text(json.dumps({"name": "pr", "protocol": {"samples": 9}, "gate": {"cuda": {"min_effect": 0.02, "allow": 0.05}},
                                    "sweeps": [{"operations": ["softmax"]}]}), encoding="utf-8")
        for name in ("pr", str(file)):
            suite = read_suite(name, folder, self.operations)
            self.assertEqual((suite.protocol_on("cuda").samples, suite.protocol_on("cuda").min_effect), (9, 0.02))
            self.assertEqual(suite.protocol_on("cuda").to_json()["allow"], 0.05)
            self.assertEqual(suite.protocol_on("cpu").min_effect, 0)
            self.assertNotIn("allow", suite.protocol_on("cpu").to_json())
        self.assertEqual(read_suite("all", folder, self.operations).name, "all")
        with self.assertRaisesRegex(InputError, "nope: no such suite; known: all, pr; or name a .json file"):
            read_suite("nope", folder, self.operations)
        file.write_text("{", encoding="utf-8")
        with self.assertRaisesRegex(InputError, "pr.json: not valid JSON"):
            read_suite("pr", folder, self.operations)

    def test_fusegates_own_suites_are_of_the_same_form(self):
        for path in (pathlib.Path(__file__).resolve().parents[2] / "suites").glob("*.json"):
            given = json.loads(path.read_text(encoding="utf-8"))
            names = {name for sweep in given["sweeps"] for name in sweep.get("operations", ())}
            fusegate.clear()
            ladder = {"batch": [1], "seq": [1], "dim": [1], "hidden": [1]}
            for name in names or {"any"}:
                operation = fusegate.Operation(name, axes=ladder, dtypes=["bf16"], inputs=lambda p: {}, reference=lambda: 0)
                for implementation in {each for sweep in given["sweeps"] for each in sweep.get("implementations", ())}:
                    operation.benchmark(implementation)(lambda: 0)
            self.assertEqual(parse_suite(given, str(path), fusegate.operations()).name, path.stem)


class PlanTest(Registered):
    def test_leaves_out_what_cannot_run_here_and_says_why(self):
        softmax = self.operations["softmax"]
        softmax.benchmark("host", device="cpu")(lambda: 0)
        softmax.benchmark("liger", requires=["liger_kernel"])(lambda: 0)
        softmax.benchmark("np", arrays="numpy")(lambda: 0)
        plan = make_plan(registered_suite(), self.operations, "cuda", everything, lambda name: False)
        self.assertEqual(plan.refusals, ["softmax/host: it runs on cpu only, and this is cuda",
                                         "softmax/liger: liger_kernel is not installed",
                                         "softmax/np: it takes NumPy's arrays, and this is cuda"])
        self.assertEqual(len(plan.benchmarks), 6)

    def test_controls_are_registered_or_named_by_the_suite(self):
        everything_there = make_plan(registered_suite(), self.operations, "cuda", everything, lambda name: True)
        self.assertEqual(everything_there.controls(registered_suite()), [])
        copy = fusegate.Operation("copy", axes={"rows": [8]}, dtypes=["bf16"], inputs=lambda p: {}, reference=lambda: 0,
                                  control=True)
        copy.benchmark("memcpy")(lambda: 0)
        suite = parse_suite({"name": "s", "controls": ["^softmax/eager"], "sweeps": [{}]}, "s.json", fusegate.operations())
        plan = make_plan(suite, fusegate.operations(), "cuda", everything, lambda name: True)
        self.assertEqual([name.partition("/bf16")[0] for name in plan.controls(suite)], ["copy/memcpy", "softmax/eager"])

    def test_compares_with_what_the_suite_names_else_the_operation_else_the_first(self):
        def compared_with(**more):
            suite = parse_suite({"name": "s", "sweeps": [{}], **more}, "s.json", fusegate.operations())
            return make_plan(suite, fusegate.operations(), "cuda", everything, lambda name: True).compared_with(suite)
        first, last = f"op{id(self)}", f"op{id(self)}b"
        for name, given in ((first, None), (last, "b")):
            operation = fusegate.Operation(name, axes={"rows": [8]}, dtypes=["bf16"], inputs=lambda p: {},
                                           reference=lambda: 0, compared_with=given)
            for implementation in "zab":
                operation.benchmark(implementation)(lambda: 0)
        self.assertEqual((compared_with()[first], compared_with()[last]), (["z"], ["b"]))
        self.assertEqual(compared_with(compared_with={last: "a"})[last], ["a"])
        operation.implementations.pop("b")
        with self.assertRaisesRegex(fusegate.InputError, f"{last}.compared_with: no implementation is named 'b'"):
            compared_with()

    def test_filters_by_name_as_google_benchmark_does(self):
        self.assertEqual(len(self.planned({}, wanted=name_filter("softmax"))), 2)
        self.assertEqual(len(self.planned({}, wanted=name_filter("-softmax"))), 4)
        self.assertEqual(len(self.planned({}, wanted=name_filter("kv:64/manual_time$"))), 2)
        with self.assertRaisesRegex(InputError, "s: sweeps: nothing is left to run: no benchmark matches --filter"):
            self.planned({}, wanted=name_filter("nothing"))
