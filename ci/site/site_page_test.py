"""The pages of a made-up year as Chromium shows them: whole without scripts, usable by keyboard, legible in light and
dark, on a telephone and on paper. Screenshots go to build/screenshots."""

import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import browser
from page_checks import CONTRASTS, OPEN_ALL, ROWS, SCROLLERS, STICKING_OUT, keep_screenshot

CHROMIUM = browser.require_browser()
BENCHMARKS, NIGHTS = 344, 365
WIDTHS, SCHEMES = (1300, 400), ("light", "dark")
TALLEST_ROW = 120  # pixels
LARGEST_SITE = 2_000_000  # bytes

# Of the table of all benchmarks.
SEEN_ROWS = """[...document.querySelectorAll("main table")].find(one => one.caption.textContent.endsWith(" benchmarks"))
    .querySelectorAll("tbody tr:not([hidden])").length"""
FOCUS = "document.querySelector('{}').focus()"
NOT_LOADED = """[...document.images].filter(one => !one.complete || one.naturalWidth == 0).map(one => one.src)"""


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([os.environ["FUSEGATE_MADE_UP_SITE"], cls.folder, str(BENCHMARKS), str(NIGHTS)], check=True)
        stepped, = cls.folder.glob("b/geglu_mlp-fused_epilogue_sm90-bf16-batch-1-*.html")
        cls.pages = {"index": (cls.folder / "index.html").as_uri(), "benchmark": stepped.as_uri()}
        cls.browser = browser.Browser(CHROMIUM)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.problems.clear()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [], "no script fails, and nothing is missing")

    def show(self, name, width=1300, **how):
        self.browser.show(self.pages[name], width, **how)

    def each(self, check):
        """Checks each page at each width, in light and dark."""
        for name, width, scheme in itertools.product(self.pages, WIDTHS, SCHEMES):
            with self.subTest(page=name, width=width, scheme=scheme):
                self.show(name, width, scheme=scheme)
                check(f"site-{name}-{width}-{scheme}", width)

    def readout(self):
        return self.browser.ask("document.querySelector('.readout').textContent")

    def test_fits_any_width_with_everything_unfolded(self):
        def check(name, width):
            keep_screenshot(self.browser, name)
            self.browser.ask(OPEN_ALL)
            self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), width)
            self.assertEqual(self.browser.ask(STICKING_OUT)[:1], [])
            self.assertEqual(self.browser.ask(SCROLLERS)[:1], [])
            height, text = max(self.browser.ask(ROWS))
            self.assertLessEqual(height, TALLEST_ROW, text)
            self.assertEqual(self.browser.ask(NOT_LOADED), [])

        self.each(check)

    def test_has_text_that_stands_out(self):
        def check(_, __):
            contrast, text = min(self.browser.ask(CONTRASTS))
            self.assertGreaterEqual(contrast, 4.5, text)

        self.each(check)

    def test_filters_by_keyboard(self):
        self.show("index")
        self.assertEqual(self.browser.ask(SEEN_ROWS), BENCHMARKS)
        for _ in range(20):
            self.browser.press("Tab")
            if self.browser.ask("document.activeElement.name") == "operation":
                break
        self.browser.press("ArrowDown")  # all -> geglu
        self.assertEqual(self.browser.ask(SEEN_ROWS), BENCHMARKS / 4)
        self.assertEqual(self.browser.ask("document.querySelector('.filters output').textContent"), "86 benchmarks")
        self.browser.press("Tab")
        self.browser.press("ArrowDown")
        self.assertEqual(self.browser.ask("document.activeElement.value"), "fused_epilogue_sm90")
        few = self.browser.ask(SEEN_ROWS)
        self.assertTrue(0 < few < BENCHMARKS / 8)
        self.browser.ask(FOCUS.format("[type=reset]"))
        self.browser.press("Enter")
        self.browser.ask(FOCUS.format("[type=search]"))
        self.browser.write("batch:1/")
        self.assertEqual(self.browser.ask(SEEN_ROWS), 32)

    def test_filters_by_verdict_and_owner(self):
        self.show("index")
        for field, value, rows in (("verdict", "regression", 1), ("owner", "@org/linear", BENCHMARKS / 4)):
            self.browser.ask(f"""(() => {{ const one = document.querySelector("[name={field}]"); one.value = "{value}";
                one.dispatchEvent(new Event("input", {{bubbles: true}})); }})()""")
            self.assertEqual(self.browser.ask(SEEN_ROWS), rows)
            self.browser.ask("document.querySelector('.filters').reset()")
            self.browser.ask("new Promise(done => setTimeout(done, 10))")

    def test_sorts_by_keyboard(self):
        self.show("index")
        table = """[...document.querySelectorAll("main table")].at(-2)"""
        self.browser.ask(f"{table}.querySelectorAll('th button')[4].focus()")
        self.browser.press("Enter")
        times = self.browser.ask(f"[...{table}.tBodies[0].rows].map(row => row.cells[4].textContent)")
        values = [float(time.split()[0]) for time in times]
        self.assertEqual(values, sorted(values))
        self.assertEqual(self.browser.ask("document.activeElement.parentElement.ariaSort"), "ascending")

    def test_reads_out_nights_by_keyboard_and_pointer(self):
        self.show("benchmark")
        self.browser.ask(FOCUS.format("svg.nights"))
        self.browser.press("ArrowLeft")
        self.assertRegex(self.readout(), r"^2025-12-31, \+1\.\d\d %, commit [0-9a-f]{7}, card GPU-59b3d246, driver 580")
        self.browser.press("ArrowLeft")
        self.assertRegex(self.readout(), r"^2025-12-30, ")
        box = self.browser.ask("document.querySelector('svg.nights').getBoundingClientRect().toJSON()")
        self.browser.point_at(box["left"] + 1, box["top"] + 20)
        self.assertRegex(self.readout(), r"^2025-01-01, [+-]0\.\d\d %, ")

    def test_is_whole_without_scripts(self):
        self.show("index", scripts=False)
        self.assertEqual(self.browser.ask(SEEN_ROWS), BENCHMARKS)
        self.assertEqual(self.browser.ask("document.querySelectorAll('.filters, th button').length"), 0)
        self.show("benchmark", scripts=False)
        self.assertGreater(self.browser.ask("document.querySelector('.run').getTotalLength()"), NIGHTS)
        self.assertEqual(self.browser.ask("document.querySelectorAll('.history .slower').length"), 1)
        self.assertEqual(self.browser.ask(NOT_LOADED), [])

    def test_prints_dark_on_white_without_what_is_only_for_a_screen(self):
        for name in self.pages:
            self.show(name, 700, scheme="dark", media="print")
            self.assertEqual(self.browser.ask("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
            self.assertEqual(self.browser.ask("[...document.querySelectorAll('.filters, nav')].filter(one => one.checkVisibility()).length"), 0)
            contrast, text = min(self.browser.ask(CONTRASTS))
            self.assertGreaterEqual(contrast, 4.5, text)
            self.assertTrue(self.browser.printed().startswith(b"%PDF"))

    def test_remains_tables_to_those_who_hear_them(self):
        self.show("index", 400)  # where rows are blocks
        roles = self.browser.roles()
        self.assertGreaterEqual(roles.count("row"), BENCHMARKS)
        self.assertGreaterEqual(roles.count("rowheader"), BENCHMARKS)

    def test_links_lead_somewhere(self):
        for page in (self.folder / "index.html", *self.folder.glob("b/*.html")):
            for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / link).is_file(), f"{page}: {link}")

    def test_is_small(self):
        self.assertLess(sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()), LARGEST_SITE)


if __name__ == "__main__":
    unittest.main()
