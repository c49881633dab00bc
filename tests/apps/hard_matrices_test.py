# SPDX-License-Identifier: BSD-3-Clause
"""Matrices from files that are singular or nearly so, or whose factors have rows without entries: what is said of them."""

import json
import unittest

from matrices import DECK, SYSTEM, MatrixTest, array, coordinate, tridiagonal

RING = [(i, j, 2 if i == j else -1) for i in range(1, 41) for j in (i, i % 40 + 1, (i - 2) % 40 + 1)]  # the Laplacian of a graph
NO_SOLUTION = "the system has no solution: the rows of the matrix add up to zero, as they do where no value is prescribed, but the "
COLUMNS = "warning: the entries of each column of the matrix add up to zero but for rounding, so the matrix is singular or nearly so"


def saddle_point(rows, constraints, first=1):
    """[[T, B^T], [B, 0]], with a tridiagonal T; each row of B has three entries, from column `first` on."""
    entries = tridiagonal(rows)
    for row in range(constraints):
        for column in range(3 * row + first, 3 * row + first + 3):
            entries += [(rows + row + 1, column, 1.0), (column, rows + row + 1, 1.0)]
    return coordinate(rows + constraints, entries)


class Sums(MatrixTest):
    def deck(self, entries, b="b.mtx", preconditioner="jacobi", solver="gmres"):
        self.write("a.mtx", coordinate(40, entries))
        deck = SYSTEM.replace("b.mtx", b).replace("sync_free_ilu", preconditioner).replace("1e-11", "1e-9")
        return self.write("a.ini", deck if solver == "gmres" else deck.replace("gmres\n", f"{solver}\n").replace("restart = 200\n", ""))

    def test_a_right_hand_side_that_no_x_solves_for_is_refused(self):
        for b, remedy in (("ones", "adds up to 40. Give a file of values that add up to zero"),
                          ("random", "Give a file of values that add up to zero"),
                          ("b.mtx", "adds up to 2. Subtract its mean, 0.05, from each of its values")):
            self.write("b.mtx", array([2.0] + [0.0] * 39))
            for words in (("run",), ("check",), ("compare", "--auto")):
                self.expect(2, *words, self.deck(RING, b), "--backend", "cpu", says=["a.ini:5: problem.right_hand_side: " + NO_SOLUTION, remedy])

    def test_one_that_some_x_solves_for_is_solved_for(self):
        self.write("b.mtx", array([1.0, 0.5, -1.5] + [0.0] * 37))
        for solver in ("cg", "gmres"):
            done = self.expect(0, "run", self.deck(RING, solver=solver), "--fresh", "--backend", "cpu", says=COLUMNS)
            self.assertEqual(done.stderr.count("singular"), 1)

    def test_a_right_hand_side_of_any_size(self):
        """Its rounding is no sum, and the square of a large one is no number."""
        self.write("b.mtx", array([0.1e-200, 0.2e-200, -0.3e-200] + [0.0] * 37))
        self.assertNotIn(NO_SOLUTION, self.run_program("run", self.deck(RING), "--fresh", "--backend", "cpu").stderr)
        self.write("b.mtx", array([1e160] * 40))
        self.expect(2, "check", self.deck(RING), "--backend", "cpu", says=NO_SOLUTION)

    def test_a_sum_that_solvers_do_not_see(self):
        """What is left of a few sources, rounded to five digits, is 1e-7 of ||b|| where it is divided among all rows."""
        n = 100
        torus = [(n * i + j + 1, n * (k % n) + m % n + 1, 4 if (i, j) == (k, m) else -1) for i in range(n) for j in range(n)
                 for k, m in ((i, j), (i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1))]
        self.write("a.mtx", coordinate(n * n, torus))
        sources = [0.0] * (n * n)
        sources[0], sources[4321], sources[7777] = 0.33333, 0.33333, -0.66667
        self.write("b.mtx", array(sources))
        deck = self.write("a.ini", SYSTEM.replace("1e-11", "1e-6"))
        self.expect(0, "run", deck, "--backend", "cpu", says=COLUMNS)
        self.write("b.mtx", array([0.34, *sources[1:]]))
        self.expect(2, "run", deck, "--fresh", "--backend", "cpu", says=NO_SOLUTION)

    def test_sums_that_overflow_are_no_zeros(self):
        self.write("a.mtx", coordinate(2, [(1, 1, 1.7e308), (1, 2, -1e308), (2, 1, -1e308), (2, 2, 1.7e308)]))
        deck = self.write("a.ini", SYSTEM.replace("b.mtx", "ones"))
        self.assertNotIn("singular", self.expect(0, "run", deck, "--set", "problem.block=1", "--backend", "cpu").stderr)
        self.write("a.mtx", coordinate(2, [(1, 1, 1.7e308), (1, 2, -1.7e308), (2, 1, -1.7e308), (2, 2, 1.7e308)]))
        self.write("b.mtx", array([1.7e308, 1.7e308]))
        for b in ("ones", "b.mtx"):
            deck = self.write("a.ini", SYSTEM.replace("b.mtx", b))
            self.expect(2, "run", deck, "--set", "problem.block=1", "--fresh", "--backend", "cpu", says=NO_SOLUTION)

    def test_each_unknown_of_a_block(self):
        """b adds up to zero in all, but not for each unknown of the blocks."""
        self.write("b.mtx", array([1.0, -1.0] * 40))
        pairs = [(2 * i - c, 2 * j - c, v) for i, j, v in RING for c in (1, 0)]
        self.write("a.mtx", coordinate(80, pairs))
        deck = self.write("a.ini", SYSTEM)
        self.expect(2, "check", deck, "--set", "problem.block=2", "--backend", "cpu", says="for unknown 0 of each point add up to zero")

    def test_many_couplings_of_one_row(self):
        """Sums of 20,000 equal numbers in double precision are not zero to 1e-13 of them."""
        n = 20000
        star = [(1, 1, 0.1 * n)] + [(i, i, 0.1) for i in range(2, n + 2)] + [(1, i, -0.1) for i in range(2, n + 2)] + [(i, 1, -0.1) for i in range(2, n + 2)]
        self.write("a.mtx", coordinate(n + 1, star))
        self.expect(2, "check", self.write("a.ini", SYSTEM.replace("b.mtx", "ones")), "--backend", "cpu", says=NO_SOLUTION)

    def test_a_zero_without_a_mirror_image_of_its_block(self):
        entries = [(i, i, 2.0) for i in range(1, 5)] + [(1, 2, 0.0), (1, 3, 0.0)]
        self.write("a.mtx", coordinate(4, entries))
        deck = self.write("a.ini", DECK.replace("gmres\nrtol = 1e-9\nrestart = 200", "cg").format(file="a.mtx"))
        self.expect(2, "run", deck, "--set", "problem.block=2", "--backend", "cpu", says="row 1, column 3 is a zero that is stored, row 3, column 1 is not stored")

    def test_rows_or_columns_alone(self):
        """I - P of a Markov chain, whose rows add up to zero, and its transpose, with b = A 1 and others."""
        chain = []
        for i in range(1, 41):
            step = 0.75 if i % 2 else 0.5
            chain += [(i, i, 1.0), (i, i % 40 + 1, -step), (i, (i + 1) % 40 + 1, step - 1)]
        transposed = [(j, i, v) for i, j, v in chain]
        for entries, b, says in ((chain, "random", COLUMNS.replace("column", "row")), (transposed, "xones", COLUMNS)):
            done = self.run_program("run", self.deck(entries, b), "--fresh", "--backend", "cpu")
            self.assertIn(says, done.stderr)
        done = self.run_program("run", self.deck(chain, "xones"), "--fresh", "--backend", "cpu")
        self.assertIn("b = A 1 is zero but for rounding", done.stderr)
        self.assertEqual(done.stderr.count("singular"), 1)

    def test_others_are_not_called_singular(self):
        for entries in (tridiagonal(40), [(i, j, v + 1e-9 * (i == j)) for i, j, v in RING]):
            self.assertNotIn("singular", self.run_program("run", self.deck(entries, "random"), "--fresh", "--backend", "cpu").stderr)


