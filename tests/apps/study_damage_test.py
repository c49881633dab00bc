# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with one case of a study, its files or its end, stays with that case and is told."""

import os
import resource
import unittest

import study_test
from program import POISSON, TRANSPORT

SWEEP = "[sweep]\nsolver.rtol = 1e-2, 1e-3, 1e-4\n"
NAMES = ["rtol=1e-2", "rtol=1e-3", "rtol=1e-4"]
FOREIGN = b"my notes, not a record\n"


class Damaged(study_test.StudyTest):
    """Records that are damaged are kept, and take the place of no whole one; files of others stay as they are."""

    def setUp(self):
        super().setUp()
        self.text = self.study(SWEEP, POISSON.format(cells=6))

    def damage(self, name):
        """Cuts off the end of a record; returns what is left of it."""
        path = self.file_of(name)
        path.write_bytes(path.read_bytes()[:-100])
        return path.read_bytes()

    def before(self, name=NAMES[1]):
        return self.file_of(name, "before.h5")

    def edit(self):
        """Edits the study after it has run; returns the record of the second case from before that."""
        self.expect(0, "study", "run", self.text)
        earlier = self.file_of(NAMES[1]).read_bytes()
        self.text = self.study(SWEEP, POISSON.format(cells=7))
        return earlier

    def test_files_of_others_leave_one_case_out(self):
        (self.folder / "s").mkdir()
        record, before = self.file_of(NAMES[1]), self.before()
        for path in (record, before):
            path.write_bytes(FOREIGN)
        done = self.expect(8, "study", "run", self.text, "--jobs", "2",
                           says=[f"error: case {NAMES[1]} is not computed again: s/{NAMES[1]}.h5 exists and is no record of a run that "
                                 "this program wrote, so it is left as it is; move it away",
                                 "2 cases to run", "1 left out", "[2/2]"])
        self.assertIn("s.ini: 2 of 3 cases done, 1 damaged; hyperplane study status s.ini says what became of each, hyperplane "
                      "study collect s.ini makes one file of the results\n", done.stdout)
        self.assertEqual((record.read_bytes(), before.read_bytes()), (FOREIGN, FOREIGN))
        self.assertEqual(list(self.status(self.text).values()), ["done", "damaged", "done"])
        # A quiet launcher says it, too; a job array leaves the case out in the same way.
        self.expect(8, "study", "run", self.text, "--quiet", says=f"s/{NAMES[1]}.h5 exists")
        self.expect(8, "study", "submit", self.text, "--print", says=[f"s/{NAMES[1]}.h5 exists", "1 left out"])
        # With --force it goes to the name of damaged records. The name of earlier ones is not needed.
        self.expect(0, "study", "run", self.text, "--force", says=f"it is now s/{NAMES[1]}.damaged.h5")
        self.assertEqual(self.file_of(NAMES[1], "damaged.h5").read_bytes(), FOREIGN)
        self.assertEqual(before.read_bytes(), FOREIGN)

    def test_what_is_no_file_leaves_one_case_out(self):
        (self.folder / "s").mkdir()
        self.file_of(NAMES[0]).mkdir()
        os.mkfifo(self.file_of(NAMES[1]))
        self.file_of(NAMES[2]).symlink_to(self.file_of(NAMES[2]).name)  # a link to itself
        self.expect(8, "study", "run", self.text, says=[f"s/{NAMES[0]}.h5 is a folder", f"s/{NAMES[1]}.h5 is a FIFO", "[1/1] failed"])
        self.assertTrue(self.file_of(NAMES[0]).is_dir() and self.file_of(NAMES[1]).is_fifo())

    def test_a_file_with_the_name_of_a_log_leaves_one_case_out(self):
        (self.folder / "s").mkdir()
        log = self.file_of(NAMES[0], "log")
        log.write_bytes(FOREIGN)
        done = self.expect(8, "study", "run", self.text, says=["[1/3] not begun", f"s/{NAMES[0]}.log exists", "[3/3] done"])
        self.assertIn("2 of 3 cases done, 1 waiting;", done.stdout)
        self.expect(8, "study", "run", self.text, "--quiet", says=f"warning: s.ini: case {NAMES[0]}: not begun, s/{NAMES[0]}.log exists")
        self.assertEqual(log.read_bytes(), FOREIGN)

    def test_a_file_with_the_name_of_a_log_leaves_a_record_in_its_place(self):
        self.text = self.study("max_iterations = 2\n" + SWEEP, POISSON.format(cells=6))
        self.expect(8, "study", "run", self.text)
        states = self.status(self.text)
        self.assertEqual(states[NAMES[2]], "failed")
        record, log = self.file_of(NAMES[2]), self.file_of(NAMES[2], "log")
        earlier = record.read_bytes()
        log.write_bytes(FOREIGN)
        self.expect(8, "study", "run", self.text, "--failed",
                    says=[f"error: case {NAMES[2]} is not computed again: s/{NAMES[2]}.log exists", "1 left out"])
        self.assertEqual((record.read_bytes(), log.read_bytes()), (earlier, FOREIGN))
        self.assertFalse(self.before(NAMES[2]).exists())
        self.assertEqual(self.status(self.text), states)
        # A task of a job array writes another log.
        self.assertNotIn("computed again", self.expect(0, "study", "submit", self.text, "--print", "--failed").stderr)
        self.expect(8, "study", "run", self.text, "--failed", "--force", says="[3/3] failed")
        self.assertEqual(self.before(NAMES[2]).read_bytes(), earlier)

    def test_a_damaged_record_replaces_no_earlier_one(self):
        earlier = self.edit()
        self.expect(0, "study", "run", self.text, "--edited")
        self.assertEqual(self.before().read_bytes(), earlier)
        for _ in range(2):  # the second one takes the place of the first
            damaged = self.damage(NAMES[1])
            told = self.expect(0, "study", "run", self.text, says=["1 case to run", f"it is now s/{NAMES[1]}.damaged.h5"]).stderr
            self.assertIn(f"warning: s/{NAMES[1]}.h5: damaged: ", told)
            self.assertEqual(self.file_of(NAMES[1], "damaged.h5").read_bytes(), damaged)
            self.assertEqual(self.before().read_bytes(), earlier)
        self.assertEqual(set(self.status(self.text).values()), {"done"})
        self.damage(NAMES[1])
        self.file_of(NAMES[1], "damaged.h5").write_bytes(FOREIGN)
        self.expect(8, "study", "run", self.text, says=f"s/{NAMES[1]}.damaged.h5 exists")
        self.assertEqual(self.file_of(NAMES[1], "damaged.h5").read_bytes(), FOREIGN)

    def test_an_earlier_record_has_no_room(self):
        earlier = self.edit()
        self.before().write_bytes(FOREIGN)
        self.expect(8, "study", "run", self.text, "--edited", says=[f"s/{NAMES[1]}.before.h5 exists", "2 cases to run"])
        self.assertEqual((self.file_of(NAMES[1]).read_bytes(), self.before().read_bytes()), (earlier, FOREIGN))
        self.assertEqual(list(self.status(self.text).values()), ["done", "edited", "done"])


