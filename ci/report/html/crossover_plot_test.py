"""Crossovers: a panel a shape, a line a pair, and a mark where the ratio crosses 1."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import crossover_plot  # noqa: E402: only where the packages are there


def texts(*crossovers):
    svg = crossover_plot.crossover_picture(list(crossovers), "crossover0")["svg"]
    return [element.text for element in xml.etree.ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


class Crossover(unittest.TestCase):
    def test_names_pairs_shapes_and_the_m_of_a_crossing(self):
        found = texts(
            test_model.crossover([(128, 0.5), (8192, 2.0)], [1024.0]),
            test_model.crossover([(128, 0.5)], shape=(1024, 4096), implementation="fused_epilogue"))
        for text in ("fused / unfused", "fused_epilogue / unfused", "dim 768, hidden 3072", "dim 1024, hidden 4096",
                     "M 1024"):
            self.assertEqual(found.count(text), 1, text)

    def test_marks_nothing_where_nothing_crosses(self):
        self.assertFalse([text for text in texts(test_model.crossover([(128, 0.5), (8192, 0.9)]))
                          if text.startswith("M ")])

    def test_describes_every_line(self):
        picture = crossover_plot.crossover_picture([test_model.crossover([(1, 0.5)], text="always pays, M 1")], "c")
        self.assertIn("dim 768, hidden 3072, fused / unfused: always pays, M 1.", picture["svg"])


if __name__ == "__main__":
    unittest.main()
