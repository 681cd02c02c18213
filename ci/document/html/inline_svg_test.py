"""Pictures inside a page: tooltips go where they belong, and are text."""

import unittest

import inline_svg


class Tooltips(unittest.TestCase):
    def test_stand_first_in_the_group_they_are_of(self):
        text = inline_svg.with_tooltips('<g id="a-point0"><path/></g><g id="a-point1"/>', {"a-point0": "one"})
        self.assertEqual(text, '<g id="a-point0"><title>one</title><path/></g><g id="a-point1"/>')

    def test_are_escaped(self):
        self.assertIn("<title>&lt;b&gt; &amp;</title>", inline_svg.with_tooltips('<g id="a">', {"a": "<b> &"}))
