# SPDX-License-Identifier: BSD-3-Clause
"""The resolved deck of a record gives the same bits when it is run, for every deck in inputs/ on a small grid."""

import re
import subprocess
import sys
import unittest

from program import INPUTS, POISSON, ProgramTest

# A few points an axis, iterations and steps are enough, since runs must agree but need not converge.
POINTS = 6


class Again(ProgramTest):
    def smaller(self, deck):
        """--set options for a short run."""
        text = deck.read_text()
        small = ["--set", "solver.max_iterations=3", "--set", "output.fields=true"]
        if "[time]" in text and "end_time" not in text:
            small += ["--set", "time.steps=2"]
        cells = re.search(r"^cells\s*=\s*(.*?)\s*(;.*)?$", text, re.M)
        if cells and "matrix_market" not in text:
            counts = [min(int(float(word)), POINTS) for word in re.split(r"[ ,]+", cells.group(1).strip())]
            small += ["--set", "grid.cells=" + " ".join(map(str, counts))]
        return small

    def expect_the_same(self, record, code):
        """Runs the record's deck again, which ends with the same exit code and gives the bits of the record."""
        stem = record[:-3]
        again = self.run_program("run", record, "--quiet")
        self.assertEqual(again.returncode, code, again.stderr)
        self.expect(0, "diff", record, f"{stem}_again.h5", "--tolerance", "0")
        fields = self.folder / f"{stem}.vtkhdf"
        if fields.exists():
            self.assertEqual((self.folder / f"{stem}_again.vtkhdf").read_bytes(), fields.read_bytes())

    def test_every_deck(self):
        decks = [deck for deck in sorted(INPUTS.rglob("*.ini")) if "studies" not in deck.parts]
        self.assertGreater(len(decks), 40)
        for deck in decks:
            with self.subTest(deck.relative_to(INPUTS)):
                for path in self.folder.iterdir():
                    path.unlink()
                done = self.run_program("run", str(deck), "--quiet", "--set", "output.file=a.h5", *self.smaller(deck))
                if done.returncode == 9 and "GPU" in done.stderr:
                    continue
                self.assertTrue((self.folder / "a.h5").exists(), done.stderr)
                self.expect_the_same("a.h5", done.returncode)

    def test_studies(self):
        for deck in sorted((INPUTS / "studies").glob("*.ini")):
            with self.subTest(deck.name):
                text = re.sub(r"^(grid\.cells = ).*", r"\g<1>6, 8", deck.read_text(), flags=re.M)
                study = self.write(deck.name, text)
                done = self.run_program("run", study, "--case", "0", "--quiet")
                record = next((self.folder / deck.stem).glob("*.h5"), None)
                self.assertIsNotNone(record, done.stderr)
                relative = record.relative_to(self.folder)
                again = self.run_program("run", str(relative), "--quiet")
                self.assertEqual(again.returncode, done.returncode, again.stderr)
                self.expect(0, "diff", str(relative), record.stem + "_again.h5", "--tolerance", "0")

    def test_the_text_alone_is_a_deck(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[output]\nfile = b.h5\n[device]\nbackend = auto\n")
        self.expect(0, "run", deck)
        code = "import sys, h5py; print(h5py.File('b.h5')['deck/resolved'][()].decode(), end='')"
        done = subprocess.run(["/usr/bin/python3", "-c", code], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("no Python with h5py")
        for line in ("gpu ?= 0  ; default", "file = b.h5  ; a.ini:9", "rtol ?= 1e-8  ; default"):
            self.assertIn("\n" + line + "\n", done.stdout)
        text = self.write("c.ini", done.stdout)
        self.expect(0, "run", text, "--set", "output.file=c.h5")
        self.expect(0, "diff", "b.h5", "c.h5", "--tolerance", "0")

    def test_overrides_of_a_record(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(0, "run", deck)
        self.expect(0, "run", "a.h5", "--set", "solver.name=gmres", "--set", "preconditioner.name=jacobi",
                    "--set", "output.file=b.h5")
        self.expect(0, "run", deck, "--set", "solver.name=gmres", "--set", "preconditioner.name=jacobi",
                    "--set", "output.file=c.h5")
        self.expect(0, "diff", "b.h5", "c.h5", "--tolerance", "0")
        self.expect(0, "check", "a.h5", "--quiet")
        self.expect(0, "compare", "a.h5", "--preconditioners", "jacobi", "--reps", "1", "--quiet")
        self.expect(7, "run", "a_compare.h5", says="a_compare.h5")

    def test_the_record_itself_is_kept(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[output]\nfile = a.h5\n")
        self.expect(0, "run", deck)
        self.assertEqual(self.record("a.h5")["exit_code"], 0)
        before = (self.folder / "a.h5").read_bytes()
        self.expect(0, "run", "a.h5")
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)
        self.expect(0, "diff", "a.h5", "a_again.h5", "--tolerance", "0")

    def test_files_of_a_deck_are_found(self):
        folder = self.folder / "decks"
        folder.mkdir()
        (folder / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 2\n")
        (folder / "a.ini").write_text("[problem]\nname = matrix_market\nmatrix = m.mtx\n[grid]\ncells = 3 1 1\n")
        self.expect(0, "run", "decks/a.ini")
        (self.folder / "elsewhere").mkdir()
        (self.folder / "a.h5").rename(self.folder / "elsewhere/a.h5")
        self.expect(0, "run", "elsewhere/a.h5")
        self.expect(0, "diff", "elsewhere/a.h5", "a_again.h5", "--tolerance", "0")


if __name__ == "__main__":
    unittest.main()
