"""What each call launched: how bars, unmet parts and stories are laid out."""

import unittest

import test_model

test_model.require_packages()

import launches  # noqa: E402: only where the packages are there


def groups(*profiles, benchmarks=()):
    return launches.profile_groups(test_model.model(benchmarks=benchmarks, profiles=profiles))


class Groups(unittest.TestCase):
    def test_are_operations_and_dtypes_then_other_programs(self):
        ours = test_model.placed("geglu", "fused", 1e9, 1e7, 1.0)
        found = groups(test_model.profile(ours["name"], [test_model.stage("gelu", 1.0, 1.0)]),
                       test_model.profile("BM_other/8", [test_model.stage("", 1.0, 1.0)]), benchmarks=[ours])
        self.assertEqual([group["title"] for group in found], ["geglu, bf16", "other benchmarks"])
        self.assertEqual(found[1]["profiles"][0]["stages"][0]["stage"], "outside of stages")

    def test_give_a_stage_one_colour_and_gaps_none(self):
        found = groups(
            test_model.profile("a", [test_model.stage("gelu", 1.0, 0.5), test_model.stage("mul", 1.0, 0.5)]),
            test_model.profile("b", [test_model.stage("mul", 1.0, 0.5), test_model.stage(None, 1.0, 0.5)]))[0]
        colours = {one["stage"]: one["colour"] for one in found["colours"]}
        self.assertEqual(set(colours), {"gelu", "mul"})
        self.assertNotEqual(colours["gelu"], colours["mul"])
        self.assertEqual([part["colour"] for part in found["profiles"][1]["bar"]], [colours["mul"], None])


class Bar(unittest.TestCase):
    def bar(self, *shares):
        stages = [test_model.stage(str(i), 1.0, share) for i, share in enumerate(shares)]
        return groups(test_model.profile("a", stages))[0]["profiles"][0]["bar"]

    def test_has_its_parts_one_after_another(self):
        bar = self.bar(0.25, 0.5, 0.25)
        self.assertEqual([part["at"] for part in bar], [0, 0.25 * launches.BAR_WIDTH, 0.75 * launches.BAR_WIDTH])

    def test_ends_where_medians_add_up_to_more(self):
        bar = self.bar(0.8, 0.3, 0.1)
        self.assertEqual(len(bar), 2)
        self.assertAlmostEqual(bar[1]["at"] + bar[1]["width"], launches.BAR_WIDTH)

    def test_leaves_out_what_took_no_time(self):
        self.assertEqual([part["stage"] for part in self.bar(0.0, None, 1.0)], ["2"])


class Unmet(unittest.TestCase):
    def test_are_the_parts_that_differ_of_those_that_declare_any(self):
        parts = [test_model.part("gelu", "1 gelu", "k", True), test_model.part("mul", "1 mul", "nothing", False)]
        rows = launches.unmet(test_model.model(profiles=[
            test_model.profile("a", parts=parts), test_model.profile("b", [test_model.stage("c", 1.0, 1.0)])]))
        self.assertEqual([(row["benchmark"], row["part"]["part"]) for row in rows], [("a", "mul")])


class Stories(unittest.TestCase):
    def test_keep_pauses_apart(self):
        gate = test_model.model(verdicts=[], stories=[test_model.story("a", "gaps"), test_model.story("b")])["gate"]
        told = launches.stories(gate)
        self.assertEqual([story["benchmark"] for story in told["kernels"]], ["b"])
        self.assertEqual([story["benchmark"] for story in told["gaps"]], ["a"])


if __name__ == "__main__":
    unittest.main()
