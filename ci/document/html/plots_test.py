"""Colours that differ visibly on light and on dark, and maps of speed-ups."""

import unittest

import test_model

test_model.require_packages()

import speed_up_map  # noqa: E402: only where the packages are there
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
    def tables(self, picture):
        return [table for one in speed_up_map.maps_of(picture) for table in one["tables"]]

    def test_shows_each_speed_up_where_it_belongs(self):
        (table,) = self.tables(test_model.speed_up_map())
        self.assertEqual(table["shapes"], [(768, 3072)])
        self.assertEqual([(size, cells[0]["text"]) for size, cells in table["rows"]], [(128, "1.50"), (8192, "0.90")])

    def test_stands_gaps(self):
        picture = test_model.speed_up_map(shapes=((768, 3072), (1024, 4096)))
        picture["maps"][0]["cells"].pop()
        (table,) = self.tables(picture)
        self.assertIsNone(table["rows"][1][1][1])

    def test_lets_no_map_be_wider_than_a_telephone(self):
        tables = self.tables(test_model.speed_up_map(shapes=[(i, 1) for i in range(8)]))
        self.assertEqual([len(table["shapes"]) for table in tables], [6, 2])

    def test_has_one_scale_of_colours_for_all(self):
        even = speed_up_map.EVEN
        steps = [speed_up_map.step_of(value) for value in (0.1, 0.9, 0.99, 1, 1.01, 1.05, 2, 100)]
        self.assertEqual(steps, [0, even - 2, even, even, even, even + 1, even + 4, even + 4])
        self.assertEqual(len(speed_up_map.scale()), len(speed_up_map.LIGHT))

    def test_is_legible_on_every_colour(self):
        for palette in (speed_up_map.LIGHT, speed_up_map.DARK):
            self.assertEqual(len(palette), 2 * speed_up_map.EVEN + 1)
            for colour, ink in palette:
                self.assertGreaterEqual(contrast(colour, ink), 4.5, colour)

