"""User pages (README.md and docs/*.md) are short, and hold no commit, card or date: those belong to docs/evidence."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONGEST = 150
FORBIDDEN = {
    "commit hash": re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b"),
    "card id": re.compile(r"\bGPU-[0-9a-f]{8}"),
    "date": re.compile(r"\b\d{4}-\d{2}-\d{2}"),
}


def user_pages(root):
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def findings(name, text):
    lines = text.splitlines()
    if len(lines) > LONGEST:
        yield f"{name}: {len(lines)} lines; at most {LONGEST}"
    for number, line in enumerate(lines, 1):
        for what, pattern in FORBIDDEN.items():
            for found in pattern.findall(line):
                yield f"{name}:{number}: {what} {found}; move it to a page of docs/evidence"


class Pages(unittest.TestCase):
    def test_user_pages_are_short_and_hold_no_commit_card_or_date(self):
        pages = user_pages(ROOT)
        self.assertGreater(len(pages), 10)
        wrong = [finding for page in pages for finding in findings(page.relative_to(ROOT), page.read_text(encoding="utf-8"))]
        self.assertEqual(wrong, [])

    def test_what_is_forbidden_is_found(self):
        for line, what in {"commit 36e9ec795218": "commit hash", "at fa191c7": "commit hash", "on GPU-59b384ea": "card id",
                           "2026-11-25T11:05:19": "date"}.items():
            self.assertIn(f"page:1: {what}", "\n".join(findings("page", line)))
        self.assertEqual(list(findings("page", "\n" * 151)), ["page: 151 lines; at most 150"])

    def test_numbers_and_words_are_allowed(self):
        self.assertEqual(list(findings("page", "10000000 rows, 1773.46 %, decade, CUDA 13.0, sm_90a, a 1234567-line file")), [])


if __name__ == "__main__":
    unittest.main()
