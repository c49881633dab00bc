# SPDX-License-Identifier: BSD-3-Clause
"""The files beside a record belong to it alone, whatever two records are called."""

import json
import time
import unittest

from program import TRANSPORT, ProgramTest, signal

NAMES = ["case", "case.h5", "case.1", "case.2", "case.1.h5", "case.h5.h5", "case.", "case..h5", ".h5", ".h5.h5", "case.H5"]


def stem(name):
    """What the names of the files beside a record begin with."""
    return name[:-3] if name.endswith(".h5") and name != ".h5" and not name.endswith("..h5") else name + "."


class Companions(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", TRANSPORT.format(cells=6, steps=6) +
                               "[output]\ncheckpoint_every = 1\nfields = true\nfields_every = 3\nprofile = true\n")

    def run_as(self, name, *words, code=0, **options):
        done = self.run_program("run", self.deck, "--quiet", "--set", "output.file=" + name, *words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def test_a_run_touches_no_file_of_another_record(self):
        for name in NAMES:
            before = self.files()
            self.run_as(name, code=-signal.SIGKILL, stop_at=f"40:{int(signal.SIGKILL)}")
            after = self.files()
            with self.subTest(name):
                self.assertEqual({file: after.get(file) for file in before}, before)
                self.assertEqual({file for file in after if file not in before and "_series" not in file},
                                 {name + ".part", stem(name) + ".lock", stem(name) + ".0.checkpoint",
                                  stem(name) + ".1.checkpoint"})
        for name in NAMES:
            before = self.files()
            self.assertTrue(json.loads(self.run_as(name, "--restart", "--json").stdout)["resumed"])
            after = self.files()
            gone = {name + ".part", stem(name) + ".lock", stem(name) + ".0.checkpoint", stem(name) + ".1.checkpoint"}
            with self.subTest(name):
                self.assertEqual(set(before) - set(after), gone)
                changed = {file for file in after if before.get(file) != after[file] and "_series" not in file}
                self.assertEqual(changed, {name, stem(name) + ".vtkhdf", stem(name) + ".profile.json"})
                self.assertTrue({stem(name) + "_series.vtkhdf", stem(name) + "_series/step_00000006.vtkhdf"} <= set(after))

    def test_two_records_at_once(self):
        self.write("a.ini", TRANSPORT.format(cells=24, steps=200))
        first = self.start("run", self.deck, "--quiet", "--set", "output.file=case.1")
        while not (self.folder / "case.1.part").exists() and first.poll() is None:
            time.sleep(0.001)
        self.run_as("case.2", "--set", "time.steps=1")
        self.assertIsNone(first.poll(), "the first run was over before the second one")
        first.kill()
        first.communicate()


if __name__ == "__main__":
    unittest.main()
