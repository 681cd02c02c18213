"""What makes the pages of the site: links, source files, schemas, headers, and that every page is in the navigation."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from build_pages import build_pages
from header_page import header_page, public_headers
from markdown_links import links_of, with_links
from markdown_text import InputError, for_python_markdown
from schema_page import schema_page
from stage import Stage, pages_of

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


def pages_in_navigation(text):
    """The .md files that mkdocs.yml names below nav."""
    return re.findall(r"^ +- (?:.*: )?(\S+\.md)$", text.partition("\nnav:\n")[2], re.MULTILINE)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.out = pathlib.Path(folder.name) / "tree", pathlib.Path(folder.name) / "pages"

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def staged(self, page):
        stage = Stage(self.root, self.out)
        stage.build()
        return (self.out / page).read_text()


class OurPages(unittest.TestCase):
    def test_every_page_is_in_the_navigation_once(self):
        named = pages_in_navigation((HERE / "mkdocs.yml").read_text())
        self.assertEqual(len(named), len(set(named)), "a page stands there twice")
        own = {"index.md", *pages_of(ROOT)}
        self.assertEqual({page for page in named if not page.startswith("reference/")}, own,
                         "docs/site/mkdocs.yml must name each page of docs/ below nav, and no other")

    def test_the_readme_links_every_user_page(self):
        linked = {link.partition("#")[0] for link in links_of((ROOT / "README.md").read_text())}
        self.assertEqual({f"docs/{page}" for page in pages_of(ROOT) if "/" not in page} - linked, set())

    def test_all_pages_can_be_made(self):
        with tempfile.TemporaryDirectory() as folder:
            reference, out = pathlib.Path(folder) / "reference", pathlib.Path(folder) / "pages"
            (reference / "markdown").mkdir(parents=True)
            for name in ("fusegate.md", "fusegate_bench.md"):
                (reference / "markdown" / name).write_text("# A program\n")
            build_pages(ROOT, reference, out)
            pages = {path.relative_to(out).as_posix() for path in out.rglob("*.md")}
            named = set(pages_in_navigation((HERE / "mkdocs.yml").read_text()))
            self.assertEqual(named - pages, set())
            self.assertIn("source/SECURITY.md", pages)
            self.assertIn("reference/headers/kernel.md", pages)
            self.assertTrue((out / "schema" / "suite.schema.json").exists())
            # A mermaid diagram would be drawn by a script from elsewhere.
            for page in pages:
                self.assertNotIn("```mermaid", (out / page).read_text(), page)


class Staging(Scratch):
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
        self.assertEqual(list(links_of(text)), ["d.md", "k.png"])
        self.assertEqual(with_links(text, lambda link: "new/" + link),
                         text.replace("d.md", "new/d.md").replace("k.png", "new/k.png"))

    def test_links_that_lead_nowhere_name_the_page(self):
        for text, problem in {"[a](gone.md)": "docs/one.md: link to gone.md: no such file",
                              "[a](../src)": "docs/one.md: link to src: is a folder; link to a file in it"}.items():
            self.write("README.md", "")
            self.write("src/x.cc", "")
            self.write("docs/one.md", text)
            with self.assertRaises(InputError) as caught:
                self.staged("one.md")
            self.assertEqual(str(caught.exception), problem)

    def test_githubs_markdown_as_python_markdown_wants_it(self):
        self.assertEqual(for_python_markdown("- a\n  - b\n  text\n<details><summary>s</summary>\n"),
                         "- a\n    - b\n  text\n<details markdown=\"1\"><summary>s</summary>\n")

    def test_the_script_says_what_is_wrong(self):
        ended = subprocess.run([sys.executable, HERE / "build_pages.py", "--reference", "/nowhere", "--out", self.out],
                               capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr.strip()), (
            2, "build_pages.py: /nowhere: no markdown/*.md; build the target fusegate_reference"))


class SchemaPages(unittest.TestCase):
    SCHEMA = {"title": "a file", "description": "What it is | here.", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "minLength": 1, "description": "Its name"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}}},
        "other": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/thing"}]}, "far": {"$ref": "common.schema.json#/$defs/doubt"}},
        "$defs": {"thing": {"type": "object", "additionalProperties": {"type": "number"}}, "word": {"enum": ["a", "b"]}}}

    def test_a_row_for_each_key(self):
        page = schema_page("a-file", self.SCHEMA)
        for row in ("| `name` | string, not empty | yes | Its name |", "| `list[].n` | integer, from 1 to 9 |  |  |",
                    "| `other` | null or [thing](#thing) |  |  |", "| `far` | [doubt](common.md#doubt) |  |  |",
                    "| `(any)` | number |  |  |", "`a`, `b`", "What it is &#124; here."):
            self.assertIn(row, page)

    def test_ours_have_a_row_for_every_property(self):
        for path in sorted((ROOT / "docs" / "schema").glob("*.schema.json")):
            schema = json.loads(path.read_text())
            page = schema_page(path.name.partition(".")[0], schema)
            for name in re.findall(r"^  +\"(\w+)\": \{$", path.read_text(), re.MULTILINE):
                if name not in {"properties", "propertyNames", "items", "additionalProperties", "if", "then", "else", "not"}:
                    with self.subTest(path=path.name, name=name):
                        self.assertRegex(page, rf"(\b|\.){name}(`|$)" if name not in schema.get("$defs", {}) else f"## {name}")


HEADER = """// What this is
// for: a * b.
//
//   code <here>;
#pragma once

