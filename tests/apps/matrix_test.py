# SPDX-License-Identifier: BSD-3-Clause
"""General matrices: problem = matrix, and matrix.format = general for problems on a grid."""

import importlib.util
import json
import os
import pathlib
import subprocess
import unittest

from matrices import DECK, MatrixTest, coordinate, tridiagonal
from program import INPUTS, PROGRAM, TRANSPORT, few_addresses

DATA = pathlib.Path(os.environ.get("HYPERPLANE_SHARED_DATA", ""))
# Systems on a grid whose ILU on the stencil's pattern is that of the grid's graph.
ON_A_GRID = {
    "star7": "name = poisson\n[grid]\ncells = 9 7 6\n",
    "anisotropic": "name = poisson\ncoefficient_scale = 1 10 100\ndiscretisation = cell\ncoefficient = aniso\n"
                   "right_hand_side = ones\n[grid]\ncells = 9 7 6\n",
    "box27": "name = poisson\nstencil = box27\nbox27_weights = hpcg\nboundary_rows = drop\nright_hand_side = manusin\n"
             "[grid]\ncells = 8 8 8\n",
    "unsymmetric": "name = convection_diffusion\nregime = steady\nwind = rotate\n[grid]\ncells = 9 7 6\n",
    "dof 3": "name = block_laplacian\n[grid]\ncells = 7 6 5\n",
    "dof 4": "name = artificial_compressibility\n[grid]\ncells = 6 5 4\n[time]\nsteps = 2\n[expect]\nend = steps_used_up\n",
    "star13": "name = euler\n[grid]\ncells = 6 5 5\n[time]\nsteps = 1\n",
}


