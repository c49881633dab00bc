# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as processes under mpirun: the record of one rank, errors told once, and no rank left when one dies."""

import json

from processes import ProcessesTest, mpirun
from program import POISSON, PROGRAM, TRANSPORT, main_unless


class Mpi(ProcessesTest):
    backend = "cpu"

    def test_processes_have_the_record_of_one_rank(self):
        navier_stokes = "[problem]\nname = navier_stokes\n[grid]\ncells = {cells}\n[time]\nsteps = 1\n"
        general = POISSON.format(cells="21 23 19") + "[matrix]\nformat = general\n[preconditioner]\nname = sync_free_ilu\n"
        multigrid = "[preconditioner]\nname = multigrid\ncoarsest_points = 12\nreplicated_points = 0\n"
        for name, text in (("poisson", POISSON), ("multigrid", POISSON + multigrid), ("transport", TRANSPORT.replace("{steps}", "2")), ("general", general),
                           ("filled", general + "fill_level = 1\n"), ("parts", general.replace("sync_free_ilu", "subdomain_ildu0\npart_rows = 900")),
                           ("par_ilut", general.replace("sync_free_ilu", "par_ilut\nrounds = 1")),
                           ("navier_stokes", navier_stokes), ("half", POISSON + "[preconditioner]\nstorage = half_scaled\n"),
                           ("periodic", POISSON.replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = z"))):
            deck = self.write(f"{name}.ini", text.format(cells="7 5 9"))
            one = self.run_program("run", deck, "--backend", "cpu", "--quiet", "--set", "output.file=one.h5", "--set",
                                   "output.fields=true", "--force")
            self.assertIn(one.returncode, (0, 3), one.stderr)
            for processes in (2, 3):
                with self.subTest(f"{name} on {processes}"):
                    done = self.run_processes(processes, deck, "several.h5", "--force")
                    self.assertEqual(done.returncode, one.returncode, done.stdout + done.stderr)
                    self.assertEqual(done.stdout.count("verdict"), 1, "one rank prints")
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")
                    self.assertEqual((self.folder / "several.vtkhdf").read_bytes(),
                                     (self.folder / "one.vtkhdf").read_bytes())
                    self.assertEqual(self.record("several.h5")["environment"]["ranks"], str(processes))

    def test_values_that_are_too_many_for_one_message_are_sent_in_several(self):
        """MPI counts with an int. The bits are those of whole messages, also where values fill their messages exactly."""
        general = POISSON.format(cells="21 23 19") + "[matrix]\nformat = general\n[preconditioner]\nname = jacobi\n"
        for name, text in (("grid", TRANSPORT.format(cells="7 5 9", steps=2)), ("general", general)):
            deck = self.write(f"{name}.ini", text)
            done = self.run_processes(3, deck, "whole.h5", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            for most in (5, 35):  # 35: a plane
                with self.subTest(f"{name}, {most} values a message"):
                    done = self.run_processes(3, deck, "divided.h5", "--force", environment={"HYPERPLANE_VALUES_A_MESSAGE": str(most)})
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.expect(0, "diff", "whole.h5", "divided.h5", "--tolerance", "0")

    def test_errors_are_told_once_and_have_their_exit_code(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        for words, code, text in ((("--set", "preconditioner.name=sync_free_ilu"), 2, "sync_free_ilu takes general matrices alone"),
                                  (("--ranks", "3"), 2, "--set: device.ranks = 3: mpirun or srun has started 2 processes"),
                                  (("--ranks", "1"), 2, "device.ranks = 1: mpirun or srun has started 2 processes"),
                                  (("--set", "solver.max_iterations=2"), 3, "max_iterations"),
                                  (("--set", "expect.max_iterations=1"), 8, "expect")):
            with self.subTest(words):
                done = self.under_mpirun(2, "run", deck, "--backend", "cpu", "--fresh", *words)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertEqual(sum(text in line for line in done.stderr.splitlines() if "error" in line), 1, done.stderr)

    def test_a_number_of_ranks_that_is_given_is_that_of_the_processes(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9") + "[device]\nbackend = cpu\n")
        study = self.write("study.ini", (self.folder / deck).read_text() + "[sweep]\nfolder = s\ndevice.ranks = 1, 2\n")
        # Otherwise the case of one rank would have the times of two.
        refused = self.under_mpirun(2, "run", study, "--case", "ranks=1", "--quiet")
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertIn("start 1, or set device.ranks = 2", refused.stderr)
        self.assertFalse((self.folder / "s" / "ranks=1.h5").exists())
        done = self.under_mpirun(2, "run", study, "--case", "ranks=2", "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.expect(0, "run", deck, "--ranks", "3", "--quiet")
        refused = self.under_mpirun(2, "run", "deck.h5", "--quiet", "--set", "output.file=again.h5")
        self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
        self.assertRegex(refused.stderr, r"deck\.h5:\d+: device\.ranks = 3: .* \(--ranks 2\)")
        # A record says nothing about ranks where its deck did not.
        self.expect(0, "run", deck, "--quiet", "--fresh")
        done = self.under_mpirun(2, "run", "deck.h5", "--quiet", "--set", "output.file=again.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_processes_with_different_decks_are_refused(self):
        """Such as where a host has an old copy. With the same exchanges values of both would mix, and nobody would notice."""
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=1))
        words = ("run", deck, "--backend", "cpu", "--quiet", "--fresh")
        for other, told in ((("--set", "problem.viscosity=2e-3"), "problem.viscosity differs"),
                            (("--set", "preconditioner.name=jacobi"), "preconditioner.name differs"),
                            (("--set", "grid.cells=7,5,11"), "grid.cells differs")):
            with self.subTest(told):
                done = self.under_mpirun(2, *words, ":", "-n", "1", PROGRAM, *words, *other)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("rank 2 has another deck than the first rank: " + told), 1, done.stderr)
                self.assertFalse((self.folder / "deck.h5").exists())
        done = self.under_mpirun(1, *words, "--threads", "1", ":", "-n", "1", PROGRAM, *words, "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_processes_with_different_options_are_refused(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=1))
        compare, bench = ("compare", deck, "--backend", "cpu", "--quiet"), ("bench", "solve", deck, "--backend", "cpu")
        candidates = ("--preconditioners", "jacobi,none")
        for words, first, other, told in ((compare, (*candidates, "--reps", "1"), (*candidates, "--reps", "2"), "--reps differs"),
                                          (compare, candidates, ("--preconditioners", "none,jacobi"), "--preconditioners differs"),
                                          (compare, candidates, (*candidates, "--fresh"), "--fresh differs"),
                                          (bench, (), ("--repeats", "2"), "--repeats differs"),
                                          (bench, (), (deck,), "the number of decks differs"),
                                          (("run", deck), ("--backend", "cpu"), ("--backend", "cpu", "--restart"), "--restart differs")):
            with self.subTest(told):
                done = self.under_mpirun(1, *words, *first, ":", "-n", "1", PROGRAM, *words, *other)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("rank 1 has another command line than the first rank: " + told), 1, done.stderr)
        # What the first process alone writes and prints may be asked of it alone.
        done = self.under_mpirun(1, *compare, *candidates, "--json", "-", ":", "-n", "1", PROGRAM, *compare, *candidates)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_processes_with_different_verbs_are_refused(self):
        """The first exchange of every verb is that of the command lines."""
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=1))
        run, compare = ("run", deck, "--backend", "cpu", "--quiet"), ("compare", deck, "--backend", "cpu", "--preconditioners", "jacobi,none")
        solve, table = ("bench", "solve", deck, "--backend", "cpu"), ("bench", "preconditioners", deck, "--backend", "cpu")
        verb, kind = "the verb differs", "the kind of bench differs"
        pairs = [(one, other, verb) for other in (compare, ("selftest", deck, "--backend", "cpu"), solve)
                 for one, other in ((run, other), (other, run))]
        pairs += [(solve, table, kind), (table, solve, kind)]
        for (one, other, told), done in zip(pairs, self.under_mpiruns(1, *((*one, ":", "-n", "1", PROGRAM, *other) for one, other, _ in pairs))):
            with self.subTest(f"{one[:2]} beside {other[:2]}"):
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("rank 1 has another command line than the first rank: " + told), 1, done.stderr)
                self.assertFalse((self.folder / "deck.h5").exists())

    def test_processes_that_mpi_does_not_join_are_refused(self):
        """Such as those that the mpirun of another MPI has started: each would run the deck alone."""
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        done = self.under_mpirun(1, "run", deck, "--backend", "cpu", "--quiet", environment={"PMI_SIZE": "2"})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for part in ("2 processes were started together", "MPI joins 1", "Open MPI"):
            self.assertIn(part, done.stderr)
        self.assertFalse((self.folder / "deck.h5").exists())

    def test_a_failure_of_one_rank_is_told_by_the_first(self):
        deck = self.write("deck.ini", POISSON.format(cells="33 35 31"))
        # Rank 0 has 15 of the planes and rank 1 has 16, so that a little more than rank 0 needs is too little for rank 1.
        enough = json.loads(self.run_processes(2, deck, "enough.h5", "--json").stdout)["memory"]["peak"]
        done = self.run_processes(2, deck, "limited.h5", "--set", f"device.memory_limit={1.02 * enough / 2**20}")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"rank 1, \S+: out of memory")
        self.assertEqual(self.record("limited.h5")["exit_code"], 6)

    def test_preempted_run_goes_on_with_other_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=4))
        self.expect(0, "run", deck, "--backend", "cpu", "--quiet", "--set", "output.file=whole.h5")
        stopped = self.run_processes(3, deck, "part.h5", environment={"HYPERPLANE_STOP_AT": "17"})
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        done = self.run_processes(2, deck, "part.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")

    def test_a_long_set_up_is_stopped_on_all_ranks_between_its_parts(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="50 50 41", steps=1)
                          + "[matrix]\nformat = general\n[preconditioner]\nname = par_ilut\nrounds = 1\n")
        stopped = self.run_processes(2, deck, "part.h5", environment={"HYPERPLANE_STOP_AT": "6"})
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        self.assertEqual(self.record("part.h5")["solves"], [])
        done = self.run_processes(3, deck, "part.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(0, "run", deck, "--backend", "cpu", "--quiet", "--set", "output.file=whole.h5")
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")

    def test_a_rank_that_is_killed_ends_all(self):
        deck = self.write("deck.ini", POISSON.format(cells="80 80 80") + "rtol = 1e-300\nmax_iterations = 100000\n")
        self.expect_end_of_all_when_one_is_killed(3, deck, seconds=0.3)


if __name__ == "__main__":
    main_unless(mpirun.reason_not_to_run(PROGRAM))