#include <vector>

namespace fusegate::kernels {

// A thing.
struct Thing {
  int n = 0;  // how many {

  // Does it.
  void act() const;
};

// Loose words.

template <typename T>
T twice(T value, char c = '(');
T twice(double value);

inline constexpr int kMost = most({1});

}  // namespace fusegate::kernels
"""


class HeaderPages(unittest.TestCase):
    def test_a_header_with_its_comments(self):
        self.assertEqual(header_page("kernels/x.h", HEADER, "fusegate/x.h"), """# fusegate/x.h

    #include <fusegate/x.h>

What this is
for: a &#42; b.


    code <here>;

## struct Thing

A thing.

```cpp
struct Thing {
  int n = 0;  // how many {

  // Does it.
  void act() const;
};
```

Loose words.

## twice

```cpp
template <typename T>
T twice(T value, char c = '(');
T twice(double value);
```

## kMost

```cpp
inline constexpr int kMost = most({1});
```
""")

    def test_every_line_of_every_public_header_is_on_its_page(self):
        headers = public_headers((ROOT / "cmake" / "Library.cmake").read_text(), "cmake/Library.cmake")
        self.assertIn("kernels/contract/kernel.h", headers)
        for path in headers:
            text = (ROOT / path).read_text()
            page = header_page(path, text, "fusegate/" + pathlib.Path(path).name)
            code = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")
                    and not re.match(r"(#pragma|#include|namespace [\w:]+ \{$|\}  // namespace)", line)]
            self.assertTrue(code, path)
            for line in code:
                self.assertIn(line, page.splitlines(), path)

    def test_what_cannot_be_shown_is_said(self):
        for change, problem in {("// What this is\n// for: a * b.\n//\n//   code <here>;\n", ""): "kernels/x.h: must open with a comment",
                                (HEADER.partition("#pragma")[2], ""): "kernels/x.h: has no declaration"}.items():
            with self.assertRaisesRegex(InputError, problem):
                header_page("kernels/x.h", HEADER.replace(*change), "x.h")
        with self.assertRaisesRegex(InputError, "here: no FUSEGATE_PUBLIC_HEADERS"):
            public_headers("set(OTHER a.h)", "here")


if __name__ == "__main__":
    unittest.main()
