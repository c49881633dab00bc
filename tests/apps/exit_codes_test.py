# SPDX-License-Identifier: BSD-3-Clause
"""Each exit code of the program, as a user would meet it, and what its message must say."""

import json
import os
import re
import unittest

from program import INPUTS, MATRIX, POISSON, TRANSPORT, ProgramTest, chain


class Usage(ProgramTest):
    """2: the command line or the deck is wrong."""

    def test_command_line(self):
        self.expect(2, says="a verb is missing")
        self.expect(2, "rum", says="did you mean run?")
        self.expect(2, "run", says="run needs DECK")
        self.expect(2, "compare", "a.ini", "--json", "--quiet",
                    says="compare: --json needs a value, and --quiet is an option")
        self.expect(2, "run", "a.ini", "b.ini", says="does not take 'b.ini'")
        for words in (("=", "1e-4"), ("=1e-4",)):
            self.expect(2, "run", "a.ini", "--set", "solver.rtol", *words,
                        says=f"run: '{words[0]}' stands alone; a setting is one word, --set solver.rtol=VALUE, or is quoted")
        self.expect(2, "--verbose", "run", "a.ini", says="'--verbose' is no verb; options stand behind one: hyperplane VERB --verbose")
        self.expect(2, "run", "a.ini", "--thread", "2", says="did you mean --threads?")
        self.expect(2, "run", "a.ini", "--threads", "-1", says="--threads: expected an integer >= 1, got '-1'")
        self.expect(2, "run", "a.ini", "--threads", "2x", says="got '2x'")
        self.expect(2, "help", "solver.rtoll", says="did you mean solver.rtol?")
        self.expect(2, "list", "things", says="problems")
        self.expect(2, "new", says="new needs PROBLEM, one of poisson, convection_diffusion, ")
        self.expect(2, "run", "a.ini", "--rtol", "1e-4", says="no option '--rtol'; did you mean --set newton.rtol=VALUE or --set solver.rtol=VALUE?")
        self.expect(2, "export", "a.ini", "--ranks", "2", says="no option '--ranks' (hyperplane help export)")  # it takes no device.ranks
        self.expect(2, "run", "a.ini", "--maxiter", "9", says="did you mean --set solver.max_iterations=VALUE?")
        self.expect(2, "run", "a.ini", "-s", "rtol", "1e-4", says="--set 'rtol': expected section.key=value; did you mean newton.rtol=VALUE or ")
        self.expect(2, "report", "a.h5", "-o", "a.pdf", says="-o a.pdf: a page is HTML, so give -o a.html; --png a.pdf draws")
        self.expect(7, "run", ".", says=".: cannot read the deck: Is a directory; name a deck in it")

    def test_files_that_are_no_decks_and_decks_that_are_no_records(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        (self.folder / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        done = self.expect(2, "run", "b.png", says="b.png: a binary file and no deck; a deck is text")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.expect(7, "info", deck, says="a.ini: not an HDF5 file, or not all of one; a deck holds no results: hyperplane run makes")

    def test_words_of_other_programs(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        for setting, meant in (("preconditioner.name=amg", "multigrid"), ("preconditioner.name=ILU0", "struct_ilu"),
                               ("solver.name=pcg", "cg"), ("device.backend=gpu", "cuda")):
            self.expect(2, "run", deck, "--set", setting, says=f"did you mean {meant}?")
        self.expect(2, "compare", deck, "--preconditioners", "amg", says="did you mean multigrid?")
        self.expect(2, "compare", deck, "--preconditioners", "jacobi multigrid", says="'jacobi multigrid'; commas separate names")
        self.expect(2, "run", deck, "--set", "grid.cells=8x8X8", says="got '8x8X8'; blanks or commas separate numbers: 8 8 8")
        self.expect(2, "run", deck, "--set", "solver.max_iterations=8x8", says="expected an integer, got '8x8' (")
        self.expect(2, "run", deck, "--set", "grid.cells=x", says="expected an integer, got 'x' (")

    def test_check_says_what_makes_a_run_smaller(self):
        deck = self.write("a.ini", POISSON.format(cells=40) + "[preconditioner]\nname = struct_ilu\nfill_level = 1\n")
        done = self.expect(6, "check", deck, "--set", "device.memory_limit=1")
        self.assertIn("does not fit: 1.0 MiB left; it takes less with a smaller grid.cells or preconditioner.fill_level\n", done.stdout)

    def test_more_threads_than_processors(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        most = os.cpu_count()
        self.expect(0, "run", deck, "--threads", str(most + 1),
                    says=f"warning: device.threads = {most + 1}, and there are {most} processors: threads that share one slow each other")

    def test_failure_as_json(self):
        for words in (("run", "--json"), ("compare", "--json", "-"), ("compare", "--json=-"), ("bench", "solve", "--json", "-")):
            with self.subTest(words):
                self.assertEqual(json.loads(self.run_program(words[0], "none.ini", *words[1:]).stdout)["status"], "failed")
        for words in (("compare", "--json", "c.json"), ("bench", "solve", "--json", "c.json"), ("compare", "--json=c.json")):
            with self.subTest(words):  # JSON goes to the file alone
                done = self.run_program(*words, "none.ini")
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn("exit_code", done.stdout)

    def test_a_deck_instead_of_a_verb(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(2, deck, says="did you mean hyperplane run a.ini?")

    def test_all_errors_of_a_deck_together(self):
        deck = self.write("a.ini", "[problem]\nname = poisson\n[solver]\nrtoll = 1\nmax_iterations = 1.5\nrtol = -1\n")
        done = self.expect(2, "run", deck, says=["a.ini:4", "did you mean", "a.ini:5", "a.ini:6"])
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "a.h5").exists())

    def test_lines_that_end_in_cr_alone(self):
        text = POISSON.format(cells=8)
        (self.folder / "a.ini").write_text(text.replace("\n", "\r"), newline="")
        self.expect(2, "run", "a.ini", says="a.ini:1: the lines end in CR alone, as on old Macintoshes; tr ")
        (self.folder / "b.ini").write_text(text.replace("\n", "\r\n"), newline="")
        self.expect(0, "check", "b.ini")
        self.write("m.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="cg"))
        for end, code in (("\r", 7), ("\r\n", 0), ("\r\r\n", 0)):
            (self.folder / "a.mtx").write_text(chain([4] * 5).replace("\n", end), newline="")
            self.expect(code, "check", "m.ini", says="a.mtx:1: the lines end in CR alone" if code else ())

    def test_overrides(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(2, "run", deck, "--set", "solver.rtol=x", says="solver.rtol")
        self.expect(2, "run", deck, "--set", "solver.rtol", says="solver.rtol")
        self.expect(2, "run", deck, "--set", "nothing.here=1", says="[nothing]")
        self.expect(0, "run", deck, "--set", "solver.rtol=1e-2", "--set", "solver.rtol=1e-3")
        self.assertLess(self.record("a.h5")["solves"][0]["relative_residual"], 1e-3)

    def test_solvers_and_preconditioners_that_do_not_fit(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        solvers = self.registered("solvers")
        nonsymmetric = self.accepted(self.write("t.ini", TRANSPORT.format(cells=8, steps=1)), "solver")
        self.assertIn("gmres", nonsymmetric)
        sweeps = ("--set", "preconditioner.name=jacobi_sweeps")
        asynchronous = (*sweeps, "--set", "preconditioner.mode=block_async")
        for solver in set(solvers) - {"fgmres", "richardson"}:
            self.expect(2, "run", deck, *asynchronous, "--set", f"solver.name={solver}",
                        says=f"solver.name = {solver} needs a preconditioner that is the same in every iteration, and "
                             "jacobi_sweeps with block_async sweeps, which read whatever values others have at the time, "
                             "differs each time; only fgmres and richardson support that")
        for solver in ("fgmres", "richardson"):
            self.expect(0, "run", deck, *asynchronous, "--set", f"solver.name={solver}")
            self.assertEqual(self.record("a.h5")["environment"]["not_deterministic"], "block_async sweeps")
        uneven = (*sweeps, "--set", "preconditioner.upper_sweeps=4")
        for solver in solvers:
            if solver in nonsymmetric:
                self.expect(0, "run", deck, *uneven, "--set", f"solver.name={solver}")
            else:
                self.expect(2, "run", deck, *uneven, "--set", f"solver.name={solver}",
                            says=f"solver.name = {solver} needs a symmetric positive definite preconditioner, and "
                            "jacobi_sweeps with lower_sweeps = 5 and upper_sweeps = 4 is not one here")
        self.expect(2, "run", deck, *sweeps, "--set", "preconditioner.block_order=forward",
                    says="preconditioner.block_order means nothing with preconditioner.mode = sync")
        swept = ("--set", "preconditioner.name=par_ilu")
        self.expect(2, "run", deck, *swept, "--set", "preconditioner.lower_sweeps=3",
                    says="preconditioner.lower_sweeps means nothing with preconditioner.triangular_solve = exact")
        self.expect(2, "run", deck, *swept, "--set", "preconditioner.solve_mode=block_async",
                    says="preconditioner.solve_mode means nothing with preconditioner.triangular_solve = exact")
        for solver in solvers:
            done = self.expect(0, "run", deck, *swept, "--set", "preconditioner.mode=async", "--set",
                               f"solver.name={solver}")
            self.assertIn("; not deterministic: mode = async\n", done.stdout)
        swept += ("--set", "preconditioner.triangular_solve=jacobi")
        for solver in solvers:
            self.expect(0, "run", deck, *swept, "--set", f"solver.name={solver}")
        self.expect(2, "run", deck, *swept, "--set", "preconditioner.solve_mode=block_async", "--set",
                    "solver.name=bicgstab",
                    says="par_ilu with block_async sweeps, which read whatever values others have at the time, differs each "
                         "time; only fgmres and richardson support that")
        boxes = ("--set", "preconditioner.name=subdomain_ildu0")
        for solver in solvers:
            self.expect(0, "run", deck, *boxes, "--set", f"solver.name={solver}")
        for variant in ("spin", "dag_vertex", "dag_edge"):
            self.expect(2, "run", deck, *boxes, "--set", f"preconditioner.variant={variant}", "--backend", "cpu",
                        says=f"variant {variant} is a way in which threads of a GPU wait for each other")
        smoother = ("--set", "preconditioner.name=multigrid", "--set", "smoother.name=subdomain_ildu0", "--set", "smoother.variant=spin")
        for verb in ("check", "run"):  # before the set-up, in which smoothers are made
            self.expect(2, verb, deck, *smoother, "--backend", "cpu", "--set", "output.file=smoothed.h5", says="Set smoother.variant = level")
        self.assertFalse((self.folder / "smoothed.h5").exists())
        self.expect(2, "run", deck, *boxes, "--set", "preconditioner.subdomain=16 16",
                    says="preconditioner.subdomain: expected 3 integers >= 1 or auto, got 2 values")

    def test_multigrid(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        multigrid = ("--set", "preconditioner.name=multigrid")
        for solver in self.registered("solvers"):
            self.expect(0, "run", deck, *multigrid, "--set", f"solver.name={solver}")
        for uneven, words in (("preconditioner.cycle=f", "cycle = f"),
                              ("preconditioner.pre_smoothing=2", "pre_smoothing = 2 and post_smoothing = 1")):
            self.expect(2, "run", deck, *multigrid, "--set", uneven, "--set", "solver.name=cg",
                        says="solver.name = cg needs a symmetric positive definite preconditioner, and multigrid with "
                        f"{words} is not one here")
            self.expect(0, "run", deck, *multigrid, "--set", uneven, "--set", "solver.name=gmres")
        varying = (*multigrid, "--set", "smoother.name=jacobi_sweeps", "--set", "smoother.mode=block_async")
        self.expect(2, "run", deck, *varying, "--set", "solver.name=cg",
                    says="solver.name = cg needs a preconditioner that is the same in every iteration")
        self.expect(0, "run", deck, *varying, "--set", "solver.name=fgmres")
        self.expect(2, "run", deck, *multigrid, "--set", "preconditioner.grids=1", "--set", "grid.cells=17 17 17",
                    says="the coarsest grid has")
        for key in ("strength=0.3", "coarsest_points=30", "coarse_smoother=jacobi"):
            self.expect(2, "run", deck, *multigrid, "--set", "preconditioner.grids=1", "--set", f"preconditioner.{key}",
                        says=f"preconditioner.{key.split('=')[0]} means nothing with preconditioner.grids = 1")
        refused = self.expect(9, "run", deck, *multigrid, "--set", "device.backend=cpu", "--set",
                              "smoother.name=cusparse_ilu", says="cusparse_ilu ")
        self.assertNotIn("preconditioner.name", refused.stderr)
        self.expect(2, "run", deck, *multigrid, "--set", "preconditioner.pre_smoothing=0", "--set",
                    "preconditioner.post_smoothing=0", says="a cycle without smoothing")
        self.expect(2, "run", deck, "--set", "smoother.name=jacobi",
                    says="section [smoother] belongs to preconditioner multigrid, not to struct_ilu")
        self.expect(2, "run", deck, *multigrid, "--set", "smoother.name=multigrid",
                    says="no smoother is called 'multigrid'")
        self.expect(2, "run", deck, *multigrid, "--set", "smoother.name=jacobi", "--set", "smoother.fill_level=1",
                    says="smoother.fill_level belongs to smoother struct_ilu")
        self.expect(2, "run", deck, *multigrid, "--set", "smoother.pivot_policy=none",
                    says="smoother.pivot_policy: 'none' is none of")
        transport = self.write("t.ini", TRANSPORT.format(cells=8, steps=1))
        self.expect(0, "run", transport, *multigrid, "--set", "solver.name=gmres")
        self.expect(2, "run", transport, *multigrid, "--set", "solver.name=gmres", "--set", "smoother.name=chebyshev",
                    says="smoother.name = chebyshev needs a symmetric matrix")

    def test_unknown_component(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(2, "run", deck, "--set", "preconditioner.name=ilux", says="ilux")

    def test_contradictions_are_reported_together(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=8, steps=1))
        self.expect(2, "run", deck, "--set", "solver.name=cg", "--set", "solver.rtol=1e-8", "--set",
                    "expect.min_iterations=5", "--set", "expect.max_iterations=4",
                    says=["cg needs a symmetric matrix", "expect.min_iterations"])

    def test_contradictions_of_all_parts_of_a_deck_together(self):
        deck = self.write("a.ini", """[problem]
name = poisson
contrast = 3
seed = 2
stencil = box27
box27_weights = hpcg
discretisation = cell
[grid]
cells = 8
[time]
steps = 3
[newton]
rtol = 1e-3
max_iterations = 5
[solver]
name = cg
[ordering]
name = rcm
[scaling]
name = row
[device]
ranks = 30
[initial]
file = nope.h5
[output]
checkpoint_every = 3
file = x.part
[expect]
max_steps = 3
min_iterations = 20
max_iterations = 10
""")
        done = self.expect(2, "check", deck)
        lines = (self.folder / deck).read_text().splitlines()
        wrong = ["contrast", "seed", "stencil", "steps", "rtol", "max_iterations = 5", "name = rcm", "name = row", "ranks",
                 "checkpoint_every", "file = x", "max_steps", "min_iterations"]
        numbers = sorted(1 + next(at for at, line in enumerate(lines) if line.startswith(word)) for word in wrong)
        self.assertEqual(sorted(int(n) for n in re.findall(r"a\.ini:(\d+): ", done.stderr)), numbers, done.stderr)
        keep = [line for at, line in enumerate(lines, 1) if at not in numbers and not line.startswith("box27")]
        self.write("a.ini", "\n".join(keep) + "\n")
        self.expect(7, "check", deck, says=["initial.file", "nope.h5"])  # files are read when the deck is right

    def test_contradictions_within_a_preconditioner_together(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = multigrid\npre_smoothing = 0\n"
                          "post_smoothing = 0\nstorage_from = 1\nvectors = single\ncoarsest_sweeps = 3\ngrids = 1\nstrength = 0.2\n")
        done = self.expect(2, "check", deck, "--set", "output.fields_every=2")
        self.assertEqual(re.findall(r"(?:a\.ini:\d+|--set): ([\w.]+)", done.stderr),
                         ["output.fields_every", *(f"preconditioner.{key}" for key in (
                             "storage_from", "vectors", "coarsest_sweeps", "strength", "post_smoothing"))], done.stderr)

    def test_a_missing_file_hides_no_contradiction(self):
        deck = self.write("a.ini", "[problem]\nname = matrix\nfile = nope.mtx\n[solver]\nname = cg\n[preconditioner]\nname = none\n"
                          "[expect]\nmin_iterations = 3\nmax_iterations = 2\n")
        done = self.expect(2, "check", deck, says="expect.min_iterations")
        self.assertNotIn("nope.mtx", done.stderr)
        self.expect(7, "check", deck, "--set", "expect.min_iterations=1", says="nope.mtx")
        self.expect(2, "check", deck, "--set", "preconditioner.name=par_ilut", "--set", "preconditioner.storage=single",
                    says=["expect.min_iterations", "preconditioner.storage: par_ilut stores its factors in double alone"])

    def test_time_steps_for_a_steady_problem(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[time]\nsteps = 2\n")
        self.expect(2, "run", deck, says=["a.ini:9", "poisson is steady"])


class Solve(ProgramTest):
    """3 and 4: the solve did not converge."""

    def test_not_converged(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.expect(3, "run", deck, "--set", "solver.max_iterations=2", says="max_iterations")
        record = self.record("a.h5")
        self.assertEqual((record["status"], record["exit_code"]), ("failed", 3))
        self.assertEqual(record["solves"][0]["iterations"], 2)

    def test_diverged(self):
        deck = self.write("a.ini", POISSON.format(cells=16).replace("cg", "richardson"))
        self.expect(4, "run", deck, "--set", "preconditioner.name=none", says="diverged")

    def test_indefinite_operator(self):
        self.write("a.mtx", chain([4, 4, -4, 4, 4]))
        deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="cg"))
        self.expect(4, "run", deck, "--set", "preconditioner.name=none", says="indefinite_operator")

    def test_indefinite_preconditioner(self):
        self.write("a.mtx", chain([4, 4, -4, 4, 4]))
        deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="cg"))
        self.expect(4, "run", deck, "--set", "preconditioner.name=jacobi", says="indefinite_preconditioner")

    def test_not_finite(self):
        deck = self.write("a.ini", POISSON.format(cells=8).replace("cg", "richardson\ndamping = 1e200"))
        self.expect(4, "run", deck, "--set", "preconditioner.name=none", "--set", "solver.divergence_tolerance=1e300",
                    says="not_finite")
        self.assertEqual(self.record("a.h5")["status"], "failed")

    def test_out_of_range(self):
        for size, says in ((1e200, "multiply b by 1e-201"), (1e-200, "multiply b by 1e199")):
            self.write("a.mtx", chain([4 * size] * 5, -size))
            for solver in ("cg", "gmres", "bicgstab", "richardson"):
                deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver=solver))
                result = self.expect(4, "run", deck, "--fresh", says=says)
                self.assertIn("out_of_range", result.stdout + result.stderr)
                self.assertNotIn("check the coefficients", result.stdout + result.stderr)
        self.assertEqual(self.record("a.h5")["status"], "failed")

    def test_a_state_that_decays_to_nothing(self):
        deck = self.write("a.ini", "[problem]\nname = convection_diffusion\nviscosity = 1\n[grid]\ncells = 8\n"
                                   "[time]\ntime_step = 100\nsteps = 60\n[solver]\nname = gmres\nrtol = 1e-10\n")
        done = self.expect(4, "run", deck)
        self.assertRegex(done.stdout, "out_of_range: .*; try solver.atol = 1e-140")
        self.expect(0, "run", deck, "--fresh", "--set", "solver.atol=1e-140")

    def test_false_convergence(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        self.expect(4, "run", deck, "--set", "solver.rtol=1e-18", says="false_convergence")

    def test_a_recurrence_that_underflows(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        self.expect(4, "run", deck, "--set", "solver.rtol=0", says="false_convergence")

    def test_a_matrix_whose_rows_add_up_to_zero(self):
        says = "b = A 1 is zero but for rounding, since the entries of each row of the matrix add up to zero but for rounding"
        for size, warned in ((1.0, True), (0.1, True), (1.01, False)):
            self.write("a.mtx", chain([size, 2 * size, 2 * size, 2 * size, size], off=-1.0 if size > 1 else -size))
            self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="cg"))
            self.write("b.ini", "[problem]\nname = matrix\nfile = a.mtx\n[solver]\nname = cg\n[preconditioner]\nname = none\n")
            for deck in ("a.ini", "b.ini"):
                done = self.run_program("run", deck, "--fresh", "--set", "preconditioner.name=none")
                self.assertEqual(says in done.stderr, warned, done.stderr)

    def test_factors_beyond_double_precision_are_told_from_a_nan(self):
        self.write("a.mtx", chain([1e-300, 1.0, 1.0], off=1e100))
        self.write("a.ini", "[problem]\nname = matrix\nfile = a.mtx\n[preconditioner]\nname = sync_free_ilu\n")
        self.expect(5, "run", "a.ini", says="values so large or small that the factors grew beyond double precision")
        self.write("a.mtx", chain([2e-310] * 5, off=-1e-310))
        self.expect(5, "run", "a.ini", says="the pivot at row 1 is 2e-310, so small that double precision cannot hold its inverse")

    def test_b_of_zero_is_solved(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        answer = self.run_json(0, "run", deck, "--set", "problem.right_hand_side=zero")
        self.assertEqual(answer["iterations"], 0)


class Preconditioner(ProgramTest):
    """5: the set-up found a pivot that cannot be used."""

    def setUp(self):
        super().setUp()
        self.write("a.mtx", chain([4, 4, 0, 4, 4], 0.0))
        self.deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="gmres"))

    def test_zero_pivot(self):
        self.expect(5, "run", self.deck, says="2")  # the cell (2, 0, 0)
        record = self.record("a.h5")
        self.assertEqual((record["status"], record["exit_code"]), ("failed", 5))
        self.assertIn("pivot", record["message"])

    def test_expected_by_the_deck(self):
        self.expect(0, "run", self.deck, "--set", "expect.exit_code=5")
        self.expect(8, "run", self.deck, "--set", "expect.exit_code=4")


class Expectation(ProgramTest):
    """8: the results do not meet the expectations of the deck."""

    def test_unmet(self):
        deck = self.write("a.ini", POISSON.format(cells=16) + "[expect]\niterations = 3\nmax_error = 1e-9\n")
        self.expect(8, "run", deck, says=["a.ini:9: expect.iterations = 3, found", "a.ini:10: expect.max_error"])
        record = self.record("a.h5")
        self.assertEqual((record["status"], record["exit_code"]), ("failed", 8))
        self.assertRegex(record["message"], r"^converged_rtol: .*; \[expect\] not met: a.ini:9: expect.iterations = 3, found .*; a.ini:10: expect.max_error")
        self.assertIn("[expect] not met: a.ini:9", self.expect(0, "info", "a.h5").stdout)
        done = self.expect(0, "run", deck, "--fresh", "--set", "expect.iterations=", "--set", "expect.max_error=")
        self.assertNotIn("expect", self.record("a.h5")["message"], done.stdout)


class Good(ProgramTest):
    """0: valid and converged."""

    def test_default_deck(self):
        done = self.expect(0, "run", str(INPUTS / "poisson.ini"))
        self.assertIn("converged_rtol", done.stdout)
        self.assertTrue((self.folder / "poisson.h5").exists())
        self.assertTrue((self.folder / "poisson.vtkhdf").exists())
        self.assertFalse((self.folder / "poisson.h5.part").exists())


if __name__ == "__main__":
    unittest.main()
