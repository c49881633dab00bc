# SPDX-License-Identifier: BSD-3-Clause
"""Files of general matrices and their right-hand sides: formats, block sizes, and what is refused."""

import gzip
import io
import json
import struct
import tarfile
import unittest

from matrices import DECK, MatrixTest, coordinate, tridiagonal


class MatrixFiles(MatrixTest):
    def petsc_file(self, name, entries, rows):
        """Writes a matrix as PETSc does."""
        by_row = [sorted(e for e in entries if e[0] == row) for row in range(1, rows + 1)]
        data = struct.pack(">4i", 1211216, rows, rows, len(entries)) + struct.pack(f">{rows}i", *map(len, by_row))
        data += struct.pack(f">{len(entries)}i", *(j - 1 for row in by_row for _, j, _ in row))
        data += struct.pack(f">{len(entries)}d", *(v for row in by_row for _, _, v in row))
        (self.folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    def test_the_block_size_beside_a_petsc_file(self):
        """PETSc writes that of BAIJ beside the matrix, whose entries may leave gaps in blocks."""
        self.petsc_file("a.petsc", tridiagonal(40), 40)
        self.petsc_file("b.petsc.gz", tridiagonal(40), 40)
        deck = self.write("a.ini", DECK.format(file="a.petsc"))

        def block(*words, code=0, says=()):
            done = self.expect(code, "run", deck, *words, "--json", "--force", says=says)
            return json.loads(done.stdout)["dof"] if code == 0 else None

        alone = block()
        self.assertEqual(alone, 1)
        for text, size in (("-matload_block_size 2\n", 2), ("# made\r\n-prec_matload_block_size 4  # of the matrix\r\n", 4),
                           ("-vecload_block_size 5\n", 1), ("", 1)):
            for name in ("a.petsc", "b.petsc"):
                self.write(f"{name}.info", text)
            self.assertEqual(block(), size)
            self.assertEqual(block("--set", "problem.file=b.petsc.gz"), size)
        self.write("a.petsc.info", "\n-matload_block_size 2\n")
        self.assertEqual(block("--set", "problem.block=2"), 2)
        block("--set", "problem.block=4", code=2,
              says="problem.block: 4 is not the block size that a.petsc.info:2 gives, 2; use auto, or remove that file")
        self.expect(0, "check", deck, "--header")
        self.expect(2, "check", deck, "--header", "--set", "problem.block=4", says="that a.petsc.info:2 gives, 2")
        for size, says in (("3", "a.petsc.info:1: -matload_block_size 3 does not divide the 40 rows of a.petsc"),
                           ("0", "a.petsc.info:1: '0' of -matload_block_size is no block size"),
                           ("3000000000", "is no block size; write an integer >= 1 and <= 2147483647, or remove the file"),
                           ("two", "'two' of -matload_block_size"), ("", "'' of -matload_block_size"), ("2.0", "'2.0' of")):
            self.write("a.petsc.info", f"-matload_block_size {size}\n")
            block(code=7, says=says)

    def test_gzip_and_petsc_files(self):
        entries = tridiagonal(40)
        (self.folder / "a.mtx.gz").write_bytes(gzip.compress(coordinate(40, entries).encode()))
        self.petsc_file("a.petsc", entries, 40)
        counts = {self.solve(file)["iterations"] for file in ("a.mtx.gz", "a.petsc")}
        self.assertEqual(counts, {1})  # ILU(0) of a tridiagonal matrix is exact

    def test_a_second_matrix_is_refused_and_other_objects_are_told(self):
        self.petsc_file("a.petsc", tridiagonal(40), 40)
        matrix = (self.folder / "a.petsc").read_bytes()
        vector = struct.pack(">2i", 1211214, 40) + struct.pack(">40d", *range(40))
        deck = self.write("a.ini", DECK.format(file="a.petsc"))
        for between in (b"", vector):
            (self.folder / "a.petsc").write_bytes(matrix + between + matrix)
            for verb in ("run", "export"):
                self.expect(7, verb, deck, says="a.petsc: PETSc binary file: it holds a second matrix, and nothing says which of them is meant")
            (self.folder / "a.petsc").write_bytes(matrix + between + struct.pack(">3i", 1211218, 1, 0))
            self.expect(0, "run", deck, "--force", says="of class 1211218, follows the matrix; it is not read, nor is what follows it")
        (self.folder / "a.petsc").write_bytes(matrix + vector)
        self.assertNotIn("follows the matrix", self.expect(0, "run", deck, "--force").stderr)

    def test_integers_that_no_double_holds_are_told_once(self):
        """The nearest double is taken, whose last digits are others."""
        values = {(2, 2): 2 ** 53, (3, 3): 2 ** 53 + 1, (4, 3): -(10 ** 30 + 1), (4, 4): 3 * 2 ** 60, (5, 5): 2 ** 63 - 1, (1, 1): 7}
        text = coordinate(5, [(i, j, v) for (i, j), v in sorted(values.items())]).replace(" real ", " integer ")
        self.write("a.mtx", text)
        line = 1 + text.split("\n").index(f"3 3 {2 ** 53 + 1}")
        for deck in (DECK.format(file="a.mtx"), "[problem]\nname = matrix_market\nmatrix = a.mtx\n[grid]\ncells = 5 1 1\n[solver]\nname = gmres\n"):
            said = self.expect(0, "run", self.write("a.ini", deck), "--quiet", "--force").stderr
            self.assertIn(f"a.mtx:{line}: row 3, column 3: no number of double precision is 9007199254740993, and 9007199254740992 is "
                          "taken (one of 3 such entries)", said)
            self.assertEqual(said.count("double precision is"), 1, said)
        self.assertIn("a.mtx:", self.expect(0, "check", "a.ini").stderr)
        for exact in (text.replace(str(2 ** 53 + 1), str(2 ** 53 + 2)).replace(str(10 ** 30 + 1), str(2 ** 80)).replace(str(2 ** 63 - 1), "+0018"),
                      text.replace(" integer ", " real ")):
            self.write("a.mtx", exact)
            self.assertNotIn("double precision is", self.expect(0, "run", "a.ini", "--quiet", "--force").stderr)

    def test_right_hand_sides(self):
        self.write("a.mtx", coordinate(30, tridiagonal(30)))
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n30 1\n" + "2\n" * 30)
        norms = {kind: self.solve("a.mtx", f"problem.right_hand_side={kind}")["solves"][0]["b_norm"]
                 for kind in ("xones", "ones", "random", "b.mtx")}
        self.assertAlmostEqual(norms["ones"], 30 ** 0.5)
        self.assertAlmostEqual(norms["b.mtx"], 2 * 30 ** 0.5)
        self.assertAlmostEqual(norms["xones"], (28 * 4 + 2 * 9) ** 0.5)
        self.assertLess(norms["random"], 30 ** 0.5)

    def test_wrong_right_hand_sides(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n29 1\n" + "2\n" * 29)
        self.refused(7, coordinate(30, tridiagonal(30)), "b.mtx holds 29 values, and the matrix has 30 rows",
                     "problem.right_hand_side=b.mtx")
        self.refused(7, coordinate(30, tridiagonal(30)), "without a file b is xones, ones or random",
                     "problem.right_hand_side=one")

    def test_bad_files_are_named_with_the_reason(self):
        twice = coordinate(5, tridiagonal(5) + [(2, 3, 1.0)])
        first, again = (at for at, line in enumerate(twice.split("\n"), 1) if line.startswith("2 3 "))
        self.refused(7, twice, [f"a.mtx:{again}: row 2, column 3 is given already in line {first}", "repeated_entries"])
        spread = twice.replace("\n2 3 1.0", "\n% a remark\n\n2 3 1.0")
        self.refused(7, spread, f"a.mtx:{again + 2}: row 2, column 3 is given already in line {first}")
        lower = [(i, j, 4.0 if i == j else -1.0) for i, j, _ in tridiagonal(5) if i >= j]
        triangle = coordinate(5, lower + [(4, 3, 1.0)], "symmetric").split("\n")
        first, again = (at for at, line in enumerate(triangle, 1) if line.startswith("4 3 "))
        self.refused(7, "\n".join(triangle), f"a.mtx:{again}: row 4, column 3 is given already in line {first}")
        self.refused(7, coordinate(5, tridiagonal(4), columns=4), "the matrix is 5 x 4; a square one is needed")
        self.refused(7, coordinate(0, []), "the matrix has no rows, so there is nothing to solve")
        self.refused(7, coordinate(3, [(1, 1, 1.0), (2, 5, 1.0), (3, 3, 1.0)]), "a.mtx:4: column 5 is outside 1..3")
        self.refused(2, coordinate(5, tridiagonal(5)), "5 rows are no multiple of 2", "problem.block=2")
        no_diagonal = [e for e in tridiagonal(5) if e[:2] != (1, 1)]
        self.refused(5, coordinate(5, no_diagonal), "the pivot at row 1 is zero")
        self.refused(2, coordinate(5, tridiagonal(5)), "takes matrices on a grid alone", "preconditioner.name=fgbilu")
        self.refused(2, coordinate(5, tridiagonal(5)), "has no grid", "matrix.format=structured")
        self.refused(2, coordinate(5, tridiagonal(5)), "has plain rows and no layout", "device.layout=natural")

    def test_files_as_strangers_write_them(self):
        """Right ones are solved, whatever their layout; others are named with line, entry and what to do."""
        head, entries = "%%MatrixMarket matrix coordinate real general\n", "2 2 4\n1 1 5\n2 1 -1\n1 2 -1\n2 2 4\n"
        for name, text in {"upper case": head.upper() + entries, "lower case": head.lower() + entries,
                           "CRLF": (head + entries).replace("\n", "\r\n"), "no banner": entries, "mark": "\ufeff" + head + entries,
                           "no end of line": (head + entries)[:-1], "tabs": head + entries.replace(" ", "\t"),
                           "comments": head + "%\n\n" + entries.replace("\n", "\n% a remark\n  \n"),
                           "any order": head + "2 2 3\n2 2 4\n2 1 -1\n1 1 5\n", "zeros": head + "2 2 3\n1 1 5\n1 2 0\n2 2 4\n",
                           "Fortran": head + "2 2 2\n1 1 5.0D0\n2 2 4.d+00\n", "Fortran's long exponents": head + "2 2 2\n1 1 0.5+001\n2 2 -4-001\n",
                           "unsigned": head.replace("real", "unsigned-integer") + "2 2 2\n1 1 5\n2 2 4\n", "one": head + "1 1 1\n1 1 3.5\n",
                           "integers": head.replace("real", "integer") + entries,
                           "pattern": head.replace("real general", "pattern symmetric") + "2 2 2\n1 1\n2 2\n"}.items():
            with self.subTest(name):
                (self.folder / "a.mtx").write_text(text, encoding="utf-8", newline="")
                self.assertLess(self.solve("a.mtx")["errors"]["max"], 1e-14)
        upper = "2 2 3\n1 1 5\n1 2 -1\n2 2 4\n"
        for text, says in ((head + "2 2 2\n0 1 5\n2 2 4\n", "a.mtx:3: row 0 is outside 1..2; rows and columns are counted from 1"),
                           (head + "2 2 2\n1 1 5\n2 0 4\n", "a.mtx:4: column 0 is outside 1..2; rows and columns are counted"),
                           (head.replace("general", "symmetric") + upper, ["a.mtx:4: an entry above the diagonal",
                                                                           "exchange the rows and columns of its entries"]),
                           (head.replace("general", "skew-symmetric") + "2 2 1\n1 2 1\n", ["a.mtx:3: ", "and their signs"]),
                           (head + entries + "the end\n", "a.mtx:7: there are more than the 4 entries announced"),
                           (head + entries.replace("-1", "NaN"), "a.mtx:4: expected a finite number, got 'NaN'"),
                           (head + "2 2 2\n1 1 5\n2 2 1e999\n", "a.mtx:4: expected a finite number, got '1e999'")):
            self.refused(7, text, says)
        harwell_boeing = "A title".ljust(72) + "KEY\n" + "4 1 1 2".rjust(56) + "\nRUA".ljust(15) + "2 2 4 0".rjust(56) + "\n"
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(self.folder / "a.mtx", "a/a.mtx")
        tar = packed.getvalue()
        for data, says in ((b"\x89HDF\r\n\x1a\n....", "is an HDF5 file, such as MATLAB writes since version 7.3"),
                           (b"MATLAB 5.0 MAT-file, Platform", "is a MAT-file of MATLAB"), (b"PK\x03\x04..", "is a zip archive"),
                           (b"\x93NUMPY\x01", "is a file of NumPy"), (b"BZh91AY", "is compressed by bzip2"),
                           (b"MATLAB 7.3 MAT-file, Platform".ljust(512) + b"\x89HDF", "is a MAT-file of MATLAB"),
                           (harwell_boeing.encode(), "is a Harwell-Boeing or Rutherford-Boeing file"),
                           (tar, "is a tar archive"), (gzip.compress(tar), "is a tar archive"),
                           ((head + entries).encode("utf-16"), "is text in UTF-16"), ((head + entries).encode("utf-16-be"), "is text in UTF-16"),
                           (struct.pack("<4i", 1211216, 2, 2, 4), "is a file of PETSc with little-endian numbers"),
                           (b"\xfd7zXZ\x00..", "is compressed by xz"), (b"\x28\xb5\x2f\xfd..", "is compressed by zstd")):
            (self.folder / "a.mtx").write_bytes(data)
            self.write("a.ini", DECK.format(file="a.mtx"))
            remedy = next((what for word, what in (("compressed", "expand it"), ("tar archive", "tar xf FILE"), ("UTF-16", "iconv"),
                                                   ("little-endian", "with its own viewer")) if word in says),
                          "write its matrix as Matrix Market")
            for words in (("run",), ("check",), ("check", "--header"), ("compare", "--auto"), ("export",)):
                self.expect(7, words[0], "a.ini", *words[1:], says=["a.ini:", "a.mtx " + says, remedy])


if __name__ == "__main__":
    unittest.main()
