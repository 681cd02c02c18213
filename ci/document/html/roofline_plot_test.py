"""Rooflines: which roofs are drawn, and what each point shows."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import html_report  # noqa: E402: only where the packages are there
import roofline_plot  # noqa: E402
import style  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"

MLP = test_model.point(250.0, 500.0, "geglu_mlp", "compute-bound")
POINTWISE = test_model.point(1.67, 7.0, "geglu", "memory-bound", is_hollow=True, tooltip="name\n105.0 % of the copy rate")


def groups(picture):
    """Of all panels, by identifier without the panel's own prefix."""
    trees = [xml.etree.ElementTree.fromstring(drawn) for _, drawn in html_report.Pictures().panels(picture)]
    return {group.get("id").split("-", 1)[1]: group for tree in trees for group in tree.iter(f"{SVG}g")
            if group.get("id")}


def drawn_lines():
    """Of both, by identifier."""
    panels = roofline_plot.roofline_panels(test_model.roofline(MLP, POINTWISE))
    return {line.get_gid(): line for _, figure in panels for line in figure.axes[0].lines}


class Roofline(unittest.TestCase):
    def test_has_a_point_a_benchmark_with_its_tooltip(self):
        found = groups(test_model.roofline(MLP, POINTWISE))
        self.assertEqual(found["point1"].find(f"{SVG}title").text, POINTWISE["tooltip"])
        self.assertNotIn("point2", found)

    def test_has_a_panel_an_operation_on_one_scale(self):
        (first, left), (second, right) = roofline_plot.roofline_panels(test_model.roofline(MLP, POINTWISE))
        self.assertEqual((first, second), ("geglu", "geglu_mlp"))
        self.assertEqual(left.axes[0].get_xlim(), right.axes[0].get_xlim())
        self.assertEqual(left.axes[0].get_ylim(), right.axes[0].get_ylim())

    def test_draws_points_and_roofs_where_the_model_has_them(self):
        lines = drawn_lines()
        self.assertEqual((list(lines["point0"].get_xdata()), list(lines["point0"].get_ydata())), ([250.0], [500.0]))
        copy, gemm = lines["copyroof"], lines["gemmroof"]
        self.assertAlmostEqual(copy.get_xdata()[1], 175)  # 700 TFLOP/s over 4,000 GB/s
        self.assertAlmostEqual(copy.get_ydata()[1], 700)
        self.assertAlmostEqual(copy.get_ydata()[0] / copy.get_xdata()[0], 4)
        self.assertEqual(list(gemm.get_ydata()), [700, 700])

    def test_colours_by_class_and_leaves_hollow_what_only_a_stream_holds_up(self):
        lines = drawn_lines()
        styles = roofline_plot.CLASS_STYLES
        self.assertEqual(lines["point0"].get_markerfacecolor(), styles["compute-bound"]["color"])
        self.assertEqual(lines["point1"].get_markerfacecolor(), "none")
        self.assertEqual(lines["point1"].get_markeredgecolor(), styles["memory-bound"]["color"])
        self.assertNotEqual(lines["point0"].get_marker(), lines["point1"].get_marker())

    def test_draws_no_roof_that_was_not_measured(self):
        no_gemm = groups(test_model.roofline(MLP, gemm=None))
        self.assertNotIn("gemmroof", no_gemm)
        self.assertIn("copyroof", no_gemm)
        no_copy = groups(test_model.roofline(MLP, copy=None))
        self.assertNotIn("copyroof", no_copy)
        self.assertIn("gemmroof", no_copy)
        self.assertTrue({"copyroof", "gemmroof"}.isdisjoint(groups(test_model.roofline(MLP, gemm=None, copy=None))))

    def test_has_a_colour_and_a_marker_for_every_class(self):
        styles = [*roofline_plot.CLASS_STYLES.values(), roofline_plot.UNKNOWN_STYLE]
        self.assertTrue({one["color"] for one in styles} <= set(style.SERIES_COLOURS))
        for what in ("color", "marker"):
            self.assertEqual(len({one[what] for one in styles}), 4)

    def test_names_the_classes_that_it_has(self):
        names = [name for name, _ in roofline_plot.roofline_legend(test_model.roofline(MLP, POINTWISE))]
        self.assertEqual(names, ["compute-bound", "memory-bound", "hollow: launch-bound on a stream"])
