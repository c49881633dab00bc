# SPDX-License-Identifier: BSD-3-Clause
"""`check --header` predicts the memory of a run on a matrix from the head of its file."""

import gzip
import itertools
import json
import os
import struct
import unittest

from program import INPUTS, ProgramTest

DECK = "[problem]\nname = matrix\nfile = {file}\n[solver]\nname = gmres\n[preconditioner]\nname = {name}\n" \
       "[device]\nbackend = cpu\nthreads = {threads}\n"
# Each with the settings whose memory follows from the counts.
COUNTED = [("none",), ("jacobi",), ("jacobi", "preconditioner.l1=true"), ("sync_free_ilu",), ("jacobi_sweeps",),
           ("par_ilu",), ("sync_free_ilu", "scaling.name=symmetric"), ("none", "solver.name=bicgstab"),
           ("jacobi", "scaling.name=matching"), ("none", "scaling.name=matching", "solver.name=bicgstab"),
           ("sync_free_ilu", "preconditioner.storage=single", "solver.name=bicgstab"),
           ("sync_free_ilu", "preconditioner.storage=half_scaled"), ("par_ilu", "preconditioner.storage=half_scaled")]
# Those whose memory the pattern decides: the counts bound it.
BOUNDED = [("sync_free_ilu", "preconditioner.fill_level=2"),
           ("sync_free_ilu", "preconditioner.fill_level=2", "preconditioner.storage=half_scaled", "solver.name=bicgstab"),
           ("subdomain_ildu0", "preconditioner.part_rows=4", "preconditioner.storage=single", "solver.name=bicgstab"),
           ("jacobi_sweeps", "preconditioner.fill_level=1"),
           ("par_ilu", "preconditioner.fill_level=1"), ("par_ilut",), ("par_ilut", "preconditioner.rounds=0"),
           ("par_ilut", "preconditioner.fill_limit=3", "preconditioner.candidates=1", "preconditioner.sweeps=2"),
           ("subdomain_ildu0", "preconditioner.part_rows=4"), ("subdomain_ildu0", "scaling.name=symmetric"),
           ("subdomain_ildu0", "preconditioner.parts=consecutive", "preconditioner.part_rows=5",
            "preconditioner.triangular_solve=jacobi")]
# One of each preconditioner: for files that differ from others in nothing but the counts that their heads give.
OF_EACH_KIND = [("none",), ("jacobi",), ("sync_free_ilu",), ("jacobi_sweeps",), ("par_ilu",),
                ("sync_free_ilu", "preconditioner.fill_level=2"), ("par_ilut",), ("subdomain_ildu0", "preconditioner.part_rows=4")]
ORDERS = (("ordering.name=rcm",), ("ordering.name=nested_dissection",), ("ordering.name=multicolor",),
          ("ordering.name=multicolor", "ordering.colours=hashed"), ("ordering.name=random",))
OUT_OF_MEMORY, BAD_FILE = 6, 7


def coordinate(rows, entries, symmetry="general", banner=True):
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}"] if banner else []
    return "\n".join(lines + [f"{rows} {rows} {len(entries)}"] + [f"{i} {j} {v}" for i, j, v in entries]) + "\n"