class Matrix(MatrixTest):
    def test_patterns_and_blocks_are_told(self):
        answer = self.solve(INPUTS / "data" / "blocks.mtx")
        self.assertEqual(answer["dof"], 3)
        self.assertEqual(answer["layout"], "rows")
        self.assertLess(answer["errors"]["max"], 1e-6)
        self.assertIn("reading", answer["preparation"])
        self.assertGreater(answer["solves"][0]["symbolic_seconds"], 0.0)
        self.assertGreater(answer["pattern"]["blocks"], answer["pattern"]["rows"])
        single = self.solve(INPUTS / "data" / "blocks.mtx", "problem.block=1")
        self.assertEqual(single["pattern"]["rows"], 3 * answer["pattern"]["rows"])
        text = self.expect(0, "run", "a.ini").stdout
        self.assertIn("bandwidth", text)
        self.assertIn("reading", text)

    def test_info_says_of_a_matrix_what_run_says(self):
        """Symmetric values, a symmetric pattern alone, and neither."""
        symmetric = [(row, row, 4.0) for row in range(1, 6)] + [(2, 1, -1.0), (1, 2, -1.0)]
        for entries, says in ((symmetric, "symmetric"), (symmetric[:-1] + [(1, 2, -2.0)], "symmetric pattern"),
                              (symmetric[:-1], "unsymmetric pattern")):
            self.write("s.mtx", coordinate(5, entries))
            deck = self.write("s.ini", DECK.format(file="s.mtx"))
            run, info = ([line.split(None, 1)[1] for line in self.expect(0, *words).stdout.splitlines()
                          if line.startswith("matrix ")] for words in (("run", deck, "--fresh"), ("info", "s.h5")))
            self.assertEqual(run, info)
            self.assertTrue(run[0].endswith(f", {says}"), run)

    def one_that_says(self, text, *words):
        """What the same command prints, at the latest the fifth time. On an idle machine reading and dissection take as
        long as 100 iterations here; on a busy one some iterations take as long as they do."""
        for _ in range(5):
            printed = self.expect(0, *words).stdout
            if text in printed:
                break
        return printed

    def test_a_long_preparation_is_told(self):
        """In a run, its record and a comparison."""
        answer = self.solve(INPUTS / "data" / "transport.mtx", "ordering.name=nested_dissection")
        timers = {name: row["seconds"] for name, row in answer["timers"].items()}
        parts = [timers["preparation/reading"], timers["preparation/ordering"], timers["setup"]]
        self.assertLessEqual(timers["setup/symbolic"] + timers["setup/numeric"], timers["setup"])
        iterations = sum(answer["preparation"].values()) + timers["setup"]
        iterations /= answer["costs"]["seconds_per_iteration"]
        self.assertAlmostEqual(answer["preparation_in_iterations"] / iterations, 1.0, places=6)
        self.assertGreater(min(parts), 0.0)
        says = "reading, blocks, ordering and set-up (symbolic "
        self.write("long.ini", (self.folder / "a.ini").read_text() + "[ordering]\nname = nested_dissection\n")
        self.assertIn(says, self.one_that_says(says, "run", "long.ini", "--force"))
        record = json.loads(self.expect(0, "info", "long.h5", "--json").stdout)
        self.assertGreater(record["preparation_in_iterations"], 10.0)
        self.assertIn(says, self.expect(0, "info", "long.h5").stdout)
        if importlib.util.find_spec("matplotlib") and importlib.util.find_spec("h5py"):
            self.expect(0, "report", "long.h5", "-o", "long.html")
            self.assertTrue(says in (self.folder / "long.html").read_text(encoding="utf-8"))
        compared = self.one_that_says("took as long", "compare", "long.ini", "--preconditioners", "sync_free_ilu", "--force")
        self.assertRegex(compared, r"reading, blocks, ordering, symbolic and set-up \(.*\) took as long as [0-9]+ iterations")

    def test_preparations_of_many_candidates_are_counted(self):
        self.write("a.mtx", coordinate(60, tridiagonal(60)))
        deck = self.write("m.ini", "[problem]\nname = matrix\nfile = a.mtx\n[solver]\nname = cg\n")
        compared = self.expect(0, "compare", deck, "--auto", "--reps", "1", "--backend", "cpu", "--force").stdout
        self.assertRegex(compared, r"before +[0-9]+ candidates: reading, ordering and symbolic parts, which hyperplane report shows")
        self.assertLess(compared.count("\nbefore"), 10)

    def test_what_a_plan_found_out_is_part_of_the_set_up(self):
        """METIS, which the prediction of memory needs, takes most of a set-up; a run and a comparison tell its time."""
        deck = self.write("p.ini", "[problem]\nname = poisson\n[grid]\ncells = 32\n[matrix]\nformat = general\n"
                                   "[solver]\nname = cg\n[preconditioner]\nname = subdomain_ildu0\n")
        run = self.run_json(0, "run", deck, "--backend", "cpu", "--threads", "1", "--force")
        timers = {name: row["seconds"] for name, row in run["timers"].items()}
        self.assertLessEqual(timers["setup/symbolic"] + timers["setup/numeric"], 1.001 * timers["setup"])
        self.assertEqual(run["timers"]["setup"]["calls"], 1)
        self.assertAlmostEqual(run["solves"][0]["setup_seconds"] / timers["setup"], 1.0, places=6)
        self.expect(0, "bench", "solve", deck, "--backend", "cpu", "--threads", "1", "--repeats", "1", "--json", "p.json")
        symbolic = json.loads((self.folder / "p.json").read_text())["solves"][0]["before"]["setup/symbolic"]
        self.assertGreater(timers["setup/symbolic"], 0.3 * symbolic)  # 0.03 of it without the plan's part
        compared = self.expect(0, "compare", deck, "--preconditioners", "none,subdomain_ildu0", "--force").stdout
        self.assertRegex(compared, r"before +cg\+subdomain_ildu0: symbolic [0-9.e-]+ s\n")
        self.assertRegex(compared, r"symbolic and set-up \(numeric .*\) took as long as")

    def test_the_way_of_triangular_solves_is_told(self):
        """In a run and its record; ways that do not exist are refused."""
        deck = self.write("w.ini", "[problem]\nname = poisson\n[grid]\ncells = 9 8 7\n[matrix]\nformat = general\n"
                                   "[solver]\nname = cg\n[preconditioner]\nname = sync_free_ilu\n")
        residuals = set()
        for way, taken, words in (("auto", "natural_order", "solved in the order of rows, by one thread"),
                                  ("levels", "levels", "solved by levels")):
            setting = ("--backend", "cpu", "--threads", "1", "--set", f"preconditioner.solve={way}")
            answer = self.run_json(0, "run", deck, *setting, "--force")
            self.assertEqual(answer["triangular_solves"], taken)
            residuals.add(answer["solves"][0]["true_residual"])
            self.assertIn(words, self.expect(0, "run", deck, *setting, "--force").stdout)
            self.assertIn(words, self.expect(0, "info", "w.h5").stdout)
            self.assertEqual(json.loads(self.expect(0, "info", "w.h5", "--json").stdout)["triangular_solves"], taken)
        self.assertEqual(len(residuals), 1)
        levels = ("--backend", "cpu", "--set", "preconditioner.solve=levels", "--set", "grid.cells=21 19 11")
        self.expect(2, "run", deck, *levels, "--ranks", "2",
                    says="preconditioner.solve: levels is for the rows of one rank: those of several depend on each other")
        self.expect(0, "run", deck, *levels, "--ranks", "2", "--set", "preconditioner.scope=rank", "--force")
        self.expect(2, "run", deck, "--backend", "cpu", "--set", "preconditioner.solve=sync_free",
                    says="preconditioner.solve: threads of a CPU do not wait for single rows")
        self.expect(2, "run", deck, *levels, "--set", "preconditioner.name=par_ilu", "--set", "matrix.format=structured",
                    says="preconditioner.solve: on a grid, solves follow the wavefront")

    def test_a_short_preparation_is_not_told(self):
        """On a grid nothing is read or ordered, and the set-up is not that of a general matrix."""
        answer = self.run_json(0, "run", self.write("b.ini", "[problem]\nname = poisson\n[grid]\ncells = 9 8 7\n"
                                                             "[solver]\nname = cg\n"))
        self.assertNotIn("preparation_in_iterations", answer)
        self.assertNotIn("took as long", self.expect(0, "run", "b.ini", "--force").stdout)

    def test_a_zero_filled_block_is_the_same_system(self):
        self.write("a.mtx", coordinate(60, tridiagonal(60)))
        for block in ("1", "2", "3", "5"):
            answer = self.solve("a.mtx", f"problem.block={block}")
            self.assertEqual(answer["dof"], int(block))
            self.assertLess(answer["errors"]["max"], 1e-8)
        self.assertEqual(self.solve("a.mtx")["dof"], 1)

    def test_advice_names_what_general_matrices_have(self):
        self.refused(3, coordinate(30, tridiagonal(30)), "or preconditioner.name = sync_free_ilu",
                     "preconditioner.name=none", "solver.max_iterations=5")

    def test_advice_names_more_iterations_in_any_order(self):
        for settings in ((), ("ordering.name=rcm",), ("preconditioner.fill_level=1",)):
            self.refused(3, (INPUTS / "data" / "transport.mtx").read_text(encoding="utf-8"),
                         ["try solver.max_iterations = ", f"or preconditioner.fill_level = {2 if 'fill' in str(settings) else 1}"],
                         "solver.max_iterations=3", "solver.rtol=1e-8", *settings)

    def test_rows_and_columns_of_zeros_are_warned_about(self):
        for entries, says in (([(1, 1, 2), (2, 1, 1), (3, 3, 1), (3, 2, 0)], "column 2 has no coefficient other than zero, so"),
                              ([(1, 1, 2), (2, 1, 1), (3, 1, 1)], r"column 2 \(one of 2 such columns\) has no"),
                              ([(1, 1, 2), (1, 2, 1), (2, 2, 0), (3, 3, 1)], "row 2 has no coefficient other than zero")):
            self.write("a.mtx", coordinate(3, entries))
            deck = self.write("a.ini", DECK.format(file="a.mtx"))
            for settings in ((), ("--set", "ordering.name=random")):
                done = self.run_program("run", deck, "--fresh", "--backend", "cpu", "--set", "preconditioner.name=none", *settings)
                self.assertRegex(done.stderr, "warning.*" + says)
        self.solve(INPUTS / "data" / "transport.mtx")
        self.assertNotIn("singular", self.expect(0, "run", "a.ini", "--fresh").stderr)

    def test_what_is_not_symmetric_is_named(self):
        entries = [(i, j, -1.5 if (i, j) == (3, 4) else v) for i, j, v in tridiagonal(6)]
        says = ("cg needs a symmetric matrix, and that of matrix (row 3, column 4 is -1.5, row 4, column 3 is ")
        self.refused(2, coordinate(6, entries), says + "-1) is not; use gmres", solver="cg")
        self.refused(2, coordinate(6, [e for e in entries if e[:2] != (4, 3)]), says + "0) is not; use gmres", solver="cg")
        self.refused(2, coordinate(6, entries), says + "-1) is not", "problem.block=2", solver="cg")
        self.write("a.mtx", coordinate(6, entries))
        on_grid = self.write("b.ini", "[problem]\nname = matrix_market\nmatrix = a.mtx\n[grid]\ncells = 6 1 1\n[solver]\nname = cg\n")
        self.expect(2, "run", on_grid, says="that of matrix_market (row 3, column 4 is -1.5, row 4, column 3 is -1) is not")

    def test_indefinite_matrices(self):
        """L D L^T has the factors of ILU(0), and pivots of both signs."""
        entries = [(i, j, 0.9 if i == j else v) for i, j, v in tridiagonal(60)]
        advice = "A symmetric matrix whose pivots may be negative, but not zero, is factored as L D L^T with preconditioner.indefinite = true and"
        self.refused(5, coordinate(60, entries), ["not positive enough for incomplete Cholesky", advice, "gmres"])
        for name in ("par_ilut", "par_ilu", "jacobi_sweeps", "subdomain_ildu0"):
            self.refused(5, coordinate(60, entries), "preconditioner.name = sync_free_ilu, indefinite = true and",
                         f"preconditioner.name={name}")
        for block in ("1", "2"):
            answer = self.solve("a.mtx", "preconditioner.indefinite=true", f"problem.block={block}")
            self.assertEqual(answer["iterations"], 1)  # of a tridiagonal matrix it is exact
            self.assertLess(answer["errors"]["max"], 1e-8)
        self.refused(2, coordinate(60, entries), "cg needs a symmetric positive definite preconditioner, and sync_free_ilu with "
                     "indefinite = true is not one here", "preconditioner.indefinite=true", solver="cg")
        positive = [(1, 1, -1.0), (1, 2, 2.0), (2, 1, 2.0), (2, 2, -1.0)]  # the second pivot is 3
        self.refused(5, coordinate(2, positive), "3, too small for incomplete Cholesky, or of another sign than A's diagonal")
        singular = [(i, j, 0.0 if i == j == 1 else v) for i, j, v in entries]
        self.refused(5, coordinate(60, singular), "the pivot at row 1 is zero", "preconditioner.indefinite=true")
        for name in ("sync_free_ilu", "par_ilut", "jacobi"):  # L D L^T needs a pivot, too
            done = self.run_program("run", "a.ini", "--fresh", "--backend", "cpu", "--set", f"preconditioner.name={name}")
            self.assertIn("Its row has no diagonal coefficient, or a zero: number such rows last, or permute", done.stderr)
            self.assertNotIn("indefinite", done.stderr)

    def test_advice_is_left_out_where_it_cannot_help(self):
        """L D L^T needs pivots that are not zero; a row that is zero throughout cannot be numbered last."""
        self.write("a.mtx", coordinate(3, [(i, j, 1) for i, j, _ in tridiagonal(3)]))  # eliminating row 1 leaves row 2 a zero
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        for sets in ((), ("--set", "preconditioner.indefinite=true")):
            done = self.expect(5, "run", deck, "--fresh", *sets, says="the pivot at row 2 is zero")
            self.assertNotIn("is factored as L D L^T", done.stderr)
        self.write("a.mtx", coordinate(3, [(1, 1, 4), (2, 2, 0), (3, 3, 4)]))
        done = self.expect(5, "run", deck, "--fresh", "--set", "preconditioner.pivot_policy=boost", says="the matrix is singular")
        self.assertNotIn("number such rows last", done.stderr)

    def test_storage_is_refused_with_those_that_take_general_matrices(self):
        self.refused(2, coordinate(6, tridiagonal(6)), "stores its factors in double alone, not in single, which jacobi_sweeps, par_ilu,",
                     "preconditioner.name=par_ilut", "preconditioner.storage=single")

    def test_pivots_whose_inverse_overflows_are_named(self):
        entries = [(1, 1, 4), (2, 2, "5e-324"), (3, 3, 4)]
        for name in ("sync_free_ilu", "par_ilut", "par_ilu", "jacobi", "subdomain_ildu0"):
            self.refused(5, coordinate(3, entries), ["the pivot at row 2 is 4.94066e-324, so small that double precision cannot hold its "
                                                     "inverse (1 such pivot in all). Multiply both the matrix and b by a power of ten."],
                         f"preconditioner.name={name}")

    def test_advice_on_pivots_names_policies_that_can_help(self):
        """The same for every preconditioner that has policies: a shift scales A's diagonal, so that a zero there remains one; a
        boosted pivot is a fraction of what its block has or, where that is zero, its row."""
        self.write("a.ini", DECK.format(file="a.mtx"))
        missing = [e for e in tridiagonal(8) if e[:2] != (1, 1)]
        zero = [(1, 1, 0.0), *missing]
        cancelled = [(1, 1, 1.0), (1, 2, 2.0), (2, 1, 3.0), (2, 2, 6.0), (2, 3, 1.0), (3, 2, 1.0), (3, 3, 4.0)]
        block = [(1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0), (1, 3, 1.0), (3, 1, 1.0), (3, 3, 4.0), (3, 4, 1.0), (4, 4, 4.0)]
        shift, boost, none = (f"preconditioner.{key}" for key in ("pivot_policy = shift", "pivot_policy = boost", "name = none"))
        matching = "ordering.rows = matching"
        for name in ("sync_free_ilu", "par_ilut", "jacobi_sweeps", "subdomain_ildu0", "par_ilu"):
            policies = [shift, boost]
            alone = [(1, 1, 0.0), (2, 2, 4.0), (2, 1, 1.0), (3, 3, 4.0)]
            for entries, size, row, expected in ((missing, 1, 1, [matching, boost]), (zero, 1, 1, [matching, boost]), (alone, 1, 1, []), (cancelled, 1, 2, policies),
                                                 (missing, 2, 1, policies[1:]), (block, 2, 1, policies[1:])):
                with self.subTest(name, entries=entries, block=size):
                    rows = max(e[0] for e in entries)
                    self.write("a.mtx", coordinate(rows, entries))
                    keys = ("--set", f"preconditioner.name={name}", "--set", f"problem.block={size}")
                    said = self.expect(5, "run", "a.ini", *keys, says=f"the pivot at row {row} is ").stderr
                    self.assertEqual(said[said.index(" Try "):].strip(), "Try " + ", or ".join([*expected, none]) + ".")
                    for policy in expected:
                        words = ("--set", policy.replace(" ", ""), "--fresh")
                        self.assertNotIn("the pivot at", self.run_program("run", "a.ini", *keys, *words).stderr, policy)

    def test_list_says_which_matrices_a_preconditioner_takes(self):
        text = self.expect(0, "list", "preconditioners").stdout
        of = {line.split()[0]: line for line in text.replace("\n" + 27 * " ", "; ").split("\n") if line.strip()}
        self.assertIn("; matrices: general", of["sync_free_ilu"])
        self.assertIn("; matrices: on a grid;", of["struct_ilu"])
        self.assertIn("; matrices: on a grid, general;", of["jacobi"])
        self.assertIn("; matrices: on a grid, general, symmetric alone;", of["chebyshev"])

    def test_check_predicts_the_memory(self):
        deck = self.write("a.ini", DECK.format(file=INPUTS / "data" / "transport.mtx"))
        for level in ("0", "1"):
            words = ("--set", f"preconditioner.fill_level={level}", "--set", "device.threads=1")
            predicted = self.run_json(0, "check", deck, *words)["memory"]["predicted"]
            answer = self.run_json(0, "run", deck, *words)
            self.assertAlmostEqual(answer["memory"]["peak"] / predicted, 1.0, delta=0.02)

    def test_the_search_for_advice_takes_no_more_memory_than_the_run(self):
        deck = self.write("a.ini", DECK.format(file=INPUTS / "data" / "transport.mtx"))
        for order in ("natural", "rcm"):
            answer = self.run_json(3, "run", deck, "--set", f"ordering.name={order}", "--set", "solver.max_iterations=2",
                                   "--set", "device.threads=1", "--set", "solver.restart=2")
            self.assertLess(answer["memory"]["peak"] / answer["memory"]["predicted"], 1.02, order)

    def test_fill_that_no_memory_holds_is_refused(self):
        """A dense row and column fill the whole matrix at level 1."""
        rows = 20000
        arrow = [(i, i, 4) for i in range(1, rows + 1)] + [e for i in range(2, rows + 1) for e in ((1, i, 0.001), (i, 1, 0.001))]
        self.write("a.mtx", coordinate(rows, arrow))
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        for verb in ("check", "run"):
            done = subprocess.run([PROGRAM, verb, deck, "--backend", "cpu", "--threads", "1", "--set", "preconditioner.fill_level=1"],
                                  cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=few_addresses(700 << 20))
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn("use a lower fill_level, or preconditioner.name = par_ilut", done.stderr)

    def test_a_grid_in_general_form_takes_as_many_iterations(self):
        for name, problem in ON_A_GRID.items():
            for level in ("0", "1") if name in ("star7", "unsymmetric", "anisotropic") else ("0",):
                with self.subTest(name, level=level):
                    deck = self.write("a.ini", f"[problem]\n{problem}[solver]\nname = gmres\n[preconditioner]\n"
                                               f"name = struct_ilu\nfill_level = {level}\n")
                    there = self.run_json(0, "run", deck)
                    here = self.run_json(0, "run", deck, "--set", "matrix.format=general",
                                         "--set", "preconditioner.name=sync_free_ilu")
                    self.assertEqual([s["iterations"] for s in here["solves"]],
                                     [s["iterations"] for s in there["solves"]])
                    self.assertEqual(here["layout"], "rows")

    def test_a_transient_problem_in_general_form_gives_the_same_solution(self):
        deck = self.write("a.ini", "[problem]\nname = cahn_hilliard\n[grid]\ncells = 6 5 5\n[time]\ntime_step = 1e-6\n"
                                   "steps = 3\n[solver]\nname = gmres\nrtol = 1e-10\n[preconditioner]\nname = jacobi\n")
        there = self.run_json(0, "run", deck)["diagnostics"]
        here = self.run_json(0, "run", deck, "--set", "matrix.format=general")["diagnostics"]
        for name, values in there.items():
            self.assertAlmostEqual(here[name]["last"], values["last"], delta=1e-9 * (1 + abs(values["last"])))

    def test_the_same_bits_for_any_number_of_threads(self):
        deck = self.write("a.ini", DECK.format(file=INPUTS / "data" / "transport.mtx"))
        for threads in ("1", "2"):
            self.expect(0, "run", deck, "--threads", threads, "--set", f"output.file={threads}.h5", "--quiet")
        self.expect(0, "diff", "--tolerance", "0", "1.h5", "2.h5")

    def test_a_stopped_run_goes_on_with_the_same_bits(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=8, steps=6) + "[preconditioner]\nname = sync_free_ilu\n"
                                   "[matrix]\nformat = general\n[output]\ncheckpoint_every = 2\n")
        self.expect(0, "run", deck, "--set", "output.file=whole.h5", "--quiet")
        self.expect(75, "run", deck, "--quiet", stop_at=40)
        self.assertTrue(list(self.folder.glob("a.*.checkpoint")))
        self.expect(0, "run", deck, says="going on from step")
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_a_record_is_reported_run_again_and_exported(self):
        self.expect(0, "run", INPUTS / "matrix.ini", "--set", "output.file=a.h5", "--quiet")
        self.assertIn("rows layout", self.expect(0, "info", "a.h5").stdout)
        self.assertRegex(self.expect(0, "info", "a.h5").stdout, r"grid +none, [0-9]+ unknowns\n")
        self.expect(0, "report", "a.h5", "-o", "a.html")
        self.assertIn("sync_free_ilu", (self.folder / "a.html").read_text())
        self.expect(0, "run", "a.h5", "--set", "output.file=again.h5", "--quiet")
        self.expect(0, "diff", "a.h5", "again.h5", "--tolerance", "0")
        self.expect(0, "export", "a.h5", "-o", "exported")
        answer = self.solve("exported/A.mtx", "problem.right_hand_side=exported/b.mtx", "preconditioner.fill_level=1",
                            "solver.rtol=1e-8")
        self.assertEqual(answer["iterations"], self.run_json(0, "run", "a.h5", "--set", "output.file=b.h5")["iterations"])

    def test_compare_shows_what_structure_buys(self):
        deck = self.write("a.ini", "[problem]\nname = poisson\n[grid]\ncells = 9 7 6\n[solver]\nname = cg\n")
        done = self.expect(0, "compare", deck, "--preconditioners", "struct_ilu,sync_free_ilu:matrix.format=general",
                           "--reps", "1", "--json", "-", "--quiet")
        candidates = json.loads(done.stdout)["candidates"]
        self.assertEqual([len(candidates), len({row["iterations"] for row in candidates})], [2, 1])

    def test_real_matrices(self):
        if not (DATA / "orsreg_1.mtx").exists():
            self.skipTest("orsreg_1.mtx is not in HYPERPLANE_SHARED_DATA")
        answer = self.solve((DATA / "orsreg_1.mtx").resolve(), "solver.rtol=1e-8")
        self.assertLessEqual(abs(answer["iterations"] - 57), 2)


if __name__ == "__main__":
    unittest.main()
