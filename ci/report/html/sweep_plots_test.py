"""The pictures: what is drawn of which figures, and that it can be told apart on light and on dark."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import panels  # noqa: E402: only where the packages are there
import sweep_plots  # noqa: E402
from inline_svg import INK  # noqa: E402

# Of report.html.j2.
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#14171b"


def luminance(colour):
    """Relative luminance, WCAG 2.1."""
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def texts(svg):
    return [element.text for element in xml.etree.ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


class Colours(unittest.TestCase):
    def test_stand_out_from_both_pages(self):
        for colour in panels.SERIES_COLOURS:
            for page in (LIGHT_PAGE, DARK_PAGE):
                self.assertGreaterEqual(contrast(colour, page), 3, f"{colour} on {page}")

    def test_are_one_an_implementation_in_all_pictures(self):
        styles = sweep_plots._styles(test_model.sweep(names=("unfused", "a", "b")))
        self.assertEqual(len({tuple(sorted(style.items())) for style in styles.values()}), 3)
        self.assertEqual(styles["unfused"], panels.REFERENCE_STYLE)


class Pictures(unittest.TestCase):
    def pictures(self, sweep):
        drawn = {picture["key"]: picture["svg"] for picture in sweep_plots.sweep_pictures(sweep, 0)}
        for svg in drawn.values():
            xml.etree.ElementTree.fromstring(svg)  # well-formed
            self.assertNotIn(INK, svg)
        return drawn

    def test_show_speed_ups_times_and_rates(self):
        drawn = self.pictures(test_model.sweep())
        self.assertEqual(list(drawn), ["speedup", "map", "time", "tflops", "gbps"])
        self.assertIn("dim 768, hidden 3072", texts(drawn["speedup"]))
        self.assertIn("2.00", texts(drawn["map"]))
        self.assertNotIn("1.00", texts(drawn["map"]))  # the reference has no map of its own

    def test_have_no_speed_up_without_a_reference(self):
        self.assertEqual(list(self.pictures(test_model.sweep(reference=""))), ["time", "tflops", "gbps"])

    def test_leave_out_rates_that_nobody_recorded(self):
        sweep = test_model.sweep()
        for series in sweep["series"]:
            for point in series["points"]:
                point["tflops"] = None
        self.assertNotIn("tflops", self.pictures(sweep))

    def test_have_a_panel_a_shape(self):
        shapes = ((768, 3072), (1024, 4096), (2048, 8192), (4096, 11008), (4096, 14336))
        drawn = self.pictures(test_model.sweep(shapes=shapes))
        titles = [text for text in texts(drawn["time"]) if text and text.startswith("dim ")]
        self.assertEqual(len(titles), 5)

    def test_stand_gaps_in_the_sweep(self):
        sweep = test_model.sweep(names=("unfused", "fused", "other"), shapes=((768, 3072), (1024, 4096)))
        sweep["series"][1]["points"].pop()
        for point in sweep["series"][2]["points"]:
            point["speed_up"] = None
        sweep["series"][2]["compared"] = 0
        self.pictures(sweep)

    def test_take_a_single_point(self):
        self.pictures(test_model.sweep(rows=(1,)))

    def test_take_any_name_as_it_is(self):
        drawn = self.pictures(test_model.sweep(names=("unfused", "$\\frac{1}$ <b> _x")))
        self.assertIn("$\\frac{1}$ <b> _x", texts(drawn["speedup"]))


if __name__ == "__main__":
    unittest.main()
