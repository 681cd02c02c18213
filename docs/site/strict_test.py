"""That `mkdocs build --strict` as we have set it finds what is broken, and that the site needs nothing from elsewhere.

Needs MkDocs, in build/site-venv (ci/pipelines/site.sh installs it); without, it exits with 77, which ctest shows as skipped.
"""

import html.parser
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from build_pages import for_python_markdown
from site_test import build_ours

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
MKDOCS = ROOT / "build" / "site-venv" / "bin" / "mkdocs"

if not MKDOCS.exists():
    print(f"no {MKDOCS}", file=sys.stderr)
    sys.exit(77)


class Loaded(html.parser.HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        is_loaded = tag in {"script", "img", "iframe", "source", "video"} or (
            tag == "link" and attributes.get("rel") not in {"canonical", "next", "prev"})
        if is_loaded:
            self.found += filter(None, (attributes.get("src"), attributes.get("href")))


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pages, self.out = build_ours(pathlib.Path(folder.name)), pathlib.Path(folder.name) / "html"

    def build(self):
        return subprocess.run([MKDOCS, "build", "--strict", "--config-file", HERE / "mkdocs.yml"], capture_output=True, text=True, check=False,
                              env={**os.environ, "FUSEGATE_SITE_PAGES": str(self.pages), "FUSEGATE_SITE_OUT": str(self.out),
                                   "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"})

    def test_is_built_without_a_warning_and_needs_no_network(self):
        result = self.build()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("WARNING", result.stderr)
        pages = list(self.out.rglob("*.html"))
        self.assertGreater(len(pages), 30)
        for page in pages:
            for address in Loaded(page.read_text()).found:
                self.assertNotRegex(address, r"^(\w+:)?//", page.name)
        for style in self.out.rglob("*.css"):
            self.assertNotRegex(style.read_text(), r"(url\(|@import)\s*['\"]?(https?:)?//", style.name)

    def test_lists_and_tables_within_others(self):
        with (self.pages / "start.md").open("a") as page:
            page.write(for_python_markdown("\n- a\n  - b\n\n<details><summary>s</summary>\n\n| h |\n| --- |\n| c |\n\n</details>\n"))
        self.build()
        start = (self.out / "start.html").read_text()
        self.assertRegex(start, r"<li>[^<]*(<p>)?[^<]*(</p>)?\s*<ul>")
        self.assertRegex(start, r"<details>\s*<summary>[\s\S]*?<table>[\s\S]*?</details>")

    def test_finds_what_leads_nowhere(self):
        with (self.pages / "read-a-verdict.md").open("a") as page:
            page.write("\n[a](gone.md) [b](how-it-measures.md#no-such) [c](#nor-here) [d](reference)\n")
        (self.pages / "lonely.md").write_text("# Nobody lists it\n")
        result = self.build()
        self.assertNotEqual(result.returncode, 0)
        warnings = [line for line in result.stderr.replace("\n ", " ").splitlines() if line.startswith("WARNING")]
        for words in ("gone.md", "no-such", "nor-here", "'reference'", "lonely.md"):
            self.assertTrue([line for line in warnings if words in line], f"{words}: {result.stderr}")


if __name__ == "__main__":
    unittest.main()
