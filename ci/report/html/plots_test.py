"""Colours that can be told apart on light and on dark, and maps of speed-ups."""

import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import html_report  # noqa: E402: only where the packages are there
import style  # noqa: E402

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


class Colours(unittest.TestCase):
    def test_stand_out_from_both_pages(self):
        for colour in style.SERIES_COLOURS:
            for page in (LIGHT_PAGE, DARK_PAGE):
                self.assertGreaterEqual(contrast(colour, page), 3, f"{colour} on {page}")


class Map(unittest.TestCase):
    def texts(self, picture):
        drawn = html_report.Pictures().svg(picture)
        return [one.text for one in xml.etree.ElementTree.fromstring(drawn).iter() if one.tag.endswith("text")]

    def test_shows_each_speed_up_where_it_belongs(self):
        found = self.texts(test_model.speed_up_map())
        for text in ("fused", "1.50", "0.90", "128", "8192"):
            self.assertEqual(found.count(text), 1, text)

    def test_takes_a_single_cell(self):
        self.assertIn("2.00", self.texts(test_model.speed_up_map(((1, 2.0),))))

    def test_stands_gaps(self):
        picture = test_model.speed_up_map()
        picture["maps"].append({"title": "other", "cells": picture["maps"][0]["cells"][:1]})
        self.assertEqual(self.texts(picture).count("0.90"), 1)
