# SPDX-License-Identifier: BSD-3-Clause
"""[ordering] rows = matching: systems with zeros on the diagonal, whose equations are put in other rows."""

import json
import random
import unittest

from matrices import SYSTEM, array, coordinate, values_of
from program import ProgramTest

FAILED_SETUP, BAD_DECK, BAD_FILE = 5, 2, 7
MATCHED = ("--set", "ordering.rows=matching")


def hidden_diagonal(rows, seed=3):
    """A diagonally dominant unsymmetric matrix whose equations stand in random rows."""
    draw = random.Random(seed)
    place = list(range(1, rows + 1))
    draw.shuffle(place)
    entries = {}
    for row in range(1, rows + 1):
        for _ in range(4):
            entries[place[row - 1], draw.randint(1, rows)] = draw.uniform(-1, 1)
        entries[place[row - 1], row] = 5.0 + row % 3
    return [(i, j, v) for (i, j), v in sorted(entries.items())]


def saddle(n):
    """Stokes-like: a symmetric matrix of 2 n^2 velocities with its divergence, and n^2 - 1 pressures with zeros on the diagonal."""
    cells = n * n
    entries = {}
    for j in range(n):
        for i in range(n):
            for c in range(2):
                row = 2 * (j * n + i) + c + 1
                entries[row, row] = 4.0 + 0.1 * c
                for x, y in ((i - 1, j), (i, j - 1)):
                    if x >= 0 and y >= 0:
                        entries[row, 2 * (y * n + x) + c + 1] = -1.0
            cell = j * n + i
            if cell == cells - 1:
                continue
            row = 2 * cells + cell + 1
            entries[row, 2 * cell + 1] = entries[row, 2 * cell + 2] = 1.0
            if i + 1 < n:
                entries[row, 2 * (cell + 1) + 1] = -1.0
            if j + 1 < n:
                entries[row, 2 * (cell + n) + 2] = -1.0
    return 3 * cells - 1, [(i, j, v) for (i, j), v in sorted(entries.items())]


