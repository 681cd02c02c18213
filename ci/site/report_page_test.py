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
CHROMIUM = browser.require_browser()
PROGRAM = os.environ["FUSEGATE_PROGRAM"]
BASELINES = pathlib.Path(__file__).parents[2] / "baselines"
RUNS = BASELINES / "testdata/pr-runs/h200-16f50165.tar.xz"
BASELINE = BASELINES / "nvidia-h200/pr.json"

WIDTHS, HEIGHT, SCHEMES = (1400, 400), 900, ("light", "dark")
TALLEST_ROW = 120  # pixels
SMALLEST_TEXT = 9

IS_SEEN = """const seen = (selector) => [...document.querySelectorAll(selector)].filter(
    one => one.checkVisibility() && !one.closest("caption:not(.map caption), .unseen")
           && getComputedStyle(one.closest("thead") ?? one).position != "absolute");"""
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = !one.matches('.rest'))"
ROWS = f"(() => {{ {IS_SEEN} return seen('tbody > tr').map(row => [row.getBoundingClientRect().height, row.textContent]) }})()"
STICKING_OUT = f"""(() => {{ {IS_SEEN} return seen("body *").filter(
    one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map(one => one.outerHTML) }})()"""
SCROLLERS = f"""(() => {{ {IS_SEEN} return seen("body *").filter(
    one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0
           && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)).map(one => one.outerHTML) }})()"""
TEXT_SIZES = """[...document.querySelectorAll("svg text, .map td, .map th")].filter(one => one.checkVisibility()).map(one => {
    const scale = one.getScreenCTM ? Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) : 1;
    return parseFloat(getComputedStyle(one).fontSize) * scale })"""
TOP_OF_SWEEP = """[...document.querySelectorAll("h2")].find(
    one => one.textContent == "Where fusion wins").getBoundingClientRect().top"""
# Of each text outside of pictures with what lies behind it: WCAG 2.1, 1.4.3.
CONTRASTS = f"""(() => {{ {IS_SEEN}
    const channels = colour => colour.match(/[0-9.]+/g).map(Number);
    const luminance = colour => channels(colour).slice(0, 3).map(value => value / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = one => {{
        for (; one; one = one.parentElement) {{
            const colour = getComputedStyle(one).backgroundColor;
            if (channels(colour)[3] !== 0) return colour;
        }} }};
    return seen("body *").filter(one => !one.closest("svg") && [...one.childNodes].some(
        node => node.nodeType == Node.TEXT_NODE && node.textContent.trim())).map(one => {{
        const [dark, light] = [getComputedStyle(one).color, behind(one)].map(luminance).sort((a, b) => a - b);
        return [(light + 0.05) / (dark + 0.05), one.outerHTML] }}) }})()"""


def page_of(folder, name, *arguments):
    html = folder / f"{name}.html"
    done = subprocess.run([PROGRAM, "report", *arguments, "--html", html], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return html.read_text(encoding="utf-8")


def real_pages():
    """Of runs on an H200: with all kernels slower, and compared with nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with tarfile.open(RUNS) as runs:
            runs.extractall(folder)
        return {"slower": page_of(folder, "slower", "--candidate", folder / "runs/all", "--baseline", BASELINE),
                "alone": page_of(folder, "alone", "--candidate", BASELINE)}


class RealPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = real_pages()
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
        def check(_):
            seen = []
            for _ in range(20):
                self.browser.press("Tab")
                seen.append(self.browser.ask("[document.activeElement.tagName, [...document.querySelectorAll('*')]"
                                             ".indexOf(document.activeElement)]"))
            self.assertEqual([seen[0][0], seen[-1][0]], ["A", "SUMMARY"])
            self.assertEqual(seen, sorted(seen, key=lambda one: one[1]))

        self.each(check, ("slower",))

    def test_remain_tables_to_those_who_hear_them(self):
        def check(_):
            roles = self.browser.roles()
            self.assertGreater(roles.count("table"), 10)
            for role in ("row", "columnheader", "rowheader", "cell"):
                self.assertGreater(roles.count(role), roles.count("table"), role)

        self.each(check, ("slower",), widths=(400,))  # where their rows are blocks
