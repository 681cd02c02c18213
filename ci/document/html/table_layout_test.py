"""Where cells go: remarks, folds, and the width below which rows become blocks."""

import unittest

import table_layout
import test_model


def laid_out(table, open_rows=20):
    return table_layout.laid_out(table, open_rows)


def texts(remarks):
    return [remark["text"] for remark in remarks]


class Remarks(unittest.TestCase):
    def table(self, *reasons):
        return test_model.table(("name", "why"), [("a", reason) for reason in reasons], code=("name",), remarks=("why",))

    def test_leave_the_columns(self):
        layout = laid_out(self.table("one", "two", ""))
        self.assertEqual([column["header"] for column in layout["columns"]], ["name"])
        self.assertEqual([texts(row["remarks"]) for row in layout["open"]], [["one"], ["two"], []])

    def test_are_said_once_where_all_rows_share_them(self):
        layout = laid_out(self.table("same", "same"))
        self.assertEqual(texts(layout["shared"]), ["same"])
        self.assertEqual([row["remarks"] for row in layout["open"]], [[], []])
        self.assertEqual(laid_out(self.table("alone"))["shared"], [])

    def test_show_their_first_clauses_and_fold_the_rest(self):
        (remark,) = laid_out(self.table("reaches past 0.15 %; " + "a choice, " * 30))["open"][0]["remarks"]
        self.assertLessEqual(len(remark["text"]), table_layout.LONGEST_REMARK)
        self.assertEqual(remark["text"] + remark["rest"], "reaches past 0.15 %; " + "a choice, " * 30)
        self.assertTrue(remark["text"].endswith(", "))

    def test_are_cut_though_nothing_ends_in_them(self):
        (remark,) = laid_out(self.table("x" * 1000))["open"][0]["remarks"]
        self.assertLessEqual(len(remark["text"]), table_layout.LONGEST_REMARK)
        self.assertEqual(len(remark["text"] + remark["rest"]), 1000)

    def test_are_what_is_long_in_a_dense_table(self):
        headers = [f"n{i}" for i in range(12)] + ["class"]
        layout = laid_out(test_model.table(headers, [["1"] * 12 + ["memory-bound, launch-bound on a stream"]]))
        self.assertTrue(layout["is_dense"])
        self.assertEqual(texts(layout["open"][0]["remarks"]), ["class: memory-bound, launch-bound on a stream"])


class Columns(unittest.TestCase):
    def test_without_any_text_are_left_out(self):
        layout = laid_out(test_model.table(("name", "failure"), [("a", ""), ("b", "")]))
        self.assertEqual([column["header"] for column in layout["columns"]], ["name"])

    def test_name_their_figures_but_the_first_and_the_names(self):
        layout = laid_out(test_model.table(("verdict", "name", "effect"), [("regression", "a", "1 %")], code=("name",)))
        self.assertEqual([column["label"] for column in layout["columns"]], ["", "", "effect"])
        self.assertEqual([column["is_head"] for column in layout["columns"]], [False, True, False])

    def test_that_need_more_room_become_blocks_earlier(self):
        fits = [laid_out(test_model.table([f"n{i}" for i in range(count)], [["123.4 us"] * count]))["fit"]
                for count in (3, 6, 14, 40)]
        self.assertEqual(fits, [22, 44, 84, None])

    def test_take_a_line_of_a_block_where_they_are_long(self):
        layout = laid_out(test_model.table(("name", "n", "best"), [("a", "1", "1.67x at M 128, dim 768, hidden 11008")]))
        self.assertEqual([column["size"] for column in layout["columns"]], ["", "", "long"])


class Rows(unittest.TestCase):
    def table(self, rows):
        return test_model.table(("name",), [(str(i),) for i in range(rows)])

    def counts(self, rows, open_rows):
        layout = laid_out(self.table(rows), open_rows)
        return len(layout["open"]), len(layout["folded"])

    def test_beyond_those_that_are_open_are_folded_but_not_one_alone(self):
        self.assertEqual(self.counts(6, 6), (6, 0))
        self.assertEqual(self.counts(7, 6), (7, 0))
        self.assertEqual(self.counts(8, 6), (6, 2))
