"""Rooflines: which roofs are drawn, what each point shows, and what is said where a roof is not known."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import panels  # noqa: E402: only where the packages are there
import roofline_plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def draw(*points, gemm=700, copy=4000):
    return roofline_plot.rooflines(test_model.model(benchmarks=points, ceilings=test_model.ceilings(gemm, copy)))


def groups(picture):
    """By identifier, without the picture's own prefix."""
    tree = xml.etree.ElementTree.fromstring(picture["svg"])
    return {group.get("id").split("-", 1)[1]: group for group in tree.iter(f"{SVG}g") if group.get("id")}


MLP = test_model.placed("geglu_mlp", "unfused", 1e11, 4e8, 500.0, kind="compute-bound", on_stream="compute-bound",
                        text="compute-bound", copy_share=0.1, gemm_share=0.714)
POINTWISE = test_model.placed("geglu", "fused", 2.5e8, 1.5e8, 7.0, kind="memory-bound", on_stream="launch-bound",
                              text="memory-bound, launch-bound on a stream", copy_share=1.05, gemm_share=0.01)


def drawn_lines():
    """Of both, by identifier."""
    markers = {"geglu": "o", "geglu_mlp": "s"}
    figure = roofline_plot._figure([MLP, POINTWISE], {"value": 700}, {"value": 4000}, markers)
    return {line.get_gid(): line for line in figure.axes[0].lines}


class Roofline(unittest.TestCase):
    def test_has_a_point_a_benchmark_that_tells_name_class_and_shares(self):
        found = groups(draw(MLP, POINTWISE)[0])
        title = found["point1"].find(f"{SVG}title").text
        for part in (POINTWISE["name"], "memory-bound, launch-bound on a stream", "105.0 % of the copy rate",
                     "1.0 % of the GEMM rate", "7 TFLOP/s, 1.67 FLOP/byte"):
            self.assertIn(part, title)
        self.assertNotIn("point2", found)

    def test_places_points_and_roofs_by_the_model(self):
        lines = drawn_lines()
        self.assertEqual((list(lines["point0"].get_xdata()), list(lines["point0"].get_ydata())), ([250.0], [500.0]))
        copy, gemm = lines["copyroof"], lines["gemmroof"]
        self.assertAlmostEqual(copy.get_xdata()[1], 175)  # 700 TFLOP/s over 4,000 GB/s
        self.assertAlmostEqual(copy.get_ydata()[1], 700)
        self.assertAlmostEqual(copy.get_ydata()[0] / copy.get_xdata()[0], 4)
        self.assertEqual(list(gemm.get_ydata()), [700, 700])

    def test_colours_by_class_and_leaves_hollow_what_only_a_stream_holds_up(self):
        lines = drawn_lines()
        self.assertEqual(lines["point0"].get_markerfacecolor(), roofline_plot.CLASS_COLOURS["compute-bound"])
        self.assertEqual(lines["point1"].get_markerfacecolor(), "none")
        self.assertEqual(lines["point1"].get_markeredgecolor(), roofline_plot.CLASS_COLOURS["memory-bound"])
        self.assertEqual((lines["point0"].get_marker(), lines["point1"].get_marker()), ("s", "o"))

    def test_draws_no_roof_that_was_not_measured_and_says_so(self):
        no_gemm = draw(MLP, gemm=None)[0]
        self.assertIn("no flat one, for no GEMM in bf16", no_gemm["caption"])
        self.assertNotIn("gemmroof", groups(no_gemm))
        self.assertIn("copyroof", groups(no_gemm))
        no_copy = draw(MLP, copy=None)[0]
        self.assertIn("no slanted one, for no copy", no_copy["caption"])
        self.assertNotIn("copyroof", groups(no_copy))
        self.assertIn("gemmroof", groups(no_copy))
        neither = groups(draw(MLP, gemm=None, copy=None)[0])
        self.assertTrue({"copyroof", "gemmroof"}.isdisjoint(neither))

    def test_has_a_picture_a_dtype(self):
        half = test_model.placed("geglu", "fused", 2.5e8, 1.5e8, 7.0, dtype="fp16")
        pictures = draw(MLP, half)
        self.assertEqual(len(pictures), 2)
        self.assertIn("in fp16", pictures[1]["caption"])
        self.assertIn("no GEMM in fp16", pictures[1]["caption"])

    def test_leaves_out_what_has_no_place_on_a_logarithmic_scale(self):
        copy = test_model.placed("control_copy", "memcpy", 0.0, 1.5e8, 0.0)
        failed = {**MLP, "tflops": None}
        self.assertEqual(draw(copy, failed, test_model.benchmark("BM_other/8")), [])
        self.assertNotIn("point1", groups(draw(copy, MLP)[0]))

    def test_has_a_colour_for_every_class(self):
        self.assertTrue(set(roofline_plot.CLASS_COLOURS.values()) <= set(panels.SERIES_COLOURS))
        self.assertEqual(len(set(roofline_plot.CLASS_COLOURS.values())), 4)


if __name__ == "__main__":
    unittest.main()