class Endings(study_test.StudyTest):
    """What `study run` says at the end."""

    def test_cases_that_are_killed(self):
        study = self.study("[sweep]\nproblem.viscosity = 1e-3, 2e-3\n", TRANSPORT.format(cells=32, steps=100000))
        done = self.run_program("study", "run", study, "--quiet", "--jobs", "2",  # the kernel ends a case after two seconds of work
                                limit=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 3)))
        self.assertEqual(done.returncode, 8, done.stderr)
        for viscosity in ("1e-3", "2e-3"):
            self.assertIn(f"warning: s.ini: case viscosity={viscosity}: killed, by signal 24 (", done.stderr)
        self.assertEqual(done.stdout, "s.ini: 0 of 2 cases done, 2 killed; hyperplane study resume s.ini goes on, hyperplane study "
                         "status s.ini says what became of each\n")

    def test_cases_that_fail(self):
        study = self.study("max_iterations = 9\n[sweep]\nsolver.rtol = 1e-1, 1e-9\n", POISSON.format(cells=16))
        done = self.expect(8, "study", "run", study, "--quiet",
                           says="warning: s.ini: case rtol=1e-9: failed, exit code 3: max_iterations")
        self.assertNotIn("rtol=1e-1:", done.stderr)
        self.assertEqual(done.stdout, "s.ini: 1 of 2 cases done, 1 failed; hyperplane study status s.ini says what became of each, "
                         "hyperplane study collect s.ini makes one file of the results\n")


if __name__ == "__main__":
    unittest.main()
