"""The page as a whole: what stands in it, that nothing in it breaks out, and that it needs nothing else."""

import html.parser
import json
import pathlib
import subprocess
import sys
import unittest

import test_model

test_model.require_packages()

import html_report  # noqa: E402: only where the packages are there

VOID = {"meta", "br", "link", "img"}


class Outline(html.parser.HTMLParser):
    """Tags in balance, identifiers, and the text outside style."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.tags, self.text, self.problems = [], [], [], "", []
        self.feed(page)
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


class Page(unittest.TestCase):
    def outline(self, model):
        outline = Outline(html_report.render(model))
        self.assertEqual(outline.problems, [])
        return outline

    def test_shows_headline_and_what_matters_first(self):
        outline = self.outline(test_model.model(verdicts=[
            test_model.verdict("same"), test_model.verdict("slow", "regression", 0.05),
            test_model.verdict("slower", "regression", 0.08)]))
        text = " ".join(outline.text.split())
        self.assertIn("A headline.", text)
        self.assertIn("2 regressions, 1 unchanged.", text)
        self.assertLess(text.index("slower"), text.index("+5.00 %"))
        self.assertLess(text.index("+5.00 %"), text.index("same"))
        self.assertEqual([tag for tag, _ in outline.tags].count("details"), 2)  # unchanged, all figures

    def test_shows_families(self):
        outline = self.outline(test_model.model(verdicts=[], families=[
            test_model.family(), test_model.family("linear/addmm/bf16", -0.02, 0)]))
        text = " ".join(outline.text.split())
        for part in ("geglu/fused/bf16 12 +3.00 % +2.00 % +4.00 % 1 0", "linear/addmm/bf16 12 -2.00 % -3.00 %"):
            self.assertIn(part, text)
        self.assertNotIn("along the sweep together", html_report.render(test_model.model(verdicts=[])))

    def test_shows_what_crept_since_the_anchor(self):
        page = html_report.render(test_model.model(verdicts=[], creep=[
            test_model.crept(), test_model.crept("linear/addmm", 0.05, beyond=True)]))
        self.assertIn("pr.anchor.json", page)
        self.assertIn('<td class="name">geglu/fused/bf16/batch:1</td>', page)
        self.assertIn('<td class="name differing">linear/addmm</td>', page)
        self.assertNotIn("Slower than the anchor", html_report.render(test_model.model(verdicts=[])))

    def test_marks_the_environment_that_differs(self):
        page = html_report.render(test_model.model(verdicts=[]))
        self.assertIn('<td class="text differing">1</td>', page)
        self.assertIn('<td class="text">NVIDIA H200</td>', page)

    def test_lists_every_figure_and_failure(self):
        text = self.outline(test_model.model(benchmarks=[
            test_model.benchmark("a/b"), test_model.benchmark("c/d", failure="wrong results")])).text
        for part in ("52.31 us", "0.12 %", "688", "wrong results", "2 benchmarks"):
            self.assertIn(part, text)

    def test_sets_our_best_against_peers_and_floor(self):
        outline = self.outline(test_model.model(standings=test_model.standings([
            test_model.problem("batch 1", test_model.measured("fused", 50e3, floor_ns=40e3),
                               test_model.measured("liger", 80e3), ours=[test_model.measured("unfused", 70e3)]),
            test_model.problem("batch 2", test_model.measured("fused", 60e3),
                               peers=[test_model.measured("liger", None)]),
            test_model.problem("batch 3", test_model.measured("fused", 60e3)),
            test_model.problem("batch 4", None, test_model.measured("liger", 80e3))],
            notes=["warning: a note"])))
        text = "".join(outline.text.split())
        for part in ("Against peers and floors", "3 invocations of peers", "warning: a note",
                     "batch 1 50.00 us fused 80.00 us liger 0.625 40.00 us 1.25 memory-bound",
                     "batch 2 60.00 us fused failed - - - -", "batch 3 60.00 us fused no peer - - - -",
                     "batch 4 not measured 80.00 us liger - - - -",
                     "problem fused unfused liger batch 1 50.00 us 70.00 us 80.00 us batch 2 60.00 us - failed"):
            self.assertIn(part.replace(" ", ""), text)

    def test_leaves_out_peers_and_floors_that_there_are_not(self):
        text = self.outline(test_model.model(standings=test_model.standings(
            [test_model.problem("batch 1", test_model.measured("fused", 50e3))], peers=None,
            has_floors=False))).text
        self.assertIn("Against floors", text)
        self.assertNotIn("no peer", text)
        self.assertNotIn("class", text)

    def test_lists_a_benchmarks_floor(self):
        measured = test_model.benchmark("a/b") | test_model.measured("a/b", 50e3, floor_ns=40e3)
        outline = self.outline(test_model.model(benchmarks=[measured, test_model.benchmark("c/d")]))
        self.assertIn("50.00usmemory-bound0.12%5688-40.00us1.25", "".join(outline.text.split()))

    def test_shows_host_cost_shares_and_class_where_they_are_known(self):
        known = {**test_model.benchmark("a/b"), "host_ns": 5600.0, **test_model.bound(
            "memory-bound", "launch-bound", "memory-bound, launch-bound on a stream", 0.803, 0.02)}
        text = "".join(self.outline(test_model.model(benchmarks=[known])).text.split())
        self.assertIn("GB/sofcopyrateofGEMMratehosta/b", text)  # and no floor, which is not known
        self.assertIn("52.31usmemory-bound,launch-boundonastream0.12%", text)
        self.assertIn("80.3%2.0%5.600us", text)

    def test_tells_where_fusion_stops_paying(self):
        crossovers = [test_model.crossover([(128, 0.5), (8192, 2.0)], [1024.0], text="stops paying at M 1024")]
        outline = self.outline(test_model.model(sweeps=[test_model.sweep()], crossovers=crossovers))
        self.assertIn("stops paying at M 1024", outline.text)
        self.assertEqual([tag for tag, _ in outline.tags].count("figure"), 6)

    def test_draws_rooflines_where_work_is_known(self):
        point = test_model.placed("geglu", "fused", 1e9, 1e7, 100.0, kind="compute-bound", text="compute-bound")
        outline = self.outline(test_model.model(benchmarks=[point], ceilings=test_model.ceilings(700, 4000)))
        self.assertIn("What bounds each benchmark", outline.text)
        self.assertIn("700 TFLOP/s of linear/addmm/bf16/large", outline.text)
        self.assertNotIn("What bounds", self.outline(test_model.model(benchmarks=[test_model.benchmark("a")])).text)

    def test_tells_stories_of_kernels_and_folds_pauses(self):
        kernels = [{"baseline": {"name": "sm80_gemm", "stage": "gate_proj", "duration_ns": 52310.0},
                    "candidate": None, "differences": ["tile 128x128 -> 64x64"]}]
        outline = self.outline(test_model.model(verdicts=[], stories=[
            test_model.story("slow", kernels=kernels), test_model.story("other", "gaps")]))
        text = " ".join(outline.text.split())
        for part in ("slow: a summary of other_kernel", "sm80_gemm", "tile 128x128 -> 64x64", "52.31 us none",
                     "1 with other pauses of the GPU"):
            self.assertIn(part, text)
        self.assertLess(text.index("slow"), text.index("with other pauses"))
        self.assertLess(text.index("with other pauses"), text.index("a summary of gaps"))

    def test_lists_stages_with_what_was_expected_and_seen(self):
        outline = self.outline(test_model.model(
            benchmarks=[test_model.placed("geglu", "unfused", 1e9, 1e7, 100.0)],
            profiles=[test_model.profile(
                "geglu/unfused/bf16/batch:1/seq:128/dim:768/hidden:3072",
                [test_model.stage("gelu", 60e3, 0.6), test_model.stage(None, 40e3, 0.4)],
                [test_model.part("gelu", "1 gelu", "k_gelu", True),
                 test_model.part("mul", "1 mul", "nothing", False)])]))
        text = "".join(outline.text.split())
        for part in ("Launches other than declared", "geglu, bf16: 1 benchmark", "gelu 1 1 60.00 us 60.00 us 60.0 %",
                     "gaps - - - 40.00 us 40.0 %", "gelu 1 gelu k_gelu yes", "mul 1 mul nothing no"):
            self.assertIn(part.replace(" ", ""), text)

    def test_says_nothing_of_launches_that_were_not_profiled(self):
        text = self.outline(test_model.model(verdicts=[])).text
        for part in ("What each call launched", "Launches other than declared", "What the kernels tell"):
            self.assertNotIn(part, text)

    def test_lets_no_name_break_out(self):
        evil = '"><script>alert(1)</script><b title=\''
        model = test_model.model(
            verdicts=[test_model.verdict(evil, "regression", 0.1)], benchmarks=[test_model.benchmark(evil, evil)],
            sweeps=[test_model.sweep(names=("unfused", evil))], creep=[test_model.crept(evil)],
            families=[test_model.family(evil)],
            standings=test_model.standings([test_model.problem(evil, test_model.measured(evil, 1.0))],
                                           peers=evil, notes=[evil]))
        model["gate"]["kernels"] = [test_model.story(evil, kernels=[
            {"baseline": {"name": evil, "stage": evil, "duration_ns": 1.0}, "candidate": None, "differences": [evil]}])]
        model["profiles"] = [test_model.profile(evil, [test_model.stage(evil, 1.0, 1.0)],
                                                [test_model.part(evil, evil, evil, False)])]
        model["crossovers"] = [test_model.crossover([(1, 0.5)], implementation=evil, text=evil)]
        model["benchmarks"].append({**test_model.placed(evil, evil, 1e9, 1e6, 1.0, text=evil), "name": evil})
        model["headline"] = model["title"] = evil
        model["doubts"] = [evil]
        model["candidate"]["environment"]["device"] = evil
        tags = [tag for tag, _ in self.outline(model).tags]
        self.assertNotIn("script", tags)
        self.assertNotIn("b", tags)

    def test_needs_nothing_but_itself(self):
        page = html_report.render(test_model.model(verdicts=[], sweeps=[test_model.sweep()]))
        outline = Outline(page)
        for tag, attributes in outline.tags:
            self.assertNotIn(tag, ("script", "link", "img", "iframe"))
            for name in ("href", "src", "xlink:href"):
                self.assertTrue(attributes.get(name, "#").startswith("#"), attributes)

    def test_has_no_identifier_twice_and_no_dangling_reference(self):
        outline = self.outline(test_model.model(sweeps=[test_model.sweep(), test_model.sweep()]))
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        for _, attributes in outline.tags:
            reference = attributes.get("xlink:href", attributes.get("href"))
            if reference:
                self.assertIn(reference[1:], outline.ids)

    def test_names_every_picture_for_those_who_cannot_see_it(self):
        outline = self.outline(test_model.model(sweeps=[test_model.sweep()]))
        pictures = [attributes for tag, attributes in outline.tags if tag == "svg"]
        self.assertEqual(len(pictures), 5)
        for attributes in pictures:
            self.assertEqual(attributes["role"], "img")
            self.assertIn("geglu", attributes["aria-label"])

    def test_works_without_anything_measured(self):
        self.outline(test_model.model())


class Formats(unittest.TestCase):
    """The same figures as fusegate's own tables have (format_test.cc)."""

    def test_times(self):
        self.assertEqual(html_report.format_time(812.3), "812.3 ns")
        self.assertEqual(html_report.format_time(52310), "52.31 us")
        self.assertEqual(html_report.format_time(999.96), "1.000 us")
        self.assertEqual(html_report.format_time(2e9), "2.000 s")
        self.assertEqual(html_report.format_time(None), "-")

    def test_effects_and_rates(self):
        self.assertEqual(html_report.format_effect(0.0123), "+1.23 %")
        self.assertEqual(html_report.format_interval({"low": -0.001, "high": 0.0152}), "[-0.10, +1.52] %")
        self.assertEqual(html_report.format_interval({"low": None, "high": None}), "-")
        self.assertEqual(html_report.format_rate(4.321), "4.32")
        self.assertEqual(html_report.format_count(5.0), "5")


class Program(unittest.TestCase):
    SCRIPT = pathlib.Path(html_report.__file__)

    def test_reads_the_model_and_writes_the_page(self):
        done = subprocess.run([sys.executable, self.SCRIPT], input=json.dumps(test_model.model()),
                              capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith("<!doctype html>"))
        self.assertEqual(done.stderr, "")

    def test_names_the_packages_that_it_lacks(self):
        done = subprocess.run([sys.executable, "-S", "-I", self.SCRIPT], input="{}", capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("matplotlib and jinja2", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
