"""Lines over M: what is drawn of which figures, and that ticks and legends stay legible whatever it is."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import html_report  # noqa: E402: only where the packages are there
import inline_svg  # noqa: E402
import line_plot  # noqa: E402
from inline_svg import INK  # noqa: E402


def svg(picture):
    """As a file."""
    figure = line_plot.line_figure(picture)
    drawn = html_report.written(lambda: inline_svg.inline_svg(figure, "picture", "described"))
    xml.etree.ElementTree.fromstring(drawn)  # well-formed
    return drawn


def texts(picture):
    return [element.text for element in xml.etree.ElementTree.fromstring(svg(picture)).iter()
            if element.tag.endswith("text")]


def axes_of_page(picture):
    return [figure.axes[0] for _, figure in line_plot.line_panels(picture)]


def figure_of(labels, titles=("dim 768, hidden 3072",)):
    return line_plot.line_figure(test_model.lines(*[test_model.line(label) for label in labels], titles=titles))


class Lines(unittest.TestCase):
    def test_have_a_panel_a_shape(self):
        titles = [f"dim {dim}, hidden 1" for dim in range(5)]
        found = texts(test_model.lines(test_model.line("a"), titles=titles))
        for title in titles:
            self.assertEqual(found.count(title), 1)

    def test_name_where_a_ratio_crosses_1(self):
        crossing = test_model.line("fused / unfused", ((128, 0.5), (8192, 2.0)), marks=(1024.2,))
        found = texts(test_model.lines(crossing, even="", is_high=True))
        for text in ("fused / unfused", "M 1024"):
            self.assertEqual(found.count(text), 1, text)
        without = texts(test_model.lines(test_model.line("fused / unfused"), even=""))
        self.assertFalse([text for text in without if text and text.startswith("M ")])

    def test_name_the_line_at_1(self):
        self.assertIn("unfused", texts(test_model.lines(test_model.line("a"), even="unfused")))

    def test_use_the_pages_own_colour(self):
        drawn = svg(test_model.lines(test_model.line("a"), is_log=True, is_from_zero=False))
        self.assertNotIn(INK, drawn)
        self.assertIn("currentColor", drawn)

    def test_have_one_style_an_implementation_and_grey_for_the_reference(self):
        axis = line_plot.line_figure(test_model.lines(
            test_model.line("unfused", style=-1), test_model.line("a"), test_model.line("b", style=1))).axes[0]
        self.assertEqual(len({(one.get_color(), one.get_marker()) for one in axis.lines}), 3)
        self.assertEqual(axis.lines[0].get_color(), line_plot.REFERENCE_STYLE["color"])

    def test_take_a_single_point(self):
        svg(test_model.lines(test_model.line("a", ((1, 3.0),))))

    def test_take_any_name_as_it_is(self):
        name = "$\\frac{1}$ <b> x"
        self.assertIn(name, texts(test_model.lines(test_model.line(name))))


class PanelsOfAPage(unittest.TestCase):
    PICTURE = test_model.lines(test_model.line("a", ((128, 1.0), (8192, 100.0))), titles=("small", "large"))

    def test_are_pictures_of_their_own_with_the_shape_as_title(self):
        panels = html_report.Pictures().panels(self.PICTURE)
        self.assertEqual([title for title, _ in panels], ["small", "large"])
        for title, drawn in panels:
            self.assertIn(f'aria-label="{title}"', drawn)

    def test_share_one_scale(self):
        picture = test_model.lines(titles=())
        picture["panels"] = [{"title": "small", "lines": [test_model.line("a", ((128, 1.0), (512, 2.0)))]},
                             {"title": "large", "lines": [test_model.line("b", ((512, 4.0), (8192, 9.0)))]}]
        small, large = axes_of_page(picture)
        self.assertEqual((small.get_xlim(), small.get_ylim()), (large.get_xlim(), large.get_ylim()))

    def test_have_room_for_every_figure(self):
        for more in ({}, {"is_log": True}, {"is_from_zero": True}, {"even": "unfused"}):
            (axis, _) = axes_of_page({**self.PICTURE, **more})
            low, high = axis.get_ylim()
            self.assertLess(low, 1)
            self.assertGreater(high, 100)

    def test_share_one_legend(self):
        picture = {**self.PICTURE, "even": "unfused"}
        self.assertEqual([name for name, _ in line_plot.line_legend(picture)], ["a", "unfused"])


class Panels(unittest.TestCase):
    def test_show_few_enough_ticks(self):
        ticks = line_plot._readable_ticks([2 ** i for i in range(16)])
        self.assertLessEqual(len(ticks), 6)
        self.assertEqual(ticks[-1], 2 ** 15)

    def test_break_a_legend_that_is_wider_than_the_figure(self):
        labels = [f"fused_epilogue_sm80 / fused_pointwise {i}" for i in range(5)]
        for shapes in (1, 3):
            figure = figure_of(labels, [f"dim {i}, hidden 3072" for i in range(shapes)])
            figure.draw_without_rendering()
            legend, page = figure.legends[0].get_window_extent(), figure.bbox
            self.assertLessEqual(legend.x1, page.x1)
            above_panels = max(axis.title.get_window_extent().y1 for axis in figure.axes if axis.get_visible())
            self.assertGreater(legend.y0, above_panels)

    def test_keep_a_short_legend_on_one_line(self):
        self.assertAlmostEqual(figure_of(["a", "b"]).get_figheight(), figure_of(["a"]).get_figheight())
        self.assertGreater(figure_of(["long " * 9, "longer " * 9]).get_figheight(),
                           figure_of(["a"]).get_figheight())
