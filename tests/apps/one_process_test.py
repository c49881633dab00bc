# SPDX-License-Identifier: BSD-3-Clause
"""Command lines one after the other in one process: they print and end as those of processes of their own."""

import os
import re
import unittest

from one_process import OneProcess
from program import POISSON, ProgramTest

PROCESS = os.environ["IN_ONE_PROCESS"]


class InOneProcess(ProgramTest):
    def setUp(self):
        super().setUp()
        self.process = OneProcess(PROCESS)
        self.addCleanup(self.process.end)

    def both(self, *words):
        """What a process of its own returns, after the comparison with what the shared one does."""
        plain = self.run_program(*words)
        shared = self.process.run(words, self.folder, timeout=60)
        self.assertEqual(shared.returncode, plain.returncode, shared.stderr)
        for one, other in ((plain.stdout, shared.stdout), (plain.stderr, shared.stderr)):
            self.assertEqual(*(re.sub(r"\d+(\.\d+)?(e-\d+)?", "N", text) for text in (one, other)), words)
        return plain

    def test_results_refusals_and_logs_are_those_of_processes_of_their_own(self):
        deck = self.write("a.ini", POISSON.format(cells="7 5 9"))
        self.assertEqual(self.both("run", deck, "--backend", "cpu", "--quiet", "--fresh").returncode, 0)
        own = self.process.process
        self.both("run", deck, "--backend", "cpu", "--fresh")
        self.assertEqual(self.both("run", deck, "--set", "solver.nam=cg").returncode, 2)
        self.assertEqual(self.both("run", deck, "--set", "solver.name=cgg", "--json").returncode, 2)
        few = ("--set", "solver.max_iterations=1")
        self.assertEqual(self.both("run", deck, "--backend", "cpu", "--fresh", *few).returncode, 3)
        self.both("run", deck, "--backend", "cpu", "--fresh", "--ranks", "3", "--verbose")
        self.both("check", deck, "--backend", "cpu")
        self.both("diff", "a.h5", "a.h5")
        self.assertIs(self.process.process, own)
        self.assertIsNone(own.poll())

    def test_records_have_the_same_bits(self):
        deck = self.write("a.ini", POISSON.format(cells="7 5 9"))
        words = ("run", deck, "--backend", "cpu", "--quiet", "--set", "output.fields=true", "--set")
        self.expect(0, *words, "output.file=own.h5")
        for turn in range(2):
            self.assertEqual(self.process.run((*words, f"output.file=shared{turn}.h5"), self.folder, timeout=60).returncode, 0)
            self.expect(0, "diff", "own.h5", f"shared{turn}.h5", "--tolerance", "0")

    def test_a_failure_is_the_last_of_its_process(self):
        deck = self.write("a.ini", POISSON.format(cells="7 5 9"))
        self.process.run(("check", deck), self.folder, timeout=60)
        first = self.process.process
        failed = self.process.run(("run", deck, "--backend", "cpu", "--set", "output.file=no/folder.h5"), self.folder, timeout=60)
        self.assertEqual(failed.returncode, 7, failed.stderr)
        self.assertIn("the folder no does not exist", failed.stderr)
        self.assertIsNotNone(first.poll())
        self.assertEqual(self.process.run(("check", deck), self.folder, timeout=60).returncode, 0)

    def test_a_signal_is_its_exit_code(self):
        deck = self.write("a.ini", POISSON.format(cells="7 5 9"))
        self.process.run(("check", deck), self.folder, timeout=60)
        self.process.process.kill()
        self.process.process.wait()
        self.assertEqual(self.process.run(("check", deck), self.folder, timeout=60).returncode, -9)
        self.assertEqual(self.process.run(("check", deck), self.folder, timeout=60).returncode, 0)


if __name__ == "__main__":
    unittest.main()
