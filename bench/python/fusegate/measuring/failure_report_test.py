"""How failures are reported."""

import unittest

from fusegate.measuring.failure_report import FailureReport


class FailureReportTest(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.failures = FailureReport(self.lines.append)

    def test_an_implementation_that_is_wrong_everywhere_is_two_lines(self):
        for rows in range(48):
            self.failures.report("geglu/fused", f"geglu/fused/bf16/rows:{rows}",
                           f"wrong result: relative error {rows}.25e-01 against the reference, 1.0e-02 allowed")
        self.assertEqual(self.lines, ["geglu/fused/bf16/rows:0: wrong result: relative error 0.25e-01 against the reference, "
                                      "1.0e-02 allowed"])
        self.failures.report_others()
        self.failures.report_others()
        self.assertEqual(self.lines[1:], ["geglu/fused: 47 more failed in the same way: " +
                                          ", ".join(f"bf16/rows:{rows}" for rows in range(1, 48))])

    def test_names_and_addresses_of_problems_make_no_other_cause(self):
        for rows, address in ((8, "0x7f00"), (16, "0x7faa")):
            self.failures.report("a/b", f"a/b/fp32/rows:{rows}", f"k.py:3: a.flops: raised E: at {address} for fp32/rows:{rows}/k:gelu")
        self.failures.report_others()
        self.assertEqual(len(self.lines), 2)

    def test_other_causes_and_other_implementations_are_printed_whole(self):
        for implementation, message in (("a/b", "wrong result: relative error 1.0"), ("a/c", "wrong result: relative error 2.0"),
                                        ("a/b", "MemoryError")):
            self.failures.report(implementation, implementation + "/fp32/n:8", message)
        self.failures.report_others()
        self.assertEqual(len(self.lines), 3)
