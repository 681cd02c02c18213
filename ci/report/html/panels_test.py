"""Panels over M: that ticks and legends stay legible whatever is drawn."""

import unittest

import test_model

test_model.require_packages()

import panels  # noqa: E402: only where the packages are there


def figure_of(labels, shapes=((768, 3072),)):
    def draw(axis, shape):
        for label in labels:
            axis.plot([1, 64], [1, 2], label=label)

    return panels.panels_over_rows(list(shapes), [1, 64], "time", draw)


class Panels(unittest.TestCase):
    def test_show_few_enough_ticks(self):
        ticks = panels._readable_ticks([2 ** i for i in range(16)])
        self.assertLessEqual(len(ticks), 6)
        self.assertEqual(ticks[-1], 2 ** 15)

    def test_break_a_legend_that_is_wider_than_the_figure(self):
        labels = [f"fused_epilogue_sm80 / fused_pointwise {i}" for i in range(5)]
        for shapes in (((768, 3072),), ((768, 3072), (1024, 4096), (2048, 8192))):
            figure = figure_of(labels, shapes)
            figure.draw_without_rendering()
            legend, page = figure.legends[0].get_window_extent(), figure.bbox
            self.assertLessEqual(legend.x1, page.x1)
            above_panels = max(axis.title.get_window_extent().y1 for axis in figure.axes if axis.get_visible())
            self.assertGreater(legend.y0, above_panels)

    def test_keep_a_short_legend_on_one_line(self):
        self.assertAlmostEqual(figure_of(["a", "b"]).get_figheight(), figure_of(["a"]).get_figheight())
        self.assertGreater(figure_of(["long " * 9, "longer " * 9]).get_figheight(),
                           figure_of(["a"]).get_figheight())


if __name__ == "__main__":
    unittest.main()
