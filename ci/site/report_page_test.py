"""Pages of real runs as Chromium lays them out, on a screen and on a telephone, light and dark: nothing scrolls sideways,
every row is a few lines, and what most people come for is on the first two screens."""

import itertools
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

import browser
from page_checks import CONTRASTS, OPEN_ALL, ROWS, SCROLLERS, STICKING_OUT, TEXT_SIZES, keep_screenshot

CHROMIUM = browser.require_browser()
PROGRAM = os.environ["FUSEGATE_PROGRAM"]
BASELINES = pathlib.Path(__file__).parents[2] / "baselines"
RUNS = BASELINES / "testdata/pr-runs/h200-16f50165.tar.xz"
BASELINE = BASELINES / "nvidia-h200/pr.json"

WIDTHS, HEIGHT, SCHEMES = (1400, 400), 900, ("light", "dark")
TALLEST_ROW = 120  # pixels
SMALLEST_TEXT = 9

TOP_OF_SWEEP = """[...document.querySelectorAll("h2")].find(
    one => one.textContent == "Where fusion wins").getBoundingClientRect().top"""


def page_of(folder, name, *arguments):
    html = folder / f"{name}.html"
    done = subprocess.run([PROGRAM, "report", *arguments, "--html", html], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return html.as_uri()


def real_pages(folder):
    """Of runs on an H200: with all kernels slower, and compared with nothing."""
    with tarfile.open(RUNS) as runs:
        runs.extractall(folder)
    return {"slower": page_of(folder, "slower", "--candidate", folder / "runs/all", "--baseline", BASELINE),
            "alone": page_of(folder, "alone", "--candidate", BASELINE)}


class RealPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pages = real_pages(pathlib.Path(folder.name))
        cls.browser = browser.Browser(CHROMIUM)
        cls.addClassCleanup(cls.browser.close)

    def each(self, check, names=("slower", "alone"), schemes=("light",), widths=WIDTHS):
        """Checks each of the pages at each width, which it is given."""
        for name, width, scheme in itertools.product(names, widths, schemes):
            with self.subTest(page=name, width=width, scheme=scheme):
                self.browser.show(self.pages[name], width, HEIGHT, scheme)
                check(width)

    def assert_fits(self, width):
        self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.ask(STICKING_OUT)[:1], [])
        self.assertEqual(self.browser.ask(SCROLLERS)[:1], [])
        rows = self.browser.ask(ROWS)
        self.assertTrue(rows)
        height, text = max(rows)
        self.assertLessEqual(height, TALLEST_ROW, text)

    def assert_fits_unfolded(self, width):
        keep_screenshot(self.browser, f"report-{width}")
        self.browser.ask(OPEN_ALL)
        self.assert_fits(width)

    def test_scroll_nowhere_sideways_and_have_short_rows(self):
        self.each(self.assert_fits, schemes=SCHEMES)

    def test_do_so_with_everything_unfolded(self):
        self.each(self.assert_fits_unfolded)

    def test_show_contents_and_a_verdict_on_the_first_screen(self):
        def check(width):
            contents, row, effect = (self.browser.ask(f"document.querySelector('{one}').getBoundingClientRect().toJSON()")
                                     for one in ("nav", "main tbody tr", "main tbody tr .number"))
            self.assertLess(contents["bottom"], row["top"])
            self.assertLess(row["bottom"], HEIGHT)
            self.assertLess(effect["right"], width)
            self.assertEqual(self.browser.ask("document.querySelector('main tbody td').textContent"), "regression")

        self.each(check, ("slower",))

    def test_show_where_fusion_wins_on_the_second_screen(self):
        self.each(lambda _: self.assertLess(self.browser.ask(TOP_OF_SWEEP), 2 * HEIGHT))

    def test_have_legible_text_in_pictures(self):
        self.each(lambda _: self.assertGreaterEqual(min(self.browser.ask(TEXT_SIZES)), SMALLEST_TEXT))

    def test_have_text_that_stands_out(self):
        def check(_):
            contrast, text = min(self.browser.ask(CONTRASTS))
            self.assertGreaterEqual(contrast, 4.5, text)

        self.each(check, ("slower",), SCHEMES)

    def test_are_walked_through_by_keyboard_from_contents_down(self):
        def check(width):
            seen = []
            for _ in range(40):
                self.browser.press("Tab")
                seen.append(self.browser.ask("[document.activeElement.tagName, [...document.querySelectorAll('*')]"
                                             ".indexOf(document.activeElement), document.activeElement.closest('thead') != null]"))
            self.assertEqual(seen[0][0], "A")
            self.assertIn("SUMMARY", [tag for tag, _, _ in seen])
            self.assertEqual(any(is_in_head for _, _, is_in_head in seen), width != 400, "hidden headers take no focus")
            self.assertEqual(seen, sorted(seen, key=lambda one: one[1]))

        self.each(check, ("slower",))

    def test_remain_tables_to_those_who_hear_them(self):
        def check(_):
            roles = self.browser.roles()
            self.assertGreater(roles.count("table"), 10)
            for role in ("row", "columnheader", "rowheader", "cell"):
                self.assertGreater(roles.count(role), roles.count("table"), role)

        self.each(check, ("slower",), widths=(400,))  # where their rows are blocks
