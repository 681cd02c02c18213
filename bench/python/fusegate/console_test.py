"""Others' names on a terminal and in a log: as fusegate's own programs print them."""

import os
import subprocess
import unittest

from fusegate.console import for_log, printable


class PrintableTest(unittest.TestCase):
    def test_escapes_what_a_terminal_or_a_viewer_acts_on(self):
        for text, expected in (("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\x00\x7f", "\\x00\\x7f"),
                               ("\x9b", "\\u009b"), ("\u202eevil", "\\u202eevil"), ("\u2028", "\\u2028"),
                               ("\udcff", "\\xff"), ("\ud800", "\\ud800"), ("größer", "größer"), ("\\x1b", "\\x1b")):
            self.assertEqual(printable(text), expected)
            self.assertEqual(printable(expected), expected, "twice does no harm")

    def test_agrees_with_fusegate_itself(self):
        program = os.environ.get("FUSEGATE_PROGRAM")
        for name in ("\x1b]0;x\x07", "a\u061cb\u2066c", "größer\u0085", "::error::x"):
            shown = subprocess.run([program, "show", name], capture_output=True, text=True, check=False).stderr
            self.assertIn(printable(name), shown)


class ForLogTest(unittest.TestCase):
    def test_no_line_is_a_command_of_a_workflow(self):
        self.assertEqual(for_log("::error::x"), "\\x3a:error::x")
        self.assertEqual(for_log("  ::add-mask::x"), "  \\x3a:add-mask::x")
        self.assertEqual(for_log("a ##[error]x"), "a ##\\x5berror]x")
        self.assertEqual(for_log("kernels.py: a::b"), "kernels.py: a::b")
        self.assertEqual(for_log("a\n::error::x"), "a\\n::error::x")