class Pivots(MatrixTest):
    def run_with(self, text, *settings, solver="gmres"):
        self.write("a.mtx", text)
        deck = DECK if solver == "gmres" else DECK.replace("restart = 200\n", "").replace("gmres", solver)
        return self.run_program("run", self.write("a.ini", deck.format(file="a.mtx")), "--fresh", "--backend", "cpu",
                                *(word for setting in settings for word in ("--set", setting)))

    def test_a_row_that_the_factors_drop_is_not_called_zero(self):
        """The last row's only entry couples it to another part."""
        entries = tridiagonal(40) + [(41, 1, 1.0), (1, 41, 1.0)]
        done = self.run_with(coordinate(41, entries), "preconditioner.name=subdomain_ildu0", "preconditioner.parts=consecutive",
                             "preconditioner.part_rows=8", "preconditioner.pivot_policy=boost")
        self.assertEqual(done.returncode, 5)
        self.assertIn("the pivot at row 41 is zero (1 such pivot in all). The factors keep no entry of its row", done.stderr)
        self.assertNotIn("singular", done.stderr)

    def test_why_a_pivot_is_not_boosted(self):
        boost = "preconditioner.pivot_policy=boost"
        done = self.run_with(coordinate(3, [(1, 1, 1.0), (2, 2, 1.0), (3, 1, 1e-306)]), boost)
        self.assertIn("The largest entry of its row is 1e-306, and pivot_boost times that has no inverse", done.stderr)
        last_by_the_first = coordinate(8301, tridiagonal(8300) + [(8301, 1, 1.0), (1, 8301, 1.0)])
        self.write("a.mtx", last_by_the_first)
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        self.expect(5, "run", deck, "--fresh", "--backend", "cpu", "--ranks", "2", "--set", boost, "--set", "preconditioner.scope=rank",
                    says="so there is no scale to boost it to; with scope = global they keep all")

    def test_matching_is_not_advised_where_it_cannot_help(self):
        zeros = coordinate(60, [(i, j, 0.0 if i == 7 else v) for i, j, v in tridiagonal(60)])
        small = coordinate(60, [(i, j, v * 1e-320) for i, j, v in tridiagonal(60)])
        for text in (zeros, small):
            for solver in ("gmres", "bicgstab"):
                done = self.run_with(text, solver=solver)
                self.assertEqual(done.returncode, 5)
                self.assertIn("Try preconditioner.name = none.", done.stderr)
                self.assertNotIn("permute the rows", done.stderr)

    def test_a_solver_is_advised_that_needs_more_memory(self):
        done = self.run_with(saddle_point(300, 60), solver="cg")
        self.assertEqual(done.returncode, 4)
        self.assertIn("the preconditioner is not positive definite; try solver.name = gmres", done.stderr)

    def test_rows_to_which_par_ilut_adds_nothing_are_told(self):
        says = "par_ilut: no round adds entries beyond the diagonal of row 301, one of 59 such rows, and so none where two of them meet, since"
        done = self.run_with(saddle_point(300, 60), "preconditioner.name=par_ilut")
        self.assertIn(says, done.stderr)
        self.assertIn(says, self.expect(0, "check", "a.ini", "--backend", "cpu", "--set", "preconditioner.name=par_ilut").stderr)
        for settings in (("ordering.rows=matching",), ("preconditioner.rounds=0",)):
            self.assertNotIn("no round", self.run_with(saddle_point(300, 60), "preconditioner.name=par_ilut", *settings).stderr)


