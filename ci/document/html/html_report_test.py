"""The page as a whole: what stands in it, that nothing in it breaks out, and that it needs nothing else."""

import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import test_model

test_model.require_packages()

import html_report  # noqa: E402: only where the packages are there

VOID = {"meta", "br", "wbr", "link", "img"}


class Outline(html.parser.HTMLParser):
    """Tags in balance, identifiers, and the text outside style."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.tags, self.text, self.problems = [], [], [], "", []
        self.feed(page)
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


class Page(unittest.TestCase):
    def outline(self, document):
        outline = Outline(html_report.render(document))
        self.assertEqual(outline.problems, [])
        return outline

    def test_shows_headline_summary_and_facts_first(self):
        outline = self.outline(test_model.document(
            test_model.section("Verdicts", ["A sentence."]), facts=[("baseline", "base: 5 processes")]))
        text = " ".join(outline.text.split())
        self.assertIn("A title passA headline. 1 unchanged. Verdicts Baseline baselinebase: 5 processes Verdicts", text)

    def test_begins_with_links_to_its_sections(self):
        sections = [test_model.section(title) for title in ("A b", "A, b", "C", "")]
        outline = self.outline(test_model.document(*sections))
        links = [attributes["href"][1:] for tag, attributes in outline.tags if tag == "a"]
        self.assertEqual(len(set(links)), 3)
        self.assertEqual([one for one in outline.ids if one in links], links)

    def test_folds_facts_but_those_that_have_a_tone(self):
        facts = [("baseline", "x"), ("candidate", "y"), ("note", "one"), ("note", "two")]
        document = test_model.document(facts=facts)
        document["facts"].append({"label": "differs", "text": test_model.cell("driver", "bad")})
        page = html_report.render(document)
        self.assertIn("<summary>Baseline, candidate and 2 notes</summary>", page)
        self.assertLess(page.index("driver"), page.index("<details>"))

    def test_has_a_heading_a_section_and_folds_what_is_folded(self):
        inner = test_model.section("inner", is_folded=True, parts=[test_model.section("innermost")])
        outline = self.outline(test_model.document(test_model.section("open", parts=[inner])))
        tags = [tag for tag, _ in outline.tags]
        self.assertEqual((tags.count("h2"), tags.count("details"), tags.count("h4")), (1, 1, 1))
        self.assertNotIn("h3", tags)

    def test_lays_out_tables(self):
        rows = test_model.table(("name", "time", "why"), [("a/b", test_model.cell("52.31 us", "bad"), "a reason")],
                                code=("name",), numbers=("time",))
        page = html_report.render(test_model.document(test_model.section(rows=rows)))
        self.assertIn('<th scope="col" role="columnheader" class="number">time</th>', page)
        self.assertIn('<th scope="row" role="rowheader" class="name long">a/<wbr>b</th>'
                      '<td role="cell" class="number bad" data-label="time">52.31 us</td>'
                      '<td role="cell" class="text" data-label="why">a reason</td>', page)

    def test_gives_a_remark_a_line_of_its_own(self):
        rows = test_model.table(("name", "time", "why"), [("a", "1 us", "a reason"), ("b", "2 us", "another")],
                                code=("name",), numbers=("time",), remarks=("why",))
        page = html_report.render(test_model.document(test_model.section(rows=rows)))
        self.assertIn('<tr role="row" class="remark"><td role="cell" colspan="2">a reason</td></tr>', page)
        self.assertNotIn(">why</th>", page)

    def test_folds_rows_beyond_those_that_are_open(self):
        rows = test_model.table(("name",), [(f"row {i}",) for i in range(5)])
        page = html_report.render(test_model.document(test_model.section(rows=rows, open_rows=2)))
        self.assertLess(page.index("row 1"), page.index("<summary>3 more rows</summary>"))
        self.assertGreater(page.index("row 2"), page.index("<summary>3 more rows</summary>"))

    def test_lists_sentences_and_notes(self):
        outline = self.outline(test_model.document(test_model.section(sentences=["A sentence."], notes=["A note"])))
        self.assertIn("A section A sentence. A note", " ".join(outline.text.split()))
        self.assertEqual([tag for tag, _ in outline.tags].count("li"), 2)  # and of the contents

    def test_draws_each_kind_of_picture(self):
        pictures = [test_model.lines(test_model.line("fused")), test_model.speed_up_map(),
                    test_model.roofline(test_model.point(1.0, 2.0)),
                    test_model.bars(test_model.bar("a/b", gelu=0.6, gaps=0.4))]
        outline = self.outline(test_model.document(test_model.section(pictures=pictures)))
        self.assertEqual([tag for tag, _ in outline.tags].count("figure"), 3)
        self.assertIn("gelu, 60.0 %", outline.text)

    def test_lets_no_name_break_out(self):
        evil = '"><script>alert(1)</script><b title=\''
        pictures = [test_model.lines(test_model.line(evil, marks=(512,)), titles=(evil,), even=evil),
                    test_model.speed_up_map(title=evil),
                    test_model.roofline(test_model.point(1.0, 2.0, evil, evil, tooltip=evil)),
                    test_model.bars(test_model.bar(evil, **{evil: 1.0}))]
        pictures[1]["axis"] = pictures[1]["shape_axes"] = evil
        for picture in pictures[:3]:
            picture["caption"] = picture["description"] = evil
        section = test_model.section(evil, [evil], [evil], test_model.table((evil,), [(evil,)]), pictures,
                                     [test_model.section(evil, [evil], is_folded=True)])
        document = test_model.document(section, facts=[(evil, evil)])
        document["title"] = document["headline"] = document["summary"] = evil
        tags = [tag for tag, _ in self.outline(document).tags]
        self.assertNotIn("script", tags)
        self.assertNotIn("b", tags)

    def test_needs_nothing_but_itself(self):
        page = html_report.render(test_model.document(test_model.section(
            pictures=[test_model.lines(test_model.line("fused"))])))
        for tag, attributes in Outline(page).tags:
            self.assertNotIn(tag, ("script", "link", "img", "iframe"))
            for name in ("href", "src", "xlink:href"):
                self.assertTrue(attributes.get(name, "#").startswith("#"), attributes)

    def test_has_no_identifier_twice_and_no_dangling_reference(self):
        picture = test_model.lines(test_model.line("fused"))
        outline = self.outline(test_model.document(test_model.section(pictures=[picture, picture])))
        self.assertEqual(len(outline.ids), len(set(outline.ids)))
        for _, attributes in outline.tags:
            reference = attributes.get("xlink:href", attributes.get("href"))
            if reference:
                self.assertIn(reference[1:], outline.ids)

    def test_names_every_picture_for_those_who_cannot_see_it(self):
        pictures = [test_model.lines(test_model.line("fused")), test_model.speed_up_map()]
        outline = self.outline(test_model.document(test_model.section(pictures=pictures)))
        figures = [attributes["aria-label"] for tag, attributes in outline.tags if tag == "figure"]
        self.assertEqual(figures, ["geglu in bf16.", "geglu in bf16 as a map."])
        drawn = [attributes for tag, attributes in outline.tags if tag == "svg" and "aria-hidden" not in attributes]
        self.assertEqual([(attributes["role"], attributes["aria-label"]) for attributes in drawn],
                         [("img", "dim 768, hidden 3072")])

    def test_works_without_anything_measured(self):
        self.outline(test_model.document())


class Bars(unittest.TestCase):
    def parts(self, **shares):
        return html_report.laid_end_to_end(test_model.bar("a", **shares))

    def test_have_their_parts_one_after_another(self):
        self.assertEqual([part["at"] for part in self.parts(a=0.25, b=0.5, gaps=0.25)], [0, 0.25, 0.75])

    def test_end_where_medians_add_up_to_more(self):
        parts = self.parts(a=0.8, b=0.3, c=0.1)
        self.assertEqual(len(parts), 2)
        self.assertAlmostEqual(parts[1]["at"] + parts[1]["width"], 1)

    def test_give_a_stage_one_colour_and_gaps_none(self):
        colours = html_report.stage_colours([test_model.bar("a", gelu=0.5, mul=0.5),
                                             test_model.bar("b", mul=0.5, gaps=0.5)])
        self.assertEqual(list(colours), ["gelu", "mul"])
        self.assertNotEqual(colours["gelu"], colours["mul"])


class Program(unittest.TestCase):
    def test_draws_one_picture_as_a_file_of_its_own(self):
        picture = json.dumps(test_model.lines(test_model.line("fused")))
        first, second = [subprocess.run([sys.executable, html_report.__file__, "--svg"], input=picture,
                                        capture_output=True, text=True, check=True).stdout for _ in range(2)]
        self.assertEqual(first, second)
        root = xml.etree.ElementTree.fromstring(first)
        self.assertTrue(root.tag.endswith("svg"))
        self.assertNotIn("currentColor", first)

    def test_needs_no_home(self):
        nameless = ("import pwd, runpy, sys\n"
                    "def nobody(uid): raise KeyError(uid)\n"
                    "pwd.getpwuid = nobody\n"
                    "sys.path.insert(0, sys.argv[1].rpartition('/')[0])\n"
                    "runpy.run_path(sys.argv[1], run_name='__main__')")
        environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "MPLCONFIGDIR")}
        picture = test_model.lines(test_model.line("fused"))
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", nameless, html_report.__file__], text=True, capture_output=True,
                                  input=json.dumps(test_model.document(test_model.section(pictures=[picture]))),
                                  env={**environment, "TMPDIR": folder}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("<!doctype html>"))
            self.assertEqual(os.listdir(folder), [])

    def test_names_the_packages_that_it_lacks(self):
        done = subprocess.run([sys.executable, "-S", "-I", html_report.__file__], input="{}", capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("matplotlib and jinja2", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
