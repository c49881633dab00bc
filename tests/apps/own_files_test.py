# SPDX-License-Identifier: BSD-3-Clause
"""A run writes over none of its own files, whatever names or links its outputs have."""

import os
import unittest

from program import POISSON, ProgramTest


class Names(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", POISSON.format(cells=6) + "[output]\nfields = true\n")

    def refused(self, code, *words, says):
        before = sorted(os.listdir(self.folder))
        done = self.expect(code, *words, says=says)
        self.assertNotIn("iteration", done.stdout + done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_the_name_of_a_file_beside_a_record_is_no_record_s(self):
        for name in ("w.vtkhdf", "w.lock", "w.0.checkpoint", "w.1.checkpoint", "w.profile.json", "w.h5.part", "b/w.lock"):
            for verb in ("run", "check"):
                with self.subTest(name=name, verb=verb):
                    self.refused(2, verb, self.deck, "--set", "output.file=" + name, says=["output.file", name, "ends in .h5"])
            self.refused(2, "run", self.deck, "--force", "--set", "output.file=" + name, says="output.file")
        self.refused(2, "run", self.write("b.ini", POISSON.format(cells=6) + "[output]\nfile = w.lock\n"), says="b.ini:9")
        self.refused(2, "compare", self.deck, "--preconditioners", "jacobi", "-o", "w.lock", says="w.lock")

    def test_links_that_make_one_file_of_two(self):
        os.symlink("w.h5", self.folder / "w.vtkhdf")
        self.refused(7, "run", self.deck, "--set", "output.file=w.h5", says=["w.h5 and w.vtkhdf lead to the same file"])
        self.refused(7, "run", self.deck, "--force", "--set", "output.file=w.h5", says="w.vtkhdf")
        self.expect(0, "run", self.deck, "--set", "output.file=w.h5", "--set", "output.fields=false")


if __name__ == "__main__":
    unittest.main()
