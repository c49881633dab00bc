# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a study's records is its own, and a record that it has no room for is told."""

import json
import shutil
import unittest

import study_test
from program import POISSON, small_files


class StudyFolders(study_test.StudyTest):
    def test_a_file_with_the_name_of_the_folder_is_told_at_once(self):
        itself = self.study("[sweep]\ngrid.cells = 8, 12\n", name="cases")
        named = self.study("[sweep]\ngrid.cells = 8, 12\nfolder = cases\n")
        for verb in ("plan", "run", "submit", "status", "collect"):
            self.expect(2, "study", verb, itself,
                        says="cases:8: sweep.folder, which is not set, names the folder of the records cases, which is this deck "
                             "itself; set sweep.folder to the name of a folder, or call the deck cases.ini")
            self.expect(2, "study", verb, named,
                        says="s.ini:10: sweep.folder names the folder of the records cases, which is a file; set sweep.folder to "
                             "the name of a folder")

    def test_another_study_may_not_share_the_folder(self):
        first, second = (self.study(f"[sweep]\ngrid.cells = {cells}\nfolder = both\n", name=name)
                         for name, cells in (("a.ini", "8, 10"), ("b.ini", "9, 11")))
        self.expect(0, "study", "run", first)
        self.expect(0, "study", "collect", first)
        before = (self.folder / "both.h5").read_bytes()
        told = ["b.ini:10: sweep.folder names the folder both, which holds records of another study, ", str(self.folder / "a.ini"),
                "set sweep.folder to a folder of its own or, if this deck takes the place of that one, remove that one"]
        verbs = ("plan", "run", "resume", "submit", "status", "collect")
        for words in (*(("study", verb, second) for verb in verbs), ("study", "status", second, "--json"), ("run", second, "--case", "0")):
            done = self.expect(2, *words, says=told)
            if "--json" not in words:  # which prints the message there, too
                self.assertEqual(done.stdout, "")
        self.assertEqual((self.folder / "both.h5").read_bytes(), before)
        # It is the same study by another name of its file, and after that was renamed.
        self.expect(0, "study", "resume", str(self.folder / first), says="2 done before")
        (self.folder / first).rename(self.folder / "c.ini")
        self.expect(0, "study", "resume", "c.ini", says="2 done before")
        # So is a copy of everything, beside the original.
        copy = self.folder / "copy"
        copy.mkdir()
        shutil.copytree(self.folder / "both", copy / "both")
        (self.folder / "c.ini").rename(self.folder / first)
        shutil.copy(self.folder / first, copy)
        self.folder = copy
        self.expect(0, "study", "resume", first, says="2 done before")

    def test_a_record_that_could_not_be_written_is_told(self):
        """A disk has room for none, or for what a case writes when it begins, but not for its record."""
        study = self.study("[sweep]\nsolver.rtol = 1e-2, 1e-10\n", POISSON.format(cells=28))
        self.expect(0, "study", "run", study)
        size = self.file_of("rtol=1e-10").stat().st_size
        self.assertGreater(size, self.file_of("rtol=1e-2").stat().st_size + 1000)
        for limit, written in ((4096, ""), (size - 500, "rtol=1e-2")):
            shutil.rmtree(self.folder / "s")
            done = self.run_program("study", "run", study, limit=small_files(limit))
            self.assertEqual(done.returncode, 8, done.stderr)
            self.assertIn("exit code 7, see s/rtol=1e-10.log", done.stderr)
            cases = json.loads(self.expect(8, "study", "status", study, "--json").stdout)["cases"]
            for case in cases:
                if case["name"] == written:
                    self.assertEqual(case["status"], "done")
                    continue
                self.assertEqual(case["status"], "unwritten")
                self.assertRegex(case["detail"], rf"^s/{case['name']}.h5(.part)?: cannot write .*: File too large; .*; begins anew$")
            self.expect(0, "study", "run", study, says="1 case to run, 1 done before" if written else "2 cases to run, 0 done before")
            self.assertEqual(set(self.status(study).values()), {"done"})


if __name__ == "__main__":
    unittest.main()
