# SPDX-License-Identifier: BSD-3-Clause
"""A program that was built without MPI: ranks are threads, and processes that were started together are told what is missing."""

import os
import subprocess
import unittest

from program import POISSON, ProgramTest

PROGRAM = os.environ["HYPERPLANE_WITHOUT_MPI"]


class WithoutMpi(ProgramTest):
    def started(self, *words, processes="1"):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, text=True, capture_output=True, timeout=120,
                              env={**os.environ, "OMPI_COMM_WORLD_SIZE": processes})

    def test_ranks_are_threads(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        for ranks in ("1", "2"):
            done = self.started("run", deck, "--backend", "cpu", "--quiet", "--ranks", ranks, "--set", f"output.file={ranks}.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.started("diff", "1.h5", "2.h5", "--tolerance", "0").returncode, 0)

    def test_processes_that_were_started_together_are_told_what_is_missing(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        for verb in ("run", "compare", "selftest", "check"):
            with self.subTest(verb):
                done = self.started(verb, deck, processes="3")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                for part in ("3 processes were started together", "built without MPI", "libopenmpi-dev", "--ranks 3"):
                    self.assertIn(part, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["deck.ini"])


if __name__ == "__main__":
    unittest.main()