class Recommendations(MatrixTest):
    def recommended(self, text, b="xones"):
        self.write("a.mtx", text)
        deck = self.write("a.ini", SYSTEM.replace("b.mtx", b))
        self.run_program("compare", deck, "--preconditioners", "none,jacobi,sync_free_ilu", "--auto", "--solvers", "cg,gmres", "--reps", "1",
                         "--backend", "cpu", "--force", "--quiet", "--json", "c.json")
        answer = json.loads((self.folder / "c.json").read_text())
        return answer["recommendation"], {row["outcome"] for row in answer["candidates"]}

    def test_where_rounding_is_the_limit_another_tolerance_is_recommended(self):
        text, outcomes = self.recommended(coordinate(12, [(i, j, 1 / (i + j - 1)) for i in range(1, 13) for j in range(1, 13)]), "random")
        self.assertIn("false_convergence", outcomes)
        self.assertIn("take a larger solver.rtol, which rounding allows", text)

    def test_another_b_is_recommended_where_b_is_out_of_range_alone(self):
        scales = [10.0 ** (3 * i - 150) for i in range(101)]
        grown = [(i, j, scales[i] * v * scales[j]) for i, j, v in tridiagonal(100)]
        text, outcomes = self.recommended(coordinate(100, grown), "random")
        self.assertIn("out_of_range", outcomes)
        self.assertNotIn("power of ten", text)
        self.write("b.mtx", array([1e-200] * 100))
        text, outcomes = self.recommended(coordinate(100, tridiagonal(100)), "b.mtx")
        self.assertIn("power of ten that brings ||b|| near 1", text)


class StoredZeros(MatrixTest):
    def test_one_without_a_mirror_image_is_named(self):
        says = "cg needs a symmetric matrix, and that of matrix (row 2, column 5 is a zero that is stored, row 5, column 2 is not stored)"
        self.refused(2, coordinate(6, tridiagonal(6) + [(2, 5, 0.0)]), says, solver="cg")
        self.refused(2, coordinate(6, tridiagonal(6) + [(5, 2, 0.0)]), says.replace("row 2, column 5", "X").replace(
            "row 5, column 2", "row 2, column 5").replace("X", "row 5, column 2"), solver="cg")


if __name__ == "__main__":
    unittest.main()