class Matching(ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(5)
        self.entries = hidden_diagonal(120)
        self.b = [draw.uniform(-1, 1) for _ in range(120)]
        self.write("a.mtx", coordinate(120, self.entries))
        self.write("b.mtx", array(self.b))
        self.deck = self.write("a.ini", SYSTEM)

    def residual(self, x):
        r = list(self.b)
        for i, j, v in self.entries:
            r[i - 1] -= v * x[j - 1]
        return max(abs(value) for value in r)

    def test_it_solves_what_fails_at_a_zero_pivot(self):
        self.expect(FAILED_SETUP, "run", self.deck, says=["the pivot at row ", "ordering.rows = matching"])
        for name in ("sync_free_ilu", "jacobi_sweeps", "par_ilu", "par_ilut", "subdomain_ildu0", "jacobi"):
            with self.subTest(name):
                answer = self.run_json(0, "run", self.deck, *MATCHED, "--set", f"preconditioner.name={name}", "--fresh")
                self.assertLess(answer["iterations"], 25)

    def test_it_solves_saddle_points(self):
        rows, entries = saddle(12)
        self.write("a.mtx", coordinate(rows, entries, "symmetric"))
        words = ("run", self.deck, "--set", "problem.right_hand_side=random", "--set", "problem.block=1", "--set", "preconditioner.fill_level=1")
        pressures_first = [*range(289, rows + 1), *range(1, 289)]
        self.write("order.mtx", array(pressures_first))
        words += ("--set", "ordering.name=file", "--set", "ordering.file=order.mtx")
        self.expect(FAILED_SETUP, *words)
        done = self.expect(0, *words, *MATCHED, "--quiet", "--fresh")
        self.assertIn("unsymmetric", done.stdout)

    def test_what_is_written_is_the_given_system(self):
        self.expect(0, "export", self.deck, "--set", "preconditioner.name=none", "-o", "given")
        for order in ("natural", "rcm", "random", "multicolor"):
            with self.subTest(order):
                said = self.expect(0, "export", self.deck, *MATCHED, "--set", f"ordering.name={order}", "--factors", "-o", order).stdout
                self.assertIn("rows in the order of equations.mtx, columns in that of order.mtx", said)
                for name in ("A.mtx", "b.mtx"):
                    self.assertEqual((self.folder / order / name).read_text(), (self.folder / "given" / name).read_text())
                self.assertLess(self.residual(values_of(self.folder / order / "x.mtx")), 1e-9)
                places, equations = (values_of(self.folder / order / f"{name}.mtx") for name in ("order", "equations"))
                for numbers in (places, equations):
                    self.assertEqual(sorted(numbers), list(range(1, 121)))
                size = {(i, j): abs(v) for i, j, v in self.entries}
                for equation, unknown in zip(equations, places):
                    self.assertGreaterEqual(size[equation, unknown], 5.0)

    def test_a_hidden_symmetric_matrix_is_found(self):
        tridiagonal = [(i, j, 2.5 if i == j else -1.0) for i in range(1, 61) for j in (i - 1, i, i + 1) if 1 <= j <= 60]
        self.write("a.mtx", coordinate(60, sorted((i % 60 + 1, j, v) for i, j, v in tridiagonal)))
        words = ("--set", "problem.right_hand_side=random", "--set", "solver.name=cg", "--set", "solver.restart=")
        self.write("a.ini", SYSTEM.replace("restart = 200\n", "").replace("gmres", "cg"))
        self.expect(BAD_DECK, "run", "a.ini", *words[:2], says="needs a symmetric matrix")
        self.expect(0, "run", "a.ini", *words[:2], *MATCHED)
        self.expect(0, "export", "a.ini", *words[:2], *MATCHED, "-o", "out")
        self.assertIn("general", (self.folder / "out" / "A.mtx").read_text().splitlines()[0])

    def test_a_symmetric_matrix_whose_rows_move_is_refused_by_name(self):
        entries = [(i, j, 0.0 if i == j == 3 else 2.5 if i == j else -1.0) for i in range(1, 21) for j in (i - 1, i, i + 1) if 1 <= j <= 20]
        self.write("a.mtx", coordinate(20, entries))
        deck = self.write("c.ini", SYSTEM.replace("restart = 200\n", "").replace("gmres", "cg").replace("right_hand_side = b.mtx\n", ""))
        self.expect(BAD_DECK, "run", deck, *MATCHED, says=["ordering.rows = matching has moved ", " of its 20 block rows) is not"])
        entries = [entry for entry in entries if entry[:2] != (1, 1)]
        self.write("a.mtx", coordinate(20, entries))
        said = self.expect(FAILED_SETUP, "run", deck).stderr
        self.assertIn("Try ordering.rows = matching with solver.name = gmres", " ".join(said.split()))

    def test_a_singular_matrix_is_named(self):
        self.write("a.mtx", coordinate(6, [(i, i, 3.0) for i in range(1, 5)] + [(5, 1, 1.0), (5, 2, 1.0), (6, 1, 1.0), (6, 2, 2.0), (1, 5, 0.0), (2, 6, 1.0)]))
        words = ("run", self.deck, "--set", "problem.right_hand_side=ones")
        said = self.expect(BAD_FILE, *words, *MATCHED, says=["a.ini:4: problem.file: no column is left for 1 of 6 rows",
                                                             "preconditioner.pivot_policy = boost"]).stderr
        self.assertIn("the first of which is row 6", said)
        # Nothing that cannot help is advised.
        self.write("a.mtx", coordinate(3, [(1, 2, 1.0), (2, 2, 4.0), (3, 2, 1.0)]))
        self.assertNotIn("Try ordering.rows", self.expect(FAILED_SETUP, *words).stderr)

    def test_blocks_are_matched_as_wholes(self):
        entries = []
        for point in range(40):
            row = 2 * ((point + 17) % 40)
            for (r, c, v) in ((0, 0, 4.0), (0, 1, 1.0), (1, 0, -1.0), (1, 1, 3.0)):
                entries.append((row + r + 1, 2 * point + c + 1, v))
                if point > 0:
                    entries.append((row + r + 1, 2 * (point - 1) + c + 1, 0.25 * v))
        self.write("a.mtx", coordinate(80, sorted(entries)))
        words = ("run", self.deck, "--set", "problem.right_hand_side=random", "--fresh")
        self.expect(FAILED_SETUP, *words)
        answer = self.run_json(0, *words, *MATCHED)
        self.assertEqual(answer["rows_moved"], 40)
        # Each block is singular, while single rows can be matched.
        self.write("a.mtx", coordinate(4, [(1, 1, 1.0), (1, 2, 1.0), (2, 1, 2.0), (2, 2, 2.0), (1, 3, 3.0), (1, 4, 0.0), (2, 3, 0.0), (2, 4, 0.0),
                                           (3, 1, 0.0), (3, 2, 0.0), (4, 1, 0.0), (4, 2, 3.0), (3, 3, 1.0), (3, 4, 1.0), (4, 3, 1.0), (4, 4, 1.0)]))
        self.expect(BAD_FILE, *words, *MATCHED, "--set", "problem.block=2", says=["no column is left for 2 of 2 block rows", "match single rows with problem.block = 1"])
        self.expect(0, *words, *MATCHED, "--set", "problem.block=1")

    def test_run_info_report_and_study_tell_it(self):
        done = self.expect(0, "run", self.deck, *MATCHED, "--set", "ordering.name=rcm")
        self.assertIn("ordering      rcm (rows = matching), ", done.stdout)
        self.assertIn(" of 120 block rows moved; in the given order bandwidth", done.stdout)
        answer = self.run_json(0, "run", self.deck, *MATCHED, "--set", "output.file=b.h5")
        self.assertLessEqual({"reading", "matching", "ordering"}, set(answer["preparation"]))
        self.assertIn("natural (rows = matching); in the given order", self.expect(0, "info", "b.h5").stdout)
        self.expect(0, "run", "b.h5", "--set", "output.file=c.h5", "--quiet")
        self.expect(0, "diff", "b.h5", "c.h5", "--tolerance", "0")
        study = self.write("s.ini", SYSTEM + "[sweep]\nordering.name = natural, rcm\n[ordering]\nrows = matching\n")
        self.expect(0, "study", "run", study, "--quiet")
        self.expect(0, "study", "collect", study)
        self.assertIn("matching_seconds", (self.folder / "s.csv").read_text())

    def test_the_same_bits_for_any_threads_and_ranks_and_after_a_stop(self):
        self.write("a.mtx", coordinate(3000, hidden_diagonal(3000)))
        words = ("run", self.deck, *MATCHED, "--set", "ordering.name=rcm", "--set", "problem.right_hand_side=random", "--set", "output.state=always", "--quiet")
        for name, more in (("1", ("--threads", "1")), ("2", ("--threads", "2")), ("r", ("--ranks", "2"))):
            self.expect(0, *words, *more, "--set", f"output.file={name}.h5")
            self.expect(0, "diff", "--tolerance", "0", "1.h5", f"{name}.h5")
        for more in ((), ("--ranks", "2")):
            self.expect(FAILED_SETUP, *words[:2], *words[6:], *more, "--fresh", says="Try ordering.rows = matching, or ")
        weak = ("--set", "preconditioner.name=jacobi", "--set", "output.checkpoint_minutes=100")
        self.expect(0, *words, *weak, "--set", "output.file=whole.h5")
        self.expect(75, *words, *weak, stop_at=12)
        self.expect(0, *words[:-1], *weak, says="going on from step")
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_check_predicts_the_memory(self):
        for order in ("natural", "rcm", "multicolor"):
            words = (self.deck, *MATCHED, "--set", f"ordering.name={order}", "--threads", "1", "--set", "solver.restart=20")
            memory = self.run_json(0, "check", *words)["memory"]
            self.assertAlmostEqual(self.run_json(0, "run", *words, "--fresh")["memory"]["peak"] / memory["predicted"], 1.0, delta=0.02)
            head = self.run_json(0, "check", *words, "--header")["memory"]
            self.assertLessEqual(head["predicted"], memory["predicted"])
            self.assertGreaterEqual(head["most"], memory["predicted"])

    def test_candidates_with_and_without_it_solve_one_system(self):
        lists = "none,sync_free_ilu:ordering.rows=matching,sync_free_ilu:ordering.rows=matching:ordering.name=rcm"
        done = self.expect(0, "compare", self.deck, "--preconditioners", lists, "--reps", "1", "--json", "-", "--quiet")
        self.assertEqual([row["converged"] for row in json.loads(done.stdout)["candidates"]][1:], [True, True])

    def test_auto_tries_it_where_nothing_converges(self):
        done = self.run_program("compare", self.deck, "--auto", "--solvers", "gmres", "--reps", "1", "--json", "-", "--quiet", "--set",
                                "solver.max_iterations=40")
        best = [row["preconditioner"] for row in json.loads(done.stdout)["candidates"] if row["converged"]]
        self.assertTrue(any("ordering.rows=matching" in name for name in best), best)

    def test_its_scales_serve_what_compares_entries_of_different_rows(self):
        draw = random.Random(8)
        rows, columns = ([10.0 ** draw.uniform(-4, 4) for _ in range(121)] for _ in range(2))
        self.entries = [(i, j, v * rows[i] * columns[j]) for i, j, v in self.entries]
        self.write("a.mtx", coordinate(120, self.entries))
        self.b = [sum(v for i, _, v in self.entries if i == row) for row in range(1, 121)]
        self.write("b.mtx", array(self.b))
        words = (self.deck, *MATCHED, "--set", "solver.rtol=1e-10")
        scaled = (*words, "--set", "scaling.name=matching")
        for name in ("par_ilut", "none"):
            with self.subTest(name):
                chosen = ("--set", f"preconditioner.name={name}", "--fresh")
                answer = self.run_json(0, "run", *scaled, *chosen)
                self.assertLess(answer["iterations"], 121 if name == "none" else 25)
                self.assertGreater(self.run_json(0, "run", *words, *chosen)["iterations"], answer["iterations"])
                self.expect(0, "export", *scaled, *chosen[:2], "-o", name)
                x = values_of(self.folder / name / "x.mtx")
                self.assertLess(self.residual(x), 1.01e-10 * sum(value * value for value in self.b) ** 0.5)
                for file in ("A", "b"):
                    self.assertTrue((self.folder / name / f"{file}.mtx").exists())
        # Without rows = matching the scales are those of the same entries, which a diagonal preconditioner does not see.
        factors = [self.run_json(0, "run", self.deck, *more, "--set", "scaling.name=mc64", "--set", "preconditioner.name=none", "--set",
                                 "solver.rtol=1e-6", "--fresh")["iterations"] for more in ((), MATCHED)]
        self.assertLessEqual(max(factors), 121)
        said = self.expect(0, "info", "a.h5", "--all").stdout
        self.assertIn("scaling", said)
        done = self.expect(0, "compare", self.deck, "--preconditioners", "none:ordering.rows=matching:scaling.name=matching,par_ilut:ordering.rows=matching"
                           ":scaling.name=matching", "--reps", "1", "--json", "-", "--quiet")
        self.assertEqual([row["converged"] for row in json.loads(done.stdout)["candidates"]], [True, True])

    def test_scales_that_do_not_exist_are_refused(self):
        words = ("run", self.deck, "--set", "problem.right_hand_side=ones", "--set", "scaling.name=matching", "--set", "preconditioner.name=none", "--fresh")
        self.write("a.mtx", coordinate(6, [(i, i, 3.0) for i in range(1, 5)] + [(5, 1, 1.0), (5, 2, 1.0), (6, 1, 1.0), (6, 2, 2.0), (1, 5, 0.0), (2, 6, 1.0)]))
        self.expect(FAILED_SETUP, *words, says=["scaling.name = matching: no column is left for 1 of 6 rows, the first of which is row 6: it and",
                                                "use scaling.name = symmetric, row or none"])
        self.expect(FAILED_SETUP, *words, "--set", "ordering.name=random", says="scaling.name = matching: no column is left for 1 of 6 rows")
        self.write("a.mtx", coordinate(120, sorted([(i, i, 1.0) for i in range(1, 121)] + [(i, i + 1, 1e6) for i in range(1, 120)])))
        self.expect(FAILED_SETUP, *words, says=["scaling.name = matching: row 1 would be multiplied by 2^-", "which leaves vectors no room in double precision"])

    def test_its_scales_keep_a_symmetric_matrix_symmetric(self):
        scale = [10.0 ** (row % 7 - 3) for row in range(61)]
        entries = [(i, j, (2.5 if i == j else -1.0) * (scale[i] * scale[j])) for i in range(1, 61) for j in (i - 1, i, i + 1) if 1 <= j <= 60]
        self.write("a.mtx", coordinate(60, entries))
        self.write("a.ini", SYSTEM.replace("restart = 200\n", "").replace("gmres", "cg").replace("right_hand_side = b.mtx\n", ""))
        for name in ("none", "jacobi", "sync_free_ilu", "chebyshev"):
            self.expect(0, "run", "a.ini", "--set", "scaling.name=matching", "--set", f"preconditioner.name={name}", "--set", "solver.rtol=1e-8", "--fresh")

    def test_rows_of_a_grid_are_not_matched(self):
        deck = self.write("p.ini", "[problem]\nname = poisson\n[grid]\ncells = 5 4 3\n[matrix]\nformat = general\n[ordering]\nrows = matching\n")
        self.expect(BAD_DECK, "run", deck, says=["p.ini:8: ordering.rows", "set problem.name = matrix"])
        self.expect(BAD_DECK, "run", self.deck, "--set", "ordering.rows=all", says="'all' is none of natural | matching")


if __name__ == "__main__":
    unittest.main()
