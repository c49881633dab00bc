# SPDX-License-Identifier: BSD-3-Clause
"""The report's files: those that are no records, or that cannot be written, and what it says of them.

Run by ctest with a Python that has h5py and matplotlib; leaves with code 77, skipped, without them.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from report_case import ReportTest, SCRIPT

import h5py


class Files(ReportTest):
    def test_existing_files_are_left_to_the_program(self):
        record = self.record("a.h5")
        Path("page.html").write_text("mine", encoding="utf-8")
        for words in (("-o", "page.html"), ("--png", "page.html")):
            done = self.report(record, *words)
            self.assertEqual(done.returncode, 7)
            self.assertIn("page.html: the file exists", done.stderr)
        self.assertEqual(Path("page.html").read_text(encoding="utf-8"), "mine")

    def test_missing_file(self):
        self.assertIn("none.h5: no such file", self.refused(self.path("none.h5")))

    def test_text_file(self):
        with open(self.path("a.h5"), "w", encoding="utf-8") as file:
            file.write("[problem]\nname = poisson\n")
        self.assertIn("not an HDF5 file", self.refused(self.path("a.h5")))

    def test_foreign_hdf5_file(self):
        with h5py.File(self.path("a.h5"), "w") as file:
            file["x"] = 1.0
        self.assertIn("no record of hyperplane", self.refused(self.path("a.h5")))

    def test_truncated_anywhere(self):
        with open(self.record("a.h5"), "rb") as file:
            whole = file.read()
        for part in (0, 7, 100, len(whole) // 2, len(whole) - 1):
            with open(self.path("cut.h5"), "wb") as file:
                file.write(whole[:part])
            self.assertIn("cut.h5: cannot be read", self.refused(self.path("cut.h5")))

    def test_missing_part_is_named(self):
        with h5py.File(self.record("a.h5"), "a") as file:
            del file["history/rel_res_true"]
        self.assertIn("rel_res_true", self.refused(self.path("a.h5")))

    def test_later_schema(self):
        self.assertIn("schema 3", self.refused(self.record("a.h5", schema=3)))

    def test_one_bad_file_among_good_ones(self):
        self.assertIn("none.h5", self.refused(self.record("a.h5"), self.path("none.h5")))

    def test_folder_that_cannot_be_written(self):
        done = self.report(self.record("a.h5"), "-o", self.path("no/such/page.html"))
        self.assertEqual(done.returncode, 7)
        self.assertIn("page.html", done.stderr)

    def test_as_a_script(self):
        arguments = [sys.executable, str(SCRIPT), "-o", "page.html"]
        self.assertEqual(subprocess.run([*arguments, self.record("a.h5")], capture_output=True).returncode, 0)
        done = subprocess.run([*arguments, "none.h5"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stderr, "hyperplane report: none.h5: no such file\n")

    def test_usage(self):
        self.assertEqual(self.report().returncode, 2)

    def test_matplotlib_says_nothing_of_its_own_folder(self):
        arguments = [sys.executable, str(SCRIPT), "-o", self.path("page.html"), self.record("a.h5")]
        done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, "MPLCONFIGDIR": "/proc/none"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("atplotlib", done.stderr)


if __name__ == "__main__":
    unittest.main()
