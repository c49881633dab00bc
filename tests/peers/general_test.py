# SPDX-License-Identifier: BSD-3-Clause
"""sync_free_ilu takes the iterations that PETSc's ILU(k) takes on general matrices: those of docs/results/general.md, and
where petsc_general is built those that PETSc takes now."""

import os
import pathlib
import re
import tempfile
import unittest

from compare_general import count_of_ours, peer, petsc_binary, read, solve_of_petsc
from general_families import FAMILIES, matrix_market

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/results/general.md"
SHARED = pathlib.Path(os.environ.get("HYPERPLANE_SHARED_DATA", ""))
PROGRAM = os.environ["HYPERPLANE"]
ROW = re.compile(r"\| `([\w.]+)` \| [^|]+ \| (\d+) \| (\d+) \| (\d) \| (\d) \| (\d+) \| (\d+) \|")
FILES = ("orsreg_1.mtx", "nos7.mtx")


class General(unittest.TestCase):
    def setUp(self):
        self.told = {}  # rows of the table by system
        for name, *numbers in ROW.findall(DOCUMENT.read_text(encoding="utf-8")):
            self.told.setdefault(name, []).append([int(number) for number in numbers])

    def compare(self, name, entries, count):
        """`count(folder, level, block, there, here)` for each row of a system, whose files are in the folder."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "a.mtx").write_text(matrix_market(entries), encoding="ascii")
            (folder / "a.petsc").write_bytes(petsc_binary(entries))
            for rows, told, block, level, there, here in self.told[name]:
                with self.subTest(name, block=block, level=level):
                    self.assertEqual((rows, told), (1 + max(i for i, _ in entries), len(entries)))
                    count(folder, level, block, there, here)

    def expect_ours(self, folder, level, block, _, here):
        self.assertEqual(count_of_ours(PROGRAM, folder, level, block), here)

    def expect_petsc(self, folder, level, block, there, _):
        found = solve_of_petsc(peer(PROGRAM), folder, level, block)
        self.assertGreater(found["reason"], 0)
        self.assertEqual(found["iterations"], there)

    def files(self):
        found = [SHARED / name for name in FILES if (SHARED / name).exists()]
        return [(file.name, read(file)) for file in found]

    def test_the_table_has_every_system(self):
        self.assertEqual(set(self.told), {*FAMILIES, *FILES})

    def test_every_family_takes_the_iterations_of_the_table(self):
        for name, family in FAMILIES.items():
            self.assertTrue(all(there == here for *_, there, here in self.told[name]), name)
            self.compare(name, family(), self.expect_ours)

    def test_the_files_take_them_too(self):
        if not self.files():
            self.skipTest("orsreg_1.mtx and nos7.mtx are not in HYPERPLANE_SHARED_DATA")
        for name, entries in self.files():
            self.compare(name, entries, self.expect_ours)

    @unittest.skipUnless(peer(PROGRAM), "petsc_general is not built (needs petsc-dev)")
    def test_petsc_takes_them_too(self):
        for name, entries in [*((name, family()) for name, family in FAMILIES.items()), *self.files()]:
            self.compare(name, entries, self.expect_petsc)


class Reading(unittest.TestCase):
    def entries_of(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".mtx", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            return read(file.name)

    def test_a_triangle_without_a_banner_is_half_of_a_symmetric_matrix(self):
        whole = {(0, 0): 4.0, (1, 0): -1.0, (0, 1): -1.0, (1, 1): 3.0}
        self.assertEqual(self.entries_of("2 2 3", "1 1 4", "2 1 -1", "2 2 3"), whole)
        self.assertEqual(self.entries_of("2 2 4", "1 1 4", "2 1 -1", "1 2 -1", "2 2 3"), whole)

    def test_a_banner_tells(self):
        triangle = {(0, 0): 4.0, (1, 0): -1.0}
        banner = "%%MatrixMarket matrix coordinate real "
        self.assertEqual(self.entries_of(banner + "general", "2 2 2", "1 1 4", "2 1 -1"), triangle)
        self.assertEqual(self.entries_of(banner + "symmetric", "2 2 2", "1 1 4", "2 1 -1"), {**triangle, (0, 1): -1.0})


if __name__ == "__main__":
    unittest.main()