def band(rows, width=2, dof=1):
    """A matrix in full blocks, with a strong diagonal."""
    return [(i, j, 9.0 * dof if i == j else -1.0) for i in range(1, rows + 1) for j in range(1, rows + 1)
            if abs((i - 1) // dof - (j - 1) // dof) < width]


def petsc(rows, entries):
    entries = sorted(entries)
    lengths = [sum(1 for i, _, _ in entries if i == row) for row in range(1, rows + 1)]
    return struct.pack(f">{4 + rows + len(entries)}i{len(entries)}d", 1211216, rows, rows, len(entries), *lengths,
                       *(j - 1 for _, j, _ in entries), *(v for _, _, v in entries))


class Header(ProgramTest):
    def check(self, file, name, *settings, threads=1, header=False):
        deck = self.write("a.ini", DECK.format(file=file, name=name, threads=threads))
        words = [word for setting in settings for word in ("--set", setting)]
        return self.run_json(0, "check", deck, *(["--header"] if header else []), *words)

    def both(self, file, name, *settings, threads=1):
        """What `check` predicts from the head of a file, and what it predicts when it has read the file."""
        return self.check(file, name, *settings, threads=threads, header=True), self.check(file, name, *settings, threads=threads)

    def assert_same(self, head, read, case):
        self.assertEqual(head["memory"]["by_label"], read["memory"]["by_label"], case)
        self.assertGreaterEqual(head["memory"]["most"], read["memory"]["most"], case)
        self.assertEqual(head["exact"], head["memory"]["most"] == head["memory"]["predicted"], case)

    def assert_bounds(self, head, read, case):
        self.assertLessEqual(head["memory"]["predicted"], read["memory"]["predicted"], case)
        self.assertGreaterEqual(head["memory"]["most"], read["memory"]["most"], case)

    def assert_equal(self, file, *settings, cases=COUNTED):
        for name, *more in cases:
            self.assert_same(*self.both(file, name, *settings, *more), (file, name, more))

    def assert_between(self, file, *settings, threads=1, cases=COUNTED + BOUNDED):
        for name, *more in cases:
            self.assert_bounds(*self.both(file, name, *settings, *more, threads=threads), (file, name, more))

    def for_each_order(self, matrices, cases, check):
        """Calls check(head, read, case) for each case with each order, on one of two matrices in turn, so that each matrix meets each
        case and each order, too. The name of an order is nothing to a head, whose answer is the same for all."""
        for turn, entries in enumerate(matrices):
            self.write("a.mtx", coordinate(max(i for i, _, _ in entries), entries))
            for number, (name, *more) in enumerate(cases):
                settings = ("problem.block=1", *more, "solver.name=bicgstab") if cases is COUNTED else (*more, "solver.name=bicgstab")
                head = self.check("a.mtx", name, *ORDERS[0], *settings, header=True)
                for order in ORDERS[(number + turn) % 2::2]:
                    check(head, self.check("a.mtx", name, *order, *settings), (turn, order, name, more))
            for order in ORDERS[1:]:
                other = self.check("a.mtx", name, *order, *settings, header=True)
                for key in ("memory", "exact", "block_sizes"):
                    self.assertEqual(other[key], head[key], order)

    def test_is_what_reading_the_file_gives(self):
        entries = band(31)
        lower = [(i, j, v) for i, j, v in entries if i >= j]
        for text in (coordinate(31, entries), coordinate(31, lower, "symmetric")):
            self.write("a.mtx", text)
            self.assert_equal("a.mtx")
            (self.folder / "a.mtx.gz").write_bytes(gzip.compress(text.encode()))
            self.assert_equal("a.mtx.gz", cases=OF_EACH_KIND[2:3])
        # Formats differ in where the counts stand, and the memory follows from these.
        (self.folder / "a.petsc").write_bytes(petsc(31, entries))
        self.assert_equal("a.petsc", cases=OF_EACH_KIND[:5])
        (self.folder / "a.petsc.gz").write_bytes(gzip.compress(petsc(31, entries)))
        self.assert_equal("a.petsc.gz", cases=OF_EACH_KIND[2:3])

    def test_given_blocks_without_gaps(self):
        self.write("a.mtx", coordinate(30, band(30, dof=3)))
        self.assert_equal("a.mtx", "problem.block=3")

    def test_orderings(self):
        """An order holds two numbers a row, and the second matrix, while there are two, may be more than the run."""
        wide = [(i, j, 40.0 if i == j else -1.0) for i in range(1, 401) for j in range(1, 401) if abs(i - j) < 9]
        slanted = [(i, j, v) for i, j, v in wide if j <= i or (i + j) % 7 == 0]
        self.for_each_order((band(31), wide), COUNTED, self.assert_same)
        self.assertIn("construction of the problem",
                      self.both("a.mtx", "none", "problem.block=1", "ordering.name=rcm", "solver.name=bicgstab")[0]["memory"]["by_label"])
        self.for_each_order((slanted, band(30, dof=3)), COUNTED + BOUNDED, self.assert_bounds)
        self.assertIn("to find the order takes more than the run",
                      self.both("a.mtx", "sync_free_ilu", "ordering.name=rcm")[0]["memory"]["most_if"])

    def test_jacobi_and_none_are_exact(self):
        self.write("a.mtx", coordinate(31, band(31)))
        for name in ("none", "jacobi"):
            self.assertTrue(self.both("a.mtx", name)[0]["exact"])

    def test_bounds(self):
        self.write("a.mtx", coordinate(30, band(30, dof=3)))
        self.assert_between("a.mtx")  # blocks of 3 are found
        self.assertIn(3, self.both("a.mtx", "none")[0]["block_sizes"])
        self.assert_between(INPUTS / "data" / "blocks.mtx")
        self.write("gaps.mtx", coordinate(30, band(30)))
        self.assert_between("gaps.mtx", "problem.block=5")
        without = [(i, j, v) for i, j, v in band(31) if i != j or i % 3]
        self.write("without.mtx", coordinate(31, without))
        self.assert_between("without.mtx")
        self.write("triangle.mtx", coordinate(31, [(i, j, v) for i, j, v in without if i >= j], "symmetric"))
        self.assert_between("triangle.mtx", cases=OF_EACH_KIND)
        self.write("skew.mtx", coordinate(31, [(i, j, 1.0) for i, j, _ in band(31) if i > j], "skew-symmetric"))
        self.assert_between("skew.mtx", cases=OF_EACH_KIND)
        self.write("bare.mtx", coordinate(31, band(31), banner=False))
        self.assert_between("bare.mtx", cases=OF_EACH_KIND)
        self.write("twice.mtx", coordinate(31, band(31) + band(31)))
        head, read = self.both("twice.mtx", "none", "problem.repeated_entries=add")
        self.assertGreaterEqual(head["memory"]["most"], read["memory"]["most"])
        self.assertFalse(head["exact"])

    def test_blocks_that_the_preconditioner_refuses_are_no_candidates(self):
        self.write("a.mtx", coordinate(30, band(30)))
        table = ("sync_free_ilu", "preconditioner.variant=table")
        self.assertGreater(len(self.both("a.mtx", "sync_free_ilu")[0]["block_sizes"]), 1)
        head, read = self.both("a.mtx", *table)
        self.assertEqual(head["block_sizes"], [1])
        self.assertEqual(head["memory"]["by_label"], read["memory"]["by_label"])
        self.write("blocks.mtx", coordinate(30, band(30, dof=3)))
        deck = self.write("a.ini", DECK.format(file="blocks.mtx", name="sync_free_ilu", threads=1))
        says = "preconditioner.variant: tables are for matrices of one unknown, and this one has blocks of 3"
        for header in ([], ["--header"]):
            self.expect(2, "check", deck, *header, "--set", table[1], "--set", "problem.block=3", says=says)
        for header in ([], ["--header"]):
            self.expect(2, "check", deck, *header, "--set", "preconditioner.solve=sync_free",
                        says="preconditioner.solve: threads of a CPU do not wait for single rows")
        says = "variant dag_vertex is a way in which threads of a GPU work"
        self.expect(2, "check", deck, "--header", "--set", "preconditioner.name=subdomain_ildu0", "--set",
                    "preconditioner.variant=dag_vertex", says=says)
        for header in ([], ["--header"]):
            self.expect(2, "check", deck, *header, "--set", "preconditioner.name=subdomain_ildu0", "--set",
                        "preconditioner.part_rows=20000", says="the most that fit a GPU's shared memory")

    def test_more_entries_than_tables_number(self):
        entries = 2**32
        head = f"%%MatrixMarket matrix coordinate real general\n{10**6} {10**6} {entries}\n" + 2**20 * "\n"
        file = self.write("a.mtx", head)
        os.truncate(self.folder / file, 6 * entries + len(head))  # a file without data on the disk
        deck = self.write("a.ini", DECK.format(file="a.mtx", name="sync_free_ilu", threads=1))
        self.expect(2, "check", deck, "--header", "--set", "preconditioner.variant=table", "--set", "problem.block=1",
                    says="preconditioner.variant: tables number up to 4294967295 entries; set variant = auto or search")

    def test_bounds_with_threads(self):
        rows = 40000
        self.write("a.mtx", coordinate(rows, [(i, i, 2.0) for i in range(1, rows + 1)]))
        self.assert_between("a.mtx", threads=4)

    def test_the_entries_are_not_read(self):
        self.write("a.mtx", coordinate(31, band(31)).replace("-1.0", "word"))
        deck = self.write("a.ini", DECK.format(file="a.mtx", name="sync_free_ilu", threads=1))
        self.assertTrue(self.run_json(0, "check", deck, "--header")["from_header"])
        self.expect(BAD_FILE, "check", deck, says="a.mtx:4: expected a finite number")
        self.assertIn("exactly but for the conditions below", self.run_program("check", deck, "--header").stdout)

    def test_long_comments(self):
        banner, rest = coordinate(31, band(31)).split("\n", 1)
        self.write("a.mtx", "\n".join([banner] + ["%" + 1000 * "c"] * 1500 + [rest]))
        self.assert_equal("a.mtx", cases=OF_EACH_KIND[:5])

    def test_a_bad_head_is_refused_as_when_it_is_read(self):
        texts = {"%%MatrixMarket matrix coordinate complex general\n3 3 3\n": ":1: the matrix is complex",
                 "%%MatrixMarket matrix coordinate real general\n3 4 5\n": ":2: the matrix is 3 x 4",
                 "%%MatrixMarket matrix coordinate real general\n3 3\n": ":2: expected 'rows columns entries'",
                 "%%MatrixMarket matrix coordinate real general\n": "'rows columns entries' is missing",
                 "%%MatrixMarket matrix coordinate real general\n3 3 999\n1 1 1\n": ":2: 999 entries are announced",
                 "%%MatrixMarket matrix array real general\n3 3\n": "a dense array"}
        for symmetry, announced, says in (("general", 2, "3 rows, but 2 entries: at least 1 rows have none"),
                                          ("symmetric", 1, "3 rows, but 1 entries, 2 with mirror images: at least 1 rows")):
            self.write("few.mtx", f"%%MatrixMarket matrix coordinate real {symmetry}\n3 3 {announced}\n" + "1 1 1\n" * announced)
            few = self.write("few.ini", DECK.format(file="few.mtx", name="none", threads=1))
            self.expect(BAD_FILE, "check", few, "--header", says=["few.mtx:2:", says])
        for (text, says), packed in itertools.product(texts.items(), (False, True)):
            if packed:
                (self.folder / "a.mtx").write_bytes(gzip.compress(text.encode()))
            else:
                self.write("a.mtx", text)
            deck = self.write("a.ini", DECK.format(file="a.mtx", name="none", threads=1))
            for words in ((), ("--header",)):
                self.expect(BAD_FILE, "check", deck, *words, says=says)
        whole = petsc(31, band(31))
        for bytes_, says in ((whole[:-40], "nonzeros are announced"), (whole[:60], "rows are announced"),
                             (gzip.compress(whole)[:-30], "ends too early")):
            (self.folder / "a.mtx").write_bytes(bytes_)
            for words in ((), ("--header",)):
                self.expect(BAD_FILE, "check", deck, *words, says=says)

    def test_bounds_of_fill_are_met(self):
        """Where nothing fills up and where everything does."""
        level = "preconditioner.fill_level=3"
        self.write("band.mtx", coordinate(31, band(31)))  # tridiagonal
        head, read = self.both("band.mtx", "sync_free_ilu", level)
        self.assertEqual(head["memory"]["predicted"], read["memory"]["predicted"])
        self.assertIn("rows of the factors fill up", head["memory"]["most_if"])
        arrow = [(1, j, -1.0) for j in range(2, 32)] + [(i, 1, -1.0) for i in range(2, 32)] + [(i, i, 40.0) for i in range(1, 32)]
        self.write("arrow.mtx", coordinate(31, arrow))
        head, read = self.both("arrow.mtx", "sync_free_ilu", level)
        self.assertEqual(head["memory"]["most"], read["memory"]["most"])
        text = self.run_program("check", "a.ini", "--header", "--set", level).stdout
        self.assertRegex(text, r"memory it will need, at least:\n(.*\n)*at most .*, if rows of the factors fill up, or")
        self.assertFalse(head["exact"])

    def test_large_matrices_have_bounds(self):
        rows = 2 * 10**9  # whose square has 62 bits
        path = self.folder / "large.mtx"
        path.write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {rows}\n" + 200000 * "1 1 1\n")
        os.truncate(path, 6 * rows + 100)
        for name, *settings in BOUNDED:
            deck = self.write("a.ini", DECK.format(file="large.mtx", name=name, threads=1))
            words = [word for setting in ("problem.block=1", *settings) for word in ("--set", setting)]
            memory = json.loads(self.run_program("check", deck, "--header", "--json", *words).stdout)["memory"]
            self.assertGreater(memory["predicted"], 12 * rows, name)
            self.assertGreater(memory["most"], memory["predicted"], name)

    def test_more_rows_than_a_matrix_may_have(self):
        """They are refused before memory is taken for them, in text and in PETSc's files with integers of 64 bits."""
        rows = 2147483659  # a prime above 2^31
        (self.folder / "a.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {rows}\n" + 200000 * "1 1 1\n")
        os.truncate(self.folder / "a.mtx", 6 * rows + 100)  # a file without data on the disk
        (self.folder / "a.petsc").write_bytes(struct.pack(">4q", 1211216, rows, rows, rows))
        os.truncate(self.folder / "a.petsc", 32 + 24 * rows)
        for file in ("a.mtx", "a.petsc"):
            deck = self.write("a.ini", DECK.format(file=file, name="none", threads=1))
            for words in (("check",), ("check", "--header"), ("run",), ("compare", "--preconditioners", "none")):
                said = self.expect(2, words[0], deck, *words[1:], says=f"{rows} rows make more than 2147483647 block rows").stderr
                self.assertIn("a.ini:3: problem.file: ", said)
        for name, data in (("few.mtx", f"{rows} {rows} 1\n1 1 1\n".encode()),
                           ("few.petsc", struct.pack(">6qd", 1211216, rows, rows, 1, 1, 0, 1.0))):
            (self.folder / name).write_bytes(data)
            deck = self.write("a.ini", DECK.format(file=name, name="none", threads=1))
            for words in ((), ("--header",)):
                self.expect(BAD_FILE, "check", deck, *words, says=f"{rows} rows are more than 2147483647, the most block rows")
        text = f"{2 * rows} {2 * rows} {2 * rows}\n"
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n" + text + 200000 * "1 1 1\n")
        os.truncate(self.folder / "a.mtx", 12 * rows + 100)
        deck = self.write("a.ini", DECK.format(file="a.mtx", name="none", threads=1))
        self.expect(2, "check", deck, "--set", "problem.block=2", says="problem.block = N makes fewer")
        self.expect(2, "check", deck, "--set", "problem.block=3", says="no multiple of 3")
        text = f"{6 * 10**9} {6 * 10**9} {6 * 10**9}\n"
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n" + text + 200000 * "1 1 1\n")
        os.truncate(self.folder / "a.mtx", 36 * 10**9 + 100)
        self.expect(OUT_OF_MEMORY, "check", deck, "--set", "problem.block=3", says="its head announces 6000000000 rows")

    def test_what_needs_the_pattern_says_so(self):
        self.write("a.mtx", coordinate(31, band(31)))
        deck = self.write("a.ini", DECK.format(file="a.mtx", name="sync_free_ilu", threads=1))
        self.expect(2, "check", deck, "--header", "--set", "ordering.name=rcn", says="rcm")
        self.expect(2, "check", deck, "--header", "--set", "preconditioner.name=struct_ilu", says="on a grid alone")
        self.expect(2, "check", deck, "--header", "--set", "problem.block=2", says="31 rows are no multiple of 2")
        poisson = self.write("p.ini", "[problem]\nname = poisson\n[grid]\ncells = 4\n")
        self.expect(2, "check", poisson, "--header", says="for problem.name = matrix")

    def test_a_file_that_does_not_fit_is_not_read(self):
        entries = 40 * 10**9  # 640 GB of values and columns; the file has a hole in place of most of its entries
        path = self.folder / "large.mtx"
        path.write_text(f"%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 {entries}\n" +
                        200000 * "1 1 1\n")
        os.truncate(path, 6 * entries + 100)
        deck = self.write("a.ini", DECK.format(file="large.mtx", name="sync_free_ilu", threads=1))
        for verb in ("run", "check"):
            self.expect(OUT_OF_MEMORY, verb, deck, says="its head announces 1000000000 rows")
        answer = self.run_program("check", deck, "--header", "--json")
        self.assertEqual(answer.returncode, OUT_OF_MEMORY)
        self.assertFalse(json.loads(answer.stdout)["fits"])


if __name__ == "__main__":
    unittest.main()
