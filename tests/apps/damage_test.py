# SPDX-License-Identifier: BSD-3-Clause
"""Damaged records: a message that names the file, whatever reads it."""

import json
import unittest

from program import POISSON, ProgramTest


def flipped(whole, at):
    damaged = bytearray(whole)
    damaged[at] ^= 1 << at % 8
    return bytes(damaged)


class Damage(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", POISSON.format(cells=6))
        self.expect(0, "run", self.deck)
        self.whole = (self.folder / "a.h5").read_bytes()

    def refused(self, *words):
        done = self.expect(7, *words, says="b.h5: damaged: ")
        self.assertNotIn("HDF5-DIAG", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_flips_and_cuts_are_told_by_every_verb(self):
        places = [0, 30, 600, len(self.whole) // 2, len(self.whole) - 1]
        for content in [flipped(self.whole, at) for at in places] + [self.whole[:-1], self.whole[:700], self.whole + b"x"]:
            (self.folder / "b.h5").write_bytes(content)
            for words in (("info", "b.h5"), ("diff", "a.h5", "b.h5"), ("run", "b.h5")):
                if words[0] != "run" or content[0] == self.whole[0]:
                    self.refused(*words)

    def test_it_is_not_written_over(self):
        (self.folder / "a.h5").write_bytes(flipped(self.whole, 900))
        self.expect(7, "run", self.deck, says=["a.h5 exists", "damaged", "--fresh"])
        self.expect(0, "run", self.deck, "--fresh")

    def test_a_comparison(self):
        self.expect(0, "compare", self.deck, "--preconditioners", "jacobi,none", "--reps", "1", "-o", "c.h5")
        whole = (self.folder / "c.h5").read_bytes()
        (self.folder / "b.h5").write_bytes(flipped(whole, len(whole) // 2))
        self.refused("info", "b.h5")

    def test_a_study_goes_on_without_a_damaged_case(self):
        study = self.write("s.ini", POISSON.format(cells=6) + "[sweep]\nsolver.rtol = 1e-3, 1e-5\n")
        self.expect(0, "study", "run", study)
        case = self.folder / "s/rtol=1e-3.h5"
        case.write_bytes(flipped(case.read_bytes(), 1000))
        states = json.loads(self.run_program("study", "status", study, "--json").stdout)
        self.assertIn("damaged", json.dumps(states))
        self.run_program("study", "collect", study)
        self.assertTrue((self.folder / "s.h5").exists())

    def test_a_file_without_a_seal_is_read_aside(self):
        image = self.whole[512:]
        (self.folder / "b.h5").write_bytes(image)
        self.expect(0, "info", "b.h5")
        at = image.index(b"SNOD")  # a node of HDF5's directories: flipped, HDF5 must refuse it
        (self.folder / "b.h5").write_bytes(image[:at] + b"XNOD" + image[at + 4 :])
        done = self.expect(7, "info", "b.h5", says="b.h5: ")
        self.assertNotIn("H5", done.stderr.replace("b.h5", "").replace("HDF5", ""))

    def test_its_inner_words_stand_in_the_log(self):
        image = bytearray(self.whole[512:])
        image[8] ^= 0xff  # version of the superblock
        (self.folder / "b.h5").write_bytes(image)
        self.assertNotIn("HDF5 says", self.expect(7, "info", "b.h5").stderr)


if __name__ == "__main__":
    unittest.main()
