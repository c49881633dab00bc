# SPDX-License-Identifier: BSD-3-Clause
"""docs/glossary.md: a word has one row, or one for each context in brackets behind it."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if re.match(r"\| (?!word \|)", line)]


def words_of(rows):
    """{word: its contexts, "" where it has none} of the rows' first cells, which may have several words."""
    found = {}
    for words, *_ in rows:
        context = re.search(r"\(([^)]*)\)", words)
        for word in re.sub(r" *\([^)]*\)", "", words).split(", "):
            found.setdefault(word.strip(), []).append(context[1] if context else "")
    return found


class Glossary(unittest.TestCase):
    def test_words_with_several_rows_name_their_contexts(self):
        self.assertGreater(len(ROWS), 100)
        for word, contexts in words_of(ROWS).items():
            self.assertEqual(len(contexts), len(set(contexts)), f"{word} has several rows for the same context")
        twice = words_of([["step (in time)", ""], ["step", ""], ["step, stage", ""]])
        self.assertEqual(twice, {"step": ["in time", "", ""], "stage": [""]})

    def test_every_word_has_a_meaning(self):
        for row in ROWS:
            self.assertTrue(len(row) == 2 and all(row), row)


if __name__ == "__main__":
    unittest.main()
