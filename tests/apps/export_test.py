# SPDX-License-Identifier: BSD-3-Clause
"""`export`: files of either format are read again without loss, and factors are those of the matrix, in its order."""

import gzip
import struct
import unittest

from matrices import SYSTEM, array, coordinate, values_of
from ordering_test import unsymmetric
from program import POISSON, ProgramTest, small_files

ROWS = 60


def entries_of(path):
    """{(row, column): value} of a Matrix Market file, counted from 0."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("%")]
    return {(int(i) - 1, int(j) - 1): float(v) for i, j, v in lines[1:]}


def petsc_entries_of(path):
    """The same of PETSc's binary file with integers of 4 bytes."""
    data = path.read_bytes()
    kind, rows, columns, count = struct.unpack_from(">4i", data)
    assert (kind, rows) == (1211216, columns)
    lengths = struct.unpack_from(f">{rows}i", data, 16)
    where = struct.unpack_from(f">{count}i", data, 16 + 4 * rows)
    values = struct.unpack_from(f">{count}d", data, 16 + 4 * rows + 4 * count)
    assert len(data) == 16 + 4 * rows + 12 * count
    row_of = [row for row in range(rows) for _ in range(lengths[row])]
    return dict(zip(zip(row_of, where), values))


def product(*factors):
    """The product of sparse matrices."""
    result = factors[0]
    for right in factors[1:]:
        by_row = {}
        for (i, j), v in right.items():
            by_row.setdefault(i, []).append((j, v))
        left, result = result, {}
        for (i, k), v in left.items():
            for j, w in by_row.get(k, ()):
                result[i, j] = result.get((i, j), 0.0) + v * w
    return result


