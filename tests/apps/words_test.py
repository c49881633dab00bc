# SPDX-License-Identifier: BSD-3-Clause
"""What messages say: units, plurals, what was meant, names of files that cannot be."""

import re
import unittest

from program import INPUTS, POISSON, TRANSPORT, ProgramTest


class KeysWithoutEffect(ProgramTest):
    """A key that has no effect with the values of others is an error, which names them."""

    def refused(self, deck, *settings, says):
        words = [word for setting in settings for word in ("--set", setting)]
        with self.subTest(settings):
            self.expect(2, "check", deck, *words, says=says)

    def test_seeds_where_nothing_is_random(self):
        seed = "problem.seed=5"
        deck = self.write("p.ini", POISSON.format(cells=6))
        self.refused(deck, seed, says="problem.seed: only right_hand_side = random and coefficient = lognormal, white or spe10like "
                     "use it, not manuexp and const; remove the key")
        self.expect(0, "check", deck, "--set", seed, "--set", "problem.right_hand_side=random")
        cells = ("--set", "problem.discretisation=cell")
        self.expect(0, "check", deck, "--set", seed, *cells, "--set", "problem.coefficient=white")
        self.expect(0, "check", deck, "--set", seed, *cells, "--set", "problem.boundary_condition=neumann")
        deck = self.write("t.ini", TRANSPORT.format(cells=6, steps=1))
        self.refused(deck, seed, says="problem.seed: only right_hand_side = random and initial_condition = random use it")
        self.expect(0, "check", deck, "--set", seed, "--set", "problem.initial_condition=random")
        deck = self.write("b.ini", "[problem]\nname = block_laplacian\n[grid]\ncells = 6\n")
        self.refused(deck, seed, says="problem.seed: only right_hand_side = random uses it")
        self.expect(0, "check", deck, "--set", seed, "--set", "problem.right_hand_side=random")

    def test_keys_of_preconditioners(self):
        deck = self.write("p.ini", POISSON.format(cells=6))
        boost = "preconditioner.pivot_boost=0.5"
        for name in ("struct_ilu", "fgbilu", "jacobi_sweeps", "multicolor", "subdomain_ildu0"):
            self.refused(deck, f"preconditioner.name={name}", boost,
                         says="preconditioner.pivot_boost means nothing with preconditioner.pivot_policy = fail")
        self.expect(0, "check", deck, "--set", boost, "--set", "preconditioner.pivot_policy=boost")
        self.expect(0, "check", deck, "--set", boost, "--set", "preconditioner.name=par_ilu")
        grids = "preconditioner.name=multigrid"
        self.refused(deck, grids, "smoother.pivot_policy=fail", "smoother.pivot_boost=0.5",
                     says="smoother.pivot_boost means nothing with smoother.pivot_policy = fail")
        self.expect(0, "check", deck, "--set", grids, "--set", "smoother.pivot_boost=0.5")
        self.refused(deck, grids, "preconditioner.damping=1", "preconditioner.power_steps=5",
                     says="preconditioner.power_steps means nothing with preconditioner.damping = 1")
        self.expect(0, "check", deck, "--set", grids, "--set", "preconditioner.power_steps=5")
        general = ("matrix.format=general", "preconditioner.name=par_ilut", "preconditioner.rounds=0")
        for key in ("fill_limit=3", "candidates=3", "tolerance=0.5", "pivot_boost=0.5"):
            self.refused(deck, *general, f"preconditioner.{key}", says="means nothing with preconditioner.rounds = 0")
        self.expect(0, "check", deck, *(w for s in (*general[:2], boost, "preconditioner.tolerance=0.5") for w in ("--set", s)))

    def test_keys_that_say_something_of_a_missing_one(self):
        deck = self.write("p.ini", POISSON.format(cells=6))
        self.refused(deck, "initial.interpolate=true", says="--set: initial.interpolate: means nothing without initial.file")
        self.refused(deck, "expect.error_norm=foo",
                     says="expect.error_norm: means nothing without expect.min_error or expect.max_error")
        self.refused(deck, "expect.diagnostic=foo", says="expect.diagnostic: means nothing without expect.min_diagnostic or ")
        self.refused(deck, "expect.max_diagnostic=1", says="expect.max_diagnostic: means nothing without expect.diagnostic")
        self.expect(0, "check", deck, "--set", "expect.error_norm=rms", "--set", "expect.max_error=1")
        self.refused(deck, "expect.error_norm=foo", "expect.max_error=1",
                     says="--set: expect.error_norm: there is no error norm called 'foo'; there are max, rms")
        self.refused(deck, "expect.error_norm=rmss", "expect.max_error=1",
                     says="expect.error_norm: there is no error norm called 'rmss'; did you mean rms? There are max, rms")
        self.refused(deck, "problem.right_hand_side=random", "expect.max_error=1",
                     says="--set: expect.max_error: the exact solution of this problem is not known")
        for key in ("steps", "max_steps", "max_newton_iterations", "max_steady_residual"):
            self.refused(deck, f"expect.{key}=1", says=f"expect.{key}: poisson is steady, so it takes no time steps")

    def test_a_grid_where_there_is_none(self):
        (self.folder / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
        deck = self.write("m.ini", "[problem]\nname = matrix\nfile = m.mtx\n[preconditioner]\nname = jacobi\n")
        for key in ("cells=1", "lengths=2", "periodic=x"):
            self.refused(deck, f"grid.{key}", says=": matrix has no grid; leave the key out")

    def test_a_record_of_defaults_can_be_run_again(self):
        for name, deck in (("p", POISSON.format(cells=6) + "[preconditioner]\nname = multigrid\ndamping = 1\n"),
                           ("t", TRANSPORT.format(cells=6, steps=1))):
            self.expect(0, "run", self.write(f"{name}.ini", deck), "--quiet")
            self.expect(0, "run", f"{name}.h5", "--quiet", "--set", f"output.file={name}2.h5")


class ShortOptions(ProgramTest):
    """-b, -t and --ranks are short for --set of a key of [device]."""

    def test_one_that_contradicts_a_setting(self):
        deck = self.write("a.ini", POISSON.format(cells=6))
        for option, value, key, other in (("-b", "cpu", "backend", "cuda"), ("--ranks", "2", "ranks", "3"), ("-t", "2", "threads", "3")):
            setting = ("--set", f"device.{key}={other}")
            for words in ((option, value, *setting), (*setting, option, value)):
                for verb in ("run", "check"):
                    self.expect(2, verb, deck, *words, says=f"--{key} {value} and --set device.{key}={other} contradict each other")
        self.assertFalse((self.folder / "a.h5").exists())

    def test_one_that_agrees_with_the_setting_that_counts(self):
        deck = self.write("a.ini", POISSON.format(cells=6) + "[device]\nthreads = 4\nranks = 3\n")
        self.expect(0, "check", deck, "-t", "2", "--set", "device.threads=2", "-b", "cpu", "--set", "device.backend=cpu")
        self.expect(0, "check", deck, "--ranks", "2", "--set", "device.ranks=3", "--set", "device.ranks=2")
        for words in (("-b", "cpu", "--set", "device.backend="), ("-t", "2", "--set", "device.threads=")):  # a key without a value is left out
            self.expect(0, "check", deck, *words)
        self.expect(2, "check", deck, "--ranks", "2", "--set", "device.ranks=2", "--set", "device.ranks=3",
                    says="--ranks 2 and --set device.ranks=3")


class Places(ProgramTest):
    """What a message names: the line, the key, or the section that is meant."""

    def test_a_default_has_its_line(self):
        deck = self.write("a.ini", POISSON.format(cells=4).replace("[grid]", "[grid]\nfoo ?= 3\nlengths ?= x"))
        self.expect(2, "check", deck, says=["a.ini:5: unknown key grid.foo", "a.ini:6: grid.lengths: expected a finite number"])

    def test_a_default_that_would_be_ignored(self):
        deck = POISSON.format(cells=4)
        for problem, value, here in ((deck, "2", " and is 1 here"), (deck, "10", " and is 1 here"),
                                     ("[problem]\nname = euler\ncase = vortex\n[grid]\n", "1", " and is 10 here"),
                                     ("[problem]\nname = ch\n[grid]\n", "1", "")):
            self.write("a.ini", problem.replace("[grid]", f"[grid]\nlengths ?= {value}"))
            for verb in ("check", "run"):
                self.expect(2, verb, "a.ini", says=f": grid.lengths ?= {value} would be ignored, since this default follows other "
                            f"keys{here}; write lengths = {value}, or leave the line out (hyperplane help grid.lengths)")
        self.expect(0, "check", self.write("a.ini", deck.replace("[grid]", "[grid]\nlengths ?= 1")))
        self.expect(0, "run", self.write("v.ini", "[problem]\nname = euler\ncase = vortex\n[grid]\ncells = 8\nlengths ?= 10\n[time]\nsteps = 1\n"))
        self.expect(0, "check", "v.h5", "--set", "problem.case=taylor_green")

    def test_a_number_with_a_unit(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        self.expect(2, "check", deck, "--set", "device.memory_limit=2GB", says="expected a finite number in MiB, got '2GB'")

    def test_a_matrix_in_place_of_a_deck(self):
        (self.folder / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
        done = self.expect(2, "run", "m.mtx", says="a deck names it as file = m.mtx in [problem] with name = matrix")
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_keys_of_studies(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        for key in ("slurm.gpus=1", "sweep.combine=zip"):
            self.expect(2, "check", deck, "--set", key, says=f"--set: {key.partition('=')[0]}: section [{key.partition('.')[0]}] is "
                        "for studies, and no key of it can be set for a single run (hyperplane help study)")
        deck = self.write("b.ini", POISSON.format(cells=4) + "[slurm]\ngpus = 2\n")
        done = self.expect(2, "check", deck, says="b.ini:8: section [slurm] is for studies, and no key of it can be set for a single run "
                           "(hyperplane help study)")
        self.assertNotIn("unknown", done.stderr)

    def test_a_file_of_output_in_no_folder(self):
        deck = self.write("a.ini", POISSON.format(cells=4) + "[output]\nfile = no/such/b.h5\n")
        for verb in ("check", "run"):
            self.expect(7, verb, deck, says="a.ini:9: output.file: the folder no/such does not exist")
        self.expect(7, "run", deck, "--set", "output.file=/proc/b.h5", says="--set: output.file: /proc/b.lock: cannot be made: ")

    def test_an_axis_is_named_once(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        for twice in ("xx", "x x", "y,x,y"):
            self.expect(2, "check", deck, "--set", f"grid.periodic={twice}",
                        says=f"--set: grid.periodic: names the axis {twice[0]} twice, got '{twice}'")

    def test_nothing_is_printed_before_an_error_of_the_command_line(self):
        done = self.expect(2, "bench", "vectors", "--unknowns", "abc", says="--unknowns: expected an integer >= 1, got 'abc'")
        self.assertEqual(done.stdout, "")

    def test_integers_beyond_a_limit_are_told_the_limit(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        most = 2**31 - 1
        for option, words in (("unknowns", ("bench", "vectors", "--unknowns", "8,3000000000")), ("repeats", ("bench", "vectors", "--repeats", "3000000000")),
                              ("reps", ("compare", deck, "--auto", "--reps", "3000000000")), ("threads", ("run", deck, "--threads", "3000000000"))):
            self.expect(2, *words, says=f"--{option}: 3000000000 is out of range; expected an integer >= 1 and <= {most}\n")
        for case, says in (("star7:1:100001", "N: 100001 is out of range; expected an integer >= 1 and <= 100000\n"),
                           ("star7:1:99999999999", "N: 99999999999 is out of range; expected an integer >= 1 and <= 100000\n"),
                           ("star7:33:8", "DOF: 33 is out of range; expected an integer >= 1 and <= 32\n"),
                           ("star7:1:0", "N: expected an integer >= 1, got '0'\n"), ("star7:1.5:8", "DOF: expected an integer >= 1, got '1.5'\n")):
            self.expect(2, "bench", "kernels", "--cases", case, says=f"--cases: '{case}': {says}")
        self.expect(2, "bench", "hpcg", "16", "16", "8", says="bench hpcg: NZ: expected an integer >= 16, got '8'\n")
        self.expect(2, "bench", "hpcg", "16", "3000000000", "8", says=f"bench hpcg: NY: 3000000000 is out of range; expected an integer >= 16 and <= {most}\n")
        for setting, says in (("solver.max_iterations=1e30", "1e30 is out of range; expected integer >= 0 and <= 9.22337e+18 ("),
                              ("solver.max_iterations=-1e30", "-1e30 is out of range; expected integer >= 0 ("),
                              ("grid.cells=1e30", "1e30 is out of range; expected integers >= 1 and <= 100000 (")):
            self.expect(2, "check", deck, "--set", setting, says=f"--set: {setting.partition('=')[0]}: {says}")
        self.expect(0, "check", deck, "--set", "solver.max_iterations=1e18")

    def test_all_that_a_general_matrix_cannot_have(self):
        deck = self.write("a.ini", POISSON.format(cells=4) + "[matrix]\nformat = general\n[preconditioner]\nname = par_ilu\n"
                          "storage = single\nmode = async\ntriangular_solve = jacobi\n")
        self.expect(2, "check", deck, says=["a.ini:12: preconditioner.storage: of a general matrix",
                                            "a.ini:13: preconditioner.mode: on a general matrix"])

    def test_what_does_not_go_together_has_its_line(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=4, steps=1).replace("gmres", "cg"))
        line = 1 + (self.folder / "a.ini").read_text().splitlines().index("name = cg")
        self.expect(2, "check", deck, says=f"a.ini:{line}: solver.name = cg needs a symmetric matrix")
        deck = self.write("b.ini", POISSON.format(cells=4) + "[preconditioner]\nname = sync_free_ilu\n")
        self.expect(2, "check", deck, says="b.ini:9: preconditioner.name = sync_free_ilu takes general matrices alone")
        done = self.expect(2, "check", deck, "--set", "preconditioner.name=par_ilut")
        self.assertIn("error: preconditioner.name = par_ilut takes general", done.stderr)

    def test_a_scaling_that_is_not_symmetric(self):
        deck = self.write("a.ini", POISSON.format(cells=4) + "[matrix]\nformat = general\n[preconditioner]\nname = jacobi\n"
                          "[scaling]\nname = row\n")
        self.expect(2, "check", deck, says="solver.name = cg needs a symmetric positive definite preconditioner, and jacobi with scaling.name = row is "
                    "not one here")
        self.expect(0, "check", deck, "--set", "scaling.name=symmetric")


class Suggestions(ProgramTest):
    """Keys as other programs call them."""

    def test_rivals_values(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        self.expect(2, "check", deck, "--backend", "gpu", says="'gpu' is none of auto | cpu | cuda; did you mean cuda?")
        self.expect(2, "help", "rtoll", says="did you mean rtol?")

    def test_rivals_names(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        for theirs, ours in (("solver.maxiter", "solver.max_iterations"), ("solver.max_it", "solver.max_iterations"),
                             ("solver.tol", "solver.rtol"), ("solver.ksp_rtol", "solver.rtol"),
                             ("ksp.rtol", "solver.rtol"), ("pc.type", "preconditioner.name"),
                             ("preconditioner.level", "preconditioner.fill_level"),
                             ("preconditioner.pc", "preconditioner.name"), ("output.filename", "output.file"),
                             ("grid.nx", "grid.cells"), ("device.nthreads", "device.threads")):
            with self.subTest(theirs):
                self.expect(2, "check", deck, "--set", f"{theirs}=1", says=f"did you mean {ours}?")
        for theirs, ours in (("maxiter", "solver.max_iterations=9"), ("pc", "preconditioner.name=9"),
                             ("filename", "output.file=9"), ("ksp_rtol", "solver.rtol=9")):
            with self.subTest(theirs):
                self.expect(2, "check", deck, "--set", f"{theirs}=9", says=f"did you mean {ours}?")
        self.expect(2, "check", deck, "--set", "preconditioner.name=multigrid", "--set", "preconditioner.smoother=jacobi",
                    says="unknown key preconditioner.smoother; did you mean smoother.name?")
        self.expect(7, "check", "a", says="a: cannot read the deck: No such file or directory; did you mean a.ini?")
        self.write("b.ini", POISSON.format(cells=4) + "maxit = 9\n")
        self.expect(2, "check", "b.ini", says="unknown key solver.maxit; did you mean solver.max_iterations?")

    def test_names_are_ours(self):
        """Each name that is suggested is a key."""
        for key in ("solver.max_iterations", "solver.rtol", "solver.atol", "solver.divergence_tolerance", "solver.restart",
                    "solver.name", "preconditioner.name", "smoother.name", "preconditioner.fill_level", "preconditioner.shift", "output.file",
                    "grid.cells", "time.time_step", "time.steps", "time.end_time", "device.threads", "device.backend"):
            self.expect(0, "help", key)


class Numbers(ProgramTest):
    def test_one_is_no_plural(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        text = self.expect(3, "run", deck, "--set", "solver.max_iterations=1").stdout
        self.assertRegex(text, r"iterations +1 iteration\n")
        self.write("z.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n")
        self.write("z.ini", "[problem]\nname = matrix_market\nmatrix = z.mtx\n[grid]\ncells = 2 1 1\n[solver]\nname = gmres\n")
        self.expect(5, "run", "z.ini", says="(1 such pivot in all)")

    def test_sizes_have_units_that_people_read(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        done = self.expect(6, "check", deck, "--set", "grid.cells=90000 90000 2000", "--quiet")
        self.assertNotRegex(done.stdout, r"\d{6}\.\d MiB")
        self.assertRegex(done.stdout, r"\d (TiB|PiB)")

    def test_what_has_lost_its_digits_is_refused_everywhere(self):
        for key, value in (("solver.rtol", "1e-400"), ("solver.rtol", "1e-320"), ("time.time_step", "1e-320")):
            deck = self.write("a.ini", TRANSPORT.format(cells=4, steps=1).replace("cfl = 5", "time_step = 1"))
            self.expect(2, "check", deck, "--set", f"{key}={value}", says=f"at least 2.3e-308 in size, got '{value}'")


    def test_a_range_of_one_number(self):
        deck = self.write("t.ini", TRANSPORT.format(cells=4, steps=2))
        text = self.expect(0, "run", deck, "--set", "preconditioner.name=jacobi", "--set", "solver.name=richardson",
                           "--set", "solver.rtol=0.5").stdout
        self.assertIn("iterations    2 iterations in 2 solves, 1 each\n", text)


class Diagnostics(ProgramTest):
    """Names in [expect] are checked before there is any work."""

    def refused(self, says, *settings, deck="c.ini"):
        words = [word for setting in settings for word in ("--set", setting)]
        for verb in ("check", "run"):
            self.expect(2, verb, deck, *words, says=says)
        self.assertFalse((self.folder / "c.h5").exists())

    def test_names(self):
        text = (INPUTS / "cahn_hilliard.ini").read_text()
        line = 1 + text.splitlines().index("never_rising = energy")
        self.write("c.ini", text.replace("never_rising = energy", "never_rising = enrgy"))
        self.refused(f"c.ini:{line}: expect.never_rising: cahn_hilliard has no diagnostic 'enrgy'; did you mean energy? There are "
                     "energy, mean_u, mean_v")
        self.write("c.ini", text)
        self.expect(0, "check", "c.ini", "--set", "expect.max_drift=mean_u 1e-9,mean_v 1e-9", "--set", "expect.never_rising=energy")
        self.refused("expect.max_drift: cahn_hilliard has no diagnostic 'mean_w'; did you mean mean_u?",
                     "expect.max_drift=mean_u 1e-9, mean_w 1")
        self.refused("expect.diagnostic: cahn_hilliard has no diagnostic 'mass'; there are ", "expect.diagnostic=mass",
                     "expect.max_diagnostic=1")

    def test_bounds(self):
        self.write("c.ini", (INPUTS / "cahn_hilliard.ini").read_text())
        self.refused("--set: expect.max_drift: the bound of mean_u is missing; give NAME BOUND, such as mean_u 1e-9",
                     "expect.max_drift=mean_u")
        self.refused("expect.max_drift: the bound of mean_u: expected a finite number, got 'x'", "expect.max_drift=mean_u x")
        self.refused("expect.max_drift: 'mean_u 1 mean_v 1' is more than NAME BOUND", "expect.max_drift=mean_u 1 mean_v 1")
        self.refused("expect.never_rising: 'energy mean_u' is more than one name", "expect.never_rising=energy mean_u")
        self.refused("expect.never_rising: a name is missing before a comma", "expect.never_rising=,energy")

    def test_a_problem_without_any(self):
        deck = self.write("p.ini", POISSON.format(cells=4) + "[expect]\nnever_rising = energy\n")
        self.refused("p.ini:9: expect.never_rising: poisson has no diagnostics of which this could hold; remove the key", deck=deck)


class Names(ProgramTest):
    def test_a_name_that_is_too_long(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        long = "x" * 300
        for words in (("run", deck, "--set", f"output.file={long}.h5"), ("info", f"{long}.h5"), ("run", f"{long}.ini"),
                      ("check", deck, "--set", f"output.file={long}.h5", "--set", "output.checkpoint_minutes=1")):
            done = self.run_program(*words)
            if words[0] == "check" and done.returncode == 0:
                continue
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("File name too long", done.stderr)
            self.assertNotRegex(done.stderr, "filesystem error|status:")

    def test_a_picture_is_what_its_name_says(self):
        deck = self.write("a.ini", POISSON.format(cells=4))
        self.expect(0, "run", deck)
        self.expect(2, "report", "a.h5", "--png", "a.bmp", says=["a.bmp", ".png, .pdf or .svg"])
        self.assertFalse((self.folder / "a.bmp").exists())

    def test_a_folder_is_no_record(self):
        (self.folder / "records").mkdir()
        done = self.run_program("report", "records")
        if "python3-h5py" in done.stderr:
            self.skipTest("no Python with h5py and matplotlib")
        self.assertEqual(done.returncode, 7)
        self.assertIn("records: is a folder", done.stderr)


class Advice(ProgramTest):
    """Of the issue: what was recommended was refused, or could not help."""

    def test_a_zero_pivot_of_jacobi(self):
        self.write("z.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n")
        self.write("z.ini", "[problem]\nname = matrix_market\nmatrix = z.mtx\n[grid]\ncells = 2 1 1\n[solver]\n"
                            "name = gmres\n[preconditioner]\nname = jacobi\n")
        said = self.expect(5, "run", "z.ini").stderr
        self.assertIn("Try preconditioner.name = none.", said)
        self.assertNotIn("pivot_policy", said)
        self.expect(0, "run", "z.ini", "--fresh", "--set", "preconditioner.name=none")

    def test_more_iterations_only_where_the_residual_falls(self):
        deck = self.write("a.ini", POISSON.format(cells=12).replace("cg", "gmres"))
        said = self.expect(3, "run", deck, "--set", "solver.max_iterations=8").stderr + "\n"
        enough = re.search(r"solver.max_iterations = (\d+)", said)
        self.assertTrue(enough, said)
        self.expect(0, "run", deck, "--fresh", "--set", f"solver.max_iterations={enough[1]}")


if __name__ == "__main__":
    unittest.main()
