# SPDX-License-Identifier: BSD-3-Clause
"""docs/results/triangle_sweeps.sh: residuals of Jacobi sweeps on both triangles of a small system."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from document import PROGRAM, ROOT

PYTHON = "/usr/bin/python3"


class TriangleSweeps(unittest.TestCase):
    def test_as_many_sweeps_as_levels_are_exact(self):
        """4 x 4 x 4 points with 27 neighbours have levels x + 2 y + 4 z, 22 of them. The first residual is that of x = 0."""
        if subprocess.run([PYTHON, "-c", "import h5py, matplotlib"], capture_output=True).returncode:
            self.skipTest("no Python with h5py and matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            words = [ROOT / "docs/results/triangle_sweeps.sh", PROGRAM, ROOT / "inputs/paper/lap.ini", folder,
                     "matrix.format=general", "grid.cells=4"]
            done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHON": PYTHON})
            self.assertEqual(done.returncode, 0, done.stderr)
            table = done.stdout.split("\n")
            rows = [line.split() for line in table if line.strip() and line.split()[0].isdigit()]
            self.assertTrue((pathlib.Path(folder) / "L.png").exists())
        self.assertEqual(rows[0], ["0", "1.00e+00", "1.00e+00"])
        for column in (1, 2):
            values = [float(row[column]) for row in rows if len(row) > column]
            self.assertEqual(values, sorted(values, reverse=True))
            self.assertLess(values[-1], 1e-12)
            self.assertLessEqual(len(values) - 1, 22)
            self.assertGreater(len(values), 10)


if __name__ == "__main__":
    unittest.main()
