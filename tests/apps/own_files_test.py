# SPDX-License-Identifier: BSD-3-Clause
"""A run writes over none of its own files: names and links that make one file of two, and its input among its outputs."""

import os
import unittest

from program import POISSON, TRANSPORT, ProgramTest


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

    def test_fields_of_one_record_are_no_series_of_another(self):
        fields = ("--set", "output.fields=true", "--set", "output.file=w_series.h5")
        for verb in ("run", "check"):
            self.refused(2, verb, self.deck, *fields, says=["output.file", "series in time of w.h5"])
        self.expect(0, "run", self.deck, "--set", "output.file=w_series.h5", "--set", "output.fields=false")

    def test_links_that_make_one_file_of_two(self):
        os.symlink("w.h5", self.folder / "w.vtkhdf")
        self.refused(7, "run", self.deck, "--set", "output.file=w.h5", says=["w.h5 and w.vtkhdf lead to the same file"])
        self.refused(7, "run", self.deck, "--force", "--set", "output.file=w.h5", says="w.vtkhdf")
        self.expect(0, "run", self.deck, "--set", "output.file=w.h5", "--set", "output.fields=false")


class Outputs(ProgramTest):
    """Of verbs that write two files or more: each is refused before any work, also where --force allows to replace them."""

    def refused(self, *words, says):
        before = sorted(os.listdir(self.folder))
        for more in ((), ("--force",)):
            done = self.expect(7, *words, *more, says=says)
            self.assertEqual(done.stdout, "")
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_compare(self):
        deck = self.write("a.ini", POISSON.format(cells=6))
        words = ("compare", deck, "--preconditioners", "jacobi,none", "--reps", "1", "-o", "c.h5", "--json")
        os.symlink("c.h5", self.folder / "link.json")
        os.symlink(".", self.folder / "here")
        self.refused(*words, "c.h5", says="c.h5 names two files that compare writes; name another file with --json or -o")
        for name in ("./c.h5", "link.json", "here/c.h5", str(self.folder / "c.h5")):
            self.refused(*words, name, says=f"c.h5 and {name} lead to the same file, ")
        for name in ("c.h5.part", "c.lock"):
            self.refused(*words, name, says=f"{name} names two files that compare writes")
        os.symlink("d.h5", self.folder / "link.h5")
        self.refused(*words[:-3], "-o", "link.h5", "--json", "d.lock", says="d.lock names two files")
        self.expect(0, *words, "c.json")
        self.assertEqual(self.expect(0, "info", "c.h5", "--json").stdout[0], "{")

    def test_export(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        os.symlink("b.mtx", self.folder / "A.mtx")
        self.refused("export", deck, says=["A.mtx and ./b.mtx lead to the same file", "export writes both; remove the link"])
        self.expect(0, "export", deck, "-o", "other")

    def test_report(self):
        self.expect(0, "run", self.write("a.ini", POISSON.format(cells=4)))
        os.symlink("page.html", self.folder / "page.png")
        self.refused("report", "a.h5", "-o", "page.html", "--png", "page.png",
                     says="page.html and page.png lead to the same file")

    def test_study_collect(self):
        study = self.write("s.ini", POISSON.format(cells=4) + "[sweep]\npreconditioner.name = jacobi, none\n")
        self.expect(0, "study", "run", study, "--quiet")
        os.symlink("t.h5", self.folder / "t.csv")
        self.refused("study", "collect", study, "-o", "t", says="t.h5 and t.csv lead to the same file")


class Input(ProgramTest):
    def setUp(self):
        super().setUp()
        plain = TRANSPORT.format(cells=6, steps=2)
        self.expect(0, "run", self.write("a.ini", plain))
        self.deck = self.write("b.ini", plain + "[initial]\nfile = a.h5\n")

    def refused(self, *words):
        before = (self.folder / "a.h5").read_bytes()
        for more in ((), ("--fresh",), ("--force",)):
            self.expect(7, "run", *words, *more, says=["initial.file", "would write over it", "output.file"])
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)

    def test_the_record_in_which_a_run_begins(self):
        self.expect(0, "run", self.deck)
        self.refused(self.deck, "--set", "output.file=a.h5")
        self.expect(7, "check", self.deck, "--set", "output.file=a.h5", says="initial.file")

    def test_other_names_of_it(self):
        os.symlink(self.folder / "a.h5", self.folder / "link.h5")
        os.link(self.folder / "a.h5", self.folder / "hard.h5")
        for name in ("./a.h5", str(self.folder / "a.h5"), "link.h5", "hard.h5"):
            with self.subTest(name):
                self.refused(self.deck, "--set", "output.file=" + name)
                self.refused(self.deck, "--set", "output.file=a.h5", "--set", "initial.file=" + name)

    def test_a_checkpoint_that_the_run_would_remove(self):
        os.rename(self.folder / "a.h5", self.folder / "c.0.checkpoint")
        self.expect(7, "run", self.deck, "--set", "output.file=c.h5", "--set", "initial.file=c.0.checkpoint",
                    says=["initial.file", "or remove it"])

    def test_a_run_that_goes_on_does_not_read_it(self):
        self.expect(75, "run", self.deck, stop_at=5)
        os.replace(self.folder / "b.h5", self.folder / "a.h5")
        self.expect(0, "run", self.deck, "--restart", "--set", "output.file=a.h5", says="was preempted")


if __name__ == "__main__":
    unittest.main()