class Export(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.mtx", coordinate(ROWS, unsymmetric(ROWS, 3)))
        self.write("b.mtx", array([0.5 + row % 5 for row in range(ROWS)]))
        self.deck = self.write("a.ini", SYSTEM)

    def export(self, folder, *words):
        settings = [word for setting in words if "=" in setting for word in ("--set", setting)]
        switches = [word for setting in words if "=" not in setting for word in setting.split()]
        return self.expect(0, "export", self.deck, "-o", folder, *settings, *switches).stdout

    def factors(self, folder, block):
        """L, D and U, of which it is checked that they are triangular; and A in their order."""
        here = self.folder / folder
        lower, diagonal, upper = (entries_of(here / name) for name in ("L.mtx", "D.mtx", "U.mtx"))
        self.assertEqual({(i, j): v for (i, j), v in lower.items() if i // block <= j // block},
                         {(i, i): 1.0 for i in range(ROWS)})
        self.assertEqual({(i, j): v for (i, j), v in upper.items() if i // block >= j // block},
                         {(i, i): 1.0 for i in range(ROWS)})
        self.assertEqual(set(diagonal), {(i, j) for i in range(ROWS) for j in range(ROWS) if i // block == j // block})
        place = list(range(ROWS))
        if (here / "order.mtx").exists():
            for at, row in enumerate(values_of(here / "order.mtx")):
                for part in range(block):
                    place[(int(row) - 1) * block + part] = at * block + part
        a = {(place[i], place[j]): v for (i, j), v in entries_of(here / "A.mtx").items()}
        return a, lower, diagonal, upper

    def test_ilu0_is_the_matrix_on_its_pattern(self):
        for block in (1, 3):
            for order in ("natural", "rcm", "random", "multicolor"):
                for scaling in ("none", "row", "symmetric", "matching"):
                    with self.subTest(block=block, order=order, scaling=scaling):
                        folder = f"{block}{order}{scaling}"
                        self.export(folder, f"problem.block={block}", f"ordering.name={order}",
                                    f"scaling.name={scaling}", "--factors")
                        a, *factors = self.factors(folder, block)
                        self.assertEqual((self.folder / folder / "order.mtx").exists(), order != "natural")
                        m = product(*factors)
                        for at, value in a.items():
                            self.assertAlmostEqual(m[at], value, delta=1e-12 * 20)

    def test_petsc_files_hold_the_same(self):
        words = ("ordering.name=rcm", "preconditioner.fill_level=1", "--factors")
        said = self.export("text", *words)
        self.assertIn("L.mtx, D.mtx and U.mtx: M = L D U, rows and columns in the order of order.mtx", said)
        said = self.export("binary", *words, "--format petsc")
        self.assertIn("L.petsc, D.petsc and U.petsc: M = L D U, rows and columns in the order of order.petsc", said)
        for name in ("A", "L", "D", "U"):
            self.assertEqual(petsc_entries_of(self.folder / "binary" / f"{name}.petsc"),
                             entries_of(self.folder / "text" / f"{name}.mtx"), name)
        for name in ("b", "x", "order"):
            data = (self.folder / "binary" / f"{name}.petsc").read_bytes()
            kind, size = struct.unpack_from(">2i", data)
            self.assertEqual(kind, 1211214)
            self.assertEqual(list(struct.unpack_from(f">{size}d", data, 8)), values_of(self.folder / "text" / f"{name}.mtx"))

    def test_either_format_is_read_again_without_loss(self):
        first = self.run_json(0, "run", self.deck)
        self.export("text")
        for form in ("mtx", "mtx.gz", "petsc"):
            with self.subTest(form):
                self.export(form, f"--format {form}")
                files = (f"problem.file={form}/A.{form}", f"problem.right_hand_side={form}/b.{form}")
                words = [word for one in files for word in ("--set", one)]
                again = self.run_json(0, "run", self.deck, "--set", f"output.file={form}.h5", *words)
                self.assertEqual(again["iterations"], first["iterations"])
                self.export(f"{form}again", *files)
                for name in ("A.mtx", "b.mtx", "x.mtx"):
                    self.assertEqual((self.folder / f"{form}again" / name).read_text(),
                                     (self.folder / "text" / name).read_text(), name)

    def test_compressed_files_hold_the_bytes_of_plain_ones(self):
        self.export("plain", "preconditioner.name=sync_free_ilu", "--factors")
        for _ in range(2):  # the second time its own files are replaced
            self.export("small", "preconditioner.name=sync_free_ilu", "--factors --format mtx.gz")
        for name in "AbxLDU":
            compressed = (self.folder / "small" / f"{name}.mtx.gz").read_bytes()
            self.assertEqual(gzip.decompress(compressed), (self.folder / "plain" / f"{name}.mtx").read_bytes())
            self.assertIn(b"made by hyperplane", compressed[:200])
        self.assertEqual({path.name for path in (self.folder / "small").iterdir()}, {f"{name}.mtx.gz" for name in "AbxLDU"})
        (self.folder / "small" / "b.mtx.gz").write_bytes(gzip.compress(b"of somebody else"))
        self.expect(7, "export", self.deck, "-o", "small", "--format", "mtx.gz", says="b.mtx.gz")

    def test_what_cannot_be_exported_is_refused(self):
        exported = {"sync_free_ilu", "jacobi_sweeps", "par_ilu", "par_ilut", "subdomain_ildu0"}
        done = 0
        for name in self.registered("preconditioners"):
            words = ("export", self.deck, "--set", f"preconditioner.name={name}", "-o", name, "--factors")
            with self.subTest(name):
                if self.run_program("check", *words[1:4]).returncode != 0:
                    continue  # it takes no general matrices, or needs a GPU
                if name in exported:
                    self.expect(0, *words)
                    self.assertTrue((self.folder / name / "U.mtx").exists())
                    done += 1
                else:
                    self.expect(2, *words, says=f"preconditioner.name = {name} has no factors L, D and U; these have them: jacobi_sweeps,")
                    self.expect(2, *words, "--set", "scaling.name=row", says="has no factors")
                    self.assertFalse((self.folder / name).exists())
        self.assertEqual(done, len(exported))
        grid = self.write("grid.ini", POISSON.format(cells=6))
        self.expect(2, "export", grid, "--factors", says="add --set matrix.format=general")
        self.expect(2, "export", self.deck, "--format", "csv", says="--format csv: mtx (Matrix Market), mtx.gz")

    def test_files_are_replaced_together_or_not_at_all(self):
        """L is larger than A, and the disk takes A alone."""
        words = ("export", self.deck, "-o", "out", "--set", "preconditioner.fill_level=3", "--factors")
        self.expect(0, *words)
        here = self.folder / "out"
        before = {path.name: path.read_bytes() for path in here.iterdir()}
        self.assertGreater(len(before["L.mtx"]), 1.2 * len(before["A.mtx"]))
        self.write("a.mtx", coordinate(ROWS, unsymmetric(ROWS, 4)))
        done = self.expect(7, *words, limit=small_files(int(1.1 * len(before["A.mtx"]))), says="L.mtx: cannot write")
        self.assertEqual(done.stdout, "")
        self.assertEqual({path.name: path.read_bytes() for path in here.iterdir()}, before)
        self.expect(0, *words)
        self.assertTrue(all((here / name).read_bytes() != old for name, old in before.items() if name != "b.mtx"))

    def test_a_petsc_file_is_written_over_by_force_alone(self):
        self.export("out", "--format petsc")
        before = (self.folder / "out" / "A.petsc").read_bytes()
        self.expect(7, "export", self.deck, "-o", "out", "--format", "petsc", says="--force")
        self.assertEqual((self.folder / "out" / "A.petsc").read_bytes(), before)
        self.export("out", "--format petsc", "--force")


if __name__ == "__main__":
    unittest.main()
