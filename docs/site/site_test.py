"""What makes the pages of the site: links, source files, public headers, and that every page is in the navigation."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from build_pages import InputError, Stage, build_pages, for_python_markdown, links_of, pages_of, with_links

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


def pages_in_navigation():
    """The .md files that mkdocs.yml names below nav."""
    return re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (HERE / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.MULTILINE)


def build_ours(folder):
    """Makes all pages in folder/pages, with programs that have no help."""
    (folder / "markdown").mkdir()
    for name in ("fusegate.md", "fusegate_bench.md"):
        (folder / "markdown" / name).write_text("# A program\n")
    build_pages(ROOT, folder, folder / "pages")
    return folder / "pages"


class OurPages(unittest.TestCase):
    def test_every_page_is_in_the_navigation_once(self):
        named = pages_in_navigation()
        self.assertEqual(len(named), len(set(named)), "a page stands there twice")
        own = {"index.md", *(page.removeprefix("docs/") for page in pages_of(ROOT))}
        self.assertEqual({page for page in named if not page.startswith(("reference/", "source/"))}, own,
                         "docs/site/mkdocs.yml must name each page of docs/ below nav, and no other")

    def test_the_readme_links_every_user_page(self):
        linked = {link.partition("#")[0] for link in links_of((ROOT / "README.md").read_text())}
        self.assertEqual({page for page in pages_of(ROOT) if "/evidence/" not in page} - linked, set())

    def test_all_pages_can_be_made(self):
        with tempfile.TemporaryDirectory() as folder:
            out = build_ours(pathlib.Path(folder))
            pages = {path.relative_to(out).as_posix() for path in out.rglob("*.md")}
            self.assertEqual(set(pages_in_navigation()) - pages, set())
            self.assertEqual({f"source/docs/schema/{path.name}.md" for path in (ROOT / "docs/schema").glob("*.schema.json")} - pages, set())
            self.assertIn("source/SECURITY.md", pages)
            self.assertIn("[fusegate/kernel.h](../source/kernels/contract/kernel.h.md) | The contract of a kernel with",
                          (out / "reference/headers.md").read_text())
            self.assertIn("source/kernels/cuda/device/cuda.h.md", pages)
            # A mermaid diagram would be drawn by a script from elsewhere.
            for page in pages:
                self.assertNotIn("```mermaid", (out / page).read_text(), page)


class Staging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.out = pathlib.Path(folder.name) / "tree", pathlib.Path(folder.name) / "pages"

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def staged(self, page):
        Stage(self.root, self.out).build()
        return (self.out / page).read_text()

    def test_links_among_pages_and_out_of_docs(self):
        self.write("README.md", "[a](docs/one.md#there) [b](src/x.cc) ![c](docs/p.svg) [d](https://example.org/e.md)\n")
        self.write("docs/one.md", "[x](../src/x.cc) [r](../src/README.md) [i](../README.md#top) [a](#here)\n")
        self.write("docs/p.svg", "<svg/>")
        self.write("src/x.cc", "int x; // ```` and [no](link.md)\n")
        self.write("src/README.md", "[x](x.cc) [one](../docs/one.md)\n")
        self.assertEqual(self.staged("index.md"),
                         "[a](one.md#there) [b](source/src/x.cc.md) ![c](p.svg) [d](https://example.org/e.md)\n")
        self.assertEqual(self.staged("one.md"),
                         "[x](source/src/x.cc.md) [r](source/src/README.md) [i](index.md#top) [a](one.md#here)\n")
        self.assertEqual(self.staged("source/src/README.md"), "[x](x.cc.md) [one](../../one.md)\n")
        self.assertEqual(self.staged("source/src/x.cc.md"),
                         "# x.cc\n\n`src/x.cc`\n\n`````cpp\nint x; // ```` and [no](link.md)\n`````\n")

    def test_what_is_code_is_no_link(self):
        text = "`[a](b.md)` [c](d.md)\n\n    [e](f.md)\n```\n[g](h.md)\n```\n``[`i`](j.md)`` <img src=\"k.png\">\n"
        self.assertEqual(links_of(text), ["d.md", "k.png"])
        self.assertEqual(with_links(text, lambda link: "new/" + link), text.replace("d.md", "new/d.md").replace("k.png", "new/k.png"))

    def test_links_that_lead_nowhere_name_the_page(self):
        for text, problem in {"[a](gone.md)": "docs/one.md: link to gone.md: no such file",
                              "[a](../src)": "docs/one.md: link to ../src: is a folder; link to a file in it",
                              "[a](../src/x.cc)": "src/x.cc: 'utf-8' codec can't decode byte 0xff"}.items():
            self.write("README.md", "")
            self.write("src/x.cc", "")
            (self.root / "src/x.cc").write_bytes(b"\xff")
            self.write("docs/one.md", text)
            with self.assertRaisesRegex(InputError, "^" + re.escape(problem)):
                self.staged("one.md")

    def test_githubs_markdown_as_python_markdown_wants_it(self):
        self.assertEqual(for_python_markdown("- a\n  - b\n  text\n<details><summary>s</summary>\n"),
                         "- a\n    - b\n  text\n<details markdown=\"1\"><summary>s</summary>\n")

    def test_the_script_says_what_is_wrong(self):
        ended = subprocess.run([sys.executable, HERE / "build_pages.py", "--reference", "/nowhere", "--out", self.out],
                               capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr.strip()), (
            2, "build_pages.py: /nowhere: no markdown/*.md; build the target fusegate_reference"))


if __name__ == "__main__":
    unittest.main()
