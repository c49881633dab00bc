# SPDX-License-Identifier: BSD-3-Clause
"""sync_free_ilu takes the iterations that PETSc's ILU(k) takes on general matrices: those of docs/results/general.md, and
where petsc4py is installed those that PETSc takes now."""

import os
import pathlib
import re
import tempfile
import unittest

from compare_general import count_of_ours, count_of_petsc
from general_families import FAMILIES, matrix_market

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/results/general.md"
ROW = re.compile(r"\| `(\w+)` \| [^|]+ \| \d+ \| \d+ \| (\d) \| (\d) \| (\d+) \| (\d+) \|")


class General(unittest.TestCase):
    def setUp(self):
        self.told = {}
        for name, block, level, there, here in ROW.findall(DOCUMENT.read_text(encoding="utf-8")):
            self.told[name, int(block), int(level)] = int(there), int(here)

    def test_every_family_takes_the_iterations_of_the_table(self):
        self.assertEqual({name for name, _, _ in self.told}, set(FAMILIES))
        for name, family in FAMILIES.items():
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                (folder / "a.mtx").write_text(matrix_market(family()), encoding="ascii")
                for (told, block, level), (there, here) in self.told.items():
                    if told == name:
                        with self.subTest(name, block=block, level=level):
                            self.assertEqual(here, there)
                            self.assertEqual(count_of_ours(os.environ["HYPERPLANE"], folder, level, block), here)

    def test_petsc_takes_them_too(self):
        try:
            from petsc4py import PETSc
        except ImportError:
            self.skipTest("petsc4py is not there")
        for name, family in FAMILIES.items():
            entries = family()
            for (told, block, level), (there, _) in self.told.items():
                if told == name:
                    with self.subTest(name, block=block, level=level):
                        self.assertEqual(count_of_petsc(PETSc, entries, level, block), there)


if __name__ == "__main__":
    unittest.main()
