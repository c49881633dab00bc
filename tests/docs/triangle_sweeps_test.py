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
    def columns(self, cells, form="general"):
        """The columns of the table: residuals after 0, 1, ... sweeps by name."""
        if subprocess.run([PYTHON, "-c", "import matplotlib"], capture_output=True).returncode:
            self.skipTest("no Python with matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            words = [ROOT / "docs/results/triangle_sweeps.sh", PROGRAM, ROOT / "inputs/paper/lap.ini", folder,
                     f"matrix.format={form}", f"grid.cells={cells}"]
            done = subprocess.run(words, capture_output=True, text=True,
                                  env={**os.environ, "PYTHON": PYTHON, "THREADS": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((pathlib.Path(folder) / "sweeps.png").exists())
        lines = done.stdout.rstrip("\n").split("\n")
        names, *rows, self.levels = lines[next(at for at, line in enumerate(lines) if line.strip().startswith("sweeps ")):]
        names = names.split()[1:]
        self.assertEqual(names, ["L", "L_forward", "L_backward", "U", "U_forward", "U_backward"])
        found = {name: [float(row[7 + 11 * at:18 + 11 * at]) for row in rows if row[7 + 11 * at:18 + 11 * at].strip()]
                 for at, name in enumerate(names)}
        for name, values in found.items():
            self.assertEqual(values[0], 1.0)
            self.assertEqual(values, sorted(values, reverse=True), name)
            self.assertLess(values[-1], 1e-12, name)
        return found

    def test_as_many_sweeps_as_levels_are_exact(self):
        """4 x 4 x 4 points with 27 neighbours have levels x + 2 y + 4 z, 22 of them. They are one block."""
        found = self.columns(4)
        self.assertEqual(self.levels, "levels: L 22, U 22")
        for triangle in "LU":
            self.assertLessEqual(len(found[triangle]) - 1, 22)
            self.assertGreater(len(found[triangle]), 10)
            for order in ("_forward", "_backward"):
                self.assertEqual(len(found[triangle + order]), len(found[triangle]))

    def test_blocks_in_the_order_of_dependencies_need_fewer_sweeps(self):
        """9 x 9 x 9 points have six blocks. On one thread, against the order a block reads nothing new."""
        general, structured = self.columns(9), self.columns(9, "structured")
        for found in (general, structured):
            for with_it, against in (("L_forward", "L_backward"), ("U_backward", "U_forward")):
                self.assertLess(found[with_it][3], 0.5 * found[against][3])
                self.assertLess(len(found[with_it]), len(found[against]))
        for name, values in general.items():
            for sweep, residual in enumerate(values[:10]):
                self.assertAlmostEqual(structured[name][sweep] / residual, 1.0, delta=0.02, msg=f"{name} {sweep}")


if __name__ == "__main__":
    unittest.main()
