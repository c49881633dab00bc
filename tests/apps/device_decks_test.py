# SPDX-License-Identifier: BSD-3-Clause
"""Decks on a GPU: each ends as its [expect] says, as the tests deck.* find on a CPU."""

import pathlib
import sys
import unittest

from device_test import why_no_gpu
from program import ProgramTest

INPUTS = pathlib.Path(__file__).resolve().parents[2] / "inputs"


class Decks(ProgramTest):
    def ends_as_expected(self, decks):
        decks = [deck for deck in sorted(decks) if "[expect]" in deck.read_text()]
        self.assertTrue(decks)
        for deck in decks:
            with self.subTest(deck=str(deck.relative_to(INPUTS))):
                done = self.run_program("run", str(deck), "--backend", "cuda", "--quiet", "--force", "--set", "output.file=deck.h5")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_examples(self):
        self.ends_as_expected(INPUTS.glob("*.ini"))

    def test_papers(self):
        self.ends_as_expected(INPUTS.glob("paper/*.ini"))


if __name__ == "__main__":
    if why_no_gpu():
        print("skipped: cuda is", why_no_gpu())
        sys.exit(77)
    unittest.main()
