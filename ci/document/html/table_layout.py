"""Where the cells of a table go: a remark on a line of its own, what is long behind a fold, and below which width of the
page a row becomes a block of several lines, each figure with its column's name, so that nothing scrolls sideways."""

import re

# Of a page, in rem. A table that needs more than the last is always blocks.
FITS = (22, 44, 66, 84)
# As many columns make a table dense: its blocks have three figures in a line, and its long texts are remarks.
DENSE_COLUMNS = 10
# Characters of a label and its text that share a line of a block with another, and with two others.
HALF_A_LINE, THIRD_OF_A_LINE = 26, 17
# Longer texts show their beginning: at 400 pixels a row stays below 120.
LONGEST_REMARK, LONGEST_TEXT, LONGEST_HEAD, LONGEST_NAME = 150, 100, 84, 70
LEAST_FOLDED = 24  # characters; fewer are not worth a fold

CHARACTER_REM, GAP_REM = 0.5, 0.75
NARROWEST_TEXT = 30  # characters, to which a text or a name may be wrapped


def laid_out(table, open_rows):
    """The columns that are seen; rows of cells, each with its remarks; and those rows that are folded."""
    columns = [{**column, "texts": [row[i]["text"] for row in table["rows"]], "at": i}
               for i, column in enumerate(table["columns"])]
    columns = [column for column in columns if any(column["texts"])]
    is_dense = sum(not column["is_remark"] for column in columns) >= DENSE_COLUMNS
    remarks = [column for column in columns if _is_remark(column, is_dense)]
    shown = [column for column in columns if column not in remarks]
    head = next((column for column in shown if column["is_code"]), shown[0])
    for column in shown:
        column["is_head"] = column is head
        column["label"] = "" if column in (head, shown[0]) else column["header"]
        column["size"] = _size(column, is_dense)
    rows = [{"cells": [_cell(row[column["at"]], column) for column in shown],
             "remarks": [_remark(row[column["at"]], column) for column in remarks if row[column["at"]]["text"]]}
            for row in table["rows"]]
    open_rows += len(rows) == open_rows + 1  # one alone is no shorter folded
    return {"columns": shown, "fit": _fit(shown), "is_dense": is_dense, "shared": _shared_remarks(rows),
            "open": rows[:open_rows], "folded": rows[open_rows:]}


def _is_remark(column, is_dense):
    is_text = not column["is_code"] and not column["is_number"]
    return column["is_remark"] or is_dense and is_text and _longest(column) > HALF_A_LINE


def _longest(column):
    return max(map(len, column["texts"]))


def _size(column, is_dense):
    """Of its cells in a block: a whole line, two parts of three, or one part."""
    characters = len(column["label"]) + _longest(column)
    if column["is_code"] and column["is_head"] or characters > HALF_A_LINE:
        return "long"
    return "two" if is_dense and characters > THIRD_OF_A_LINE else ""


def _cell(cell, column):
    limit = LONGEST_TEXT
    if column["is_code"]:
        limit = LONGEST_HEAD if column["is_head"] else LONGEST_NAME
    return {**_folded(cell["text"], limit), "tone": cell["tone"]}


def _remark(cell, column):
    label = "" if column["is_remark"] else column["header"] + ": "
    return _folded(label + cell["text"], LONGEST_REMARK)


def _folded(text, limit):
    """What is seen of it and what is not, cut where a clause, a word or a part of a name ends."""
    if len(text) <= limit:
        return {"text": text, "rest": ""}
    most = limit - LEAST_FOLDED
    for end in (r"; ", r", ", r"[ /,]", r""):
        cuts = [match.end() for match in re.finditer(end, text[:most]) if match.end() > most / 3]
        if cuts:
            return {"text": text[:cuts[-1]], "rest": text[cuts[-1]:]}


def _shared_remarks(rows):
    """What is said of every row is said once, above them."""
    if len(rows) < 2 or any(row["remarks"] != rows[0]["remarks"] for row in rows):
        return []
    shared = rows[0]["remarks"]
    for row in rows:
        row["remarks"] = []
    return shared


def _fit(columns):
    needed = sum(_characters(column) * CHARACTER_REM + GAP_REM for column in columns)
    return next((fit for fit in FITS if needed <= fit), None)


def _characters(column):
    if column["is_number"]:
        return max([_longest(column), *map(len, re.split("[ _]", column["header"]))])
    return min(max(_longest(column), len(column["header"])), NARROWEST_TEXT)
