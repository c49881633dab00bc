# SPDX-License-Identifier: BSD-3-Clause
"""Going on: finished runs are extended to the bits of a longer one, and runs begin in the state of a record."""

import os
import re
import unittest

from matrices import coordinate, tridiagonal
from program import CAVITY, POISSON, ProgramTest, signal

MIXTURE = """
[problem]
name = cahn_hilliard
initial_condition = random
[grid]
cells = 6 5 4
[time]
time_step = 2e-5
steps = 4
[solver]
name = gmres
rtol = 1e-4
[output]
fields = true
"""


class Extend(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", MIXTURE)

    def test_a_finished_run_is_extended_to_the_same_bits(self):
        self.expect(0, "run", self.deck, "--set", "output.file=long.h5", "--set", "time.steps=7")
        self.expect(0, "run", self.deck)
        self.expect(0, "run", self.deck, "--restart", "--set", "time.steps=7", says="ended after 4 steps")
        self.expect(0, "diff", "a.h5", "long.h5", "--tolerance", "0")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), (self.folder / "long.vtkhdf").read_bytes())

    def test_a_checkpoint_newer_than_a_finished_run_comes_first(self):
        """--fresh over a record that is there, killed: --restart goes on with the new run, whatever the record holds."""
        often = ("--set", "output.checkpoint_every=1")
        for changed in ((), ("--set", "time.time_step=1e-5"), ("--set", "time.steps=6")):
            with self.subTest(changed=changed):
                whole = self.run_json(0, "run", self.deck, "--fresh", *changed, "--set", "output.file=whole.h5")
                self.expect(0, "run", self.deck, "--fresh")
                killed = self.run_program("run", self.deck, "--fresh", *often, *changed, stop_at=f"20:{int(signal.SIGKILL)}")
                self.assertEqual(killed.returncode, -signal.SIGKILL)
                rest = self.run_json(0, "run", self.deck, "--restart", *often, *changed)
                self.assertTrue(rest["resumed"])
                self.assertEqual(rest["solves"][-1], whole["solves"][-1] | {
                    key: rest["solves"][-1][key] for key in ("setup_seconds", "solve_seconds")})
        # A run that has ended is newer than its checkpoints.
        self.expect(8, "run", self.deck, "--fresh", *often, "--set", "expect.iterations=1")
        self.expect(2, "run", self.deck, "--restart", *often, says="has taken 4 steps")

    def test_what_may_not_change_is_told(self):
        self.expect(0, "run", self.deck)
        before = (self.folder / "a.h5").read_bytes()
        self.expect(2, "run", self.deck, "--restart", says="has taken 4 steps")
        self.expect(2, "run", self.deck, "--restart", "--set", "time.steps=3",
                    says=["has taken 4 steps", "asks for no more than 3 steps", "time.steps=N"])
        self.expect(2, "run", self.deck, "--restart", "--set", "time.steps=7", "--set", "time.time_step=1e-5",
                    says=("time.time_step is 1e-5, was 2e-5", "time.steps, time.end_time"))
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)

    def test_a_record_without_state_cannot_be_extended(self):
        self.expect(0, "run", self.deck, "--set", "output.state=never")
        self.expect(7, "run", self.deck, "--restart", "--set", "time.steps=7", says="output.state")


class Steady(ProgramTest):
    """A steady state that has been reached: --restart takes no step, unless a smaller residual is asked for."""

    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", CAVITY.format(cells=6) + "[output]\ncheckpoint_every = 1\n")

    def test_a_steady_state_is_not_left(self):
        self.expect(0, "run", self.deck)
        before = (self.folder / "a.h5").read_bytes()
        for more in ((), ("--set", "time.steady_rtol=1e-3"), ("--set", "time.steps=500"), ("--set", "time.steady_atol=1e3")):
            self.expect(2, "run", self.deck, "--restart", *more,
                        says=["a.h5 has reached the steady state that this deck asks for", "time.steady_rtol"])
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)

    def test_a_smaller_residual_extends_the_run_to_the_same_bits(self):
        tighter = ("--set", "time.steady_rtol=1e-5")
        self.expect(0, "run", self.deck, "--set", "output.file=long.h5", *tighter)
        self.expect(0, "run", self.deck)
        self.expect(0, "run", self.deck, "--restart", *tighter, says="the run is extended")
        self.expect(0, "diff", "a.h5", "long.h5", "--tolerance", "0")

    def test_killed_between_the_record_and_the_removal_of_its_checkpoints(self):
        self.expect(0, "run", self.deck, "--set", "output.file=whole.h5")
        self.expect(-signal.SIGKILL, "run", self.deck, stop_at=f"60:{int(signal.SIGKILL)}")
        slots = {slot: slot.read_bytes() for slot in self.folder.glob("a.*.checkpoint")}
        self.assertEqual(len(slots), 2)
        self.expect(0, "run", self.deck, "--restart")
        self.expect(0, "diff", "a.h5", "whole.h5", "--tolerance", "0")
        before = (self.folder / "a.h5").read_bytes()
        for slot, data in slots.items():
            slot.write_bytes(data)
            os.utime(slot, (0, 0))
        self.expect(2, "run", self.deck, "--restart", says="has reached the steady state")
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)


class Initial(ProgramTest):
    def test_a_run_begins_in_the_state_of_a_record(self):
        self.expect(0, "run", self.write("a.ini", MIXTURE))
        before = self.run_json(0, "run", "a.ini", "--set", "output.file=b.h5")["diagnostics"]["energy"]["last"]
        deck = self.write("next.ini", MIXTURE + "[initial]\nfile = a.h5\n")
        self.assertEqual(self.run_json(0, "run", deck)["diagnostics"]["energy"]["first"], before)

    def begun_in_another_state(self):
        """A run that begins in the state of src.h5, and a deck that would make another src.h5."""
        self.expect(0, "run", self.write("src.ini", MIXTURE))
        deck = self.write("e.ini", MIXTURE + "[initial]\nfile = src.h5\n")
        self.expect(0, "run", deck)
        return deck

    def test_another_state_in_the_same_file_is_noticed(self):
        deck = self.begun_in_another_state()
        before = (self.folder / "e.h5").read_bytes()
        longer = ("run", deck, "--restart", "--set", "time.steps=6")
        self.expect(0, "run", "src.ini", "--fresh")  # the same state, at another time
        self.expect(0, "run", "e.h5")
        self.expect(0, "run", "src.ini", "--fresh", "--set", "problem.seed=9")
        changed = ["initial.file", "src.h5 has changed since", "the run of e.h5 began"]
        self.expect(2, *longer, says=[*changed, "move it away", "--fresh"])
        for verb in ("check", "run"):
            self.expect(2, verb, "e.h5", says=[*changed, "put that file back"])
        self.assertEqual((self.folder / "e.h5").read_bytes(), before)
        self.expect(0, "check", "e.h5", "--set", "initial.file=src.h5")  # on purpose
        self.expect(0, "run", deck, "--set", "output.file=new.h5")
        self.expect(0, "run", "new.h5")

    def test_a_preempted_run_notices_it_too(self):
        deck = self.begun_in_another_state()
        self.expect(75, "run", deck, "--fresh", stop_at=20)
        self.expect(0, "run", "src.ini", "--fresh", "--set", "problem.seed=9")
        self.expect(2, "run", deck, says="src.h5 has changed since")

    def test_going_on_does_not_need_the_file(self):
        deck = self.begun_in_another_state()
        self.expect(0, "run", deck, "--set", "output.file=long.h5", "--set", "time.steps=6")
        self.expect(75, "run", deck, "--fresh", stop_at=20)
        os.rename(self.folder / "src.h5", self.folder / "kept.h5")
        self.expect(0, "run", deck, says="was preempted")
        self.expect(0, "run", deck, "--restart", "--set", "time.steps=6", says="the run is extended")
        self.expect(0, "diff", "e.h5", "long.h5", "--tolerance", "0")
        for more in ((), ("--fresh",), ("--set", "output.file=other.h5"), ("--set", "output.file=other.h5", "--restart")):
            self.expect(7, "run", deck, *more, says="src.h5" if "--restart" not in more else "nothing to restart from")
        os.rename(self.folder / "kept.h5", self.folder / "src.h5")
        self.expect(0, "run", "src.ini", "--fresh", "--set", "problem.seed=9")
        self.expect(2, "run", deck, "--restart", "--set", "time.steps=7", says="src.h5 has changed since")

    def test_the_exact_solution_of_another_initial_state_is_not_compared_with(self):
        """In time the solution is that of the problem's own initial state; a steady one is the same from any."""
        tube = ("[problem]\nname = euler\ncase = sod\n[grid]\ncells = 40 1 1\n[time]\ntime_step = 5e-3\nsteps = 4\n"
                "[solver]\nname = gmres\n[preconditioner]\nname = jacobi\n[output]\nfields = true\n")
        self.assertTrue(self.run_json(0, "run", self.write("a.ini", tube))["errors"])
        self.assertIn(b"density_error", (self.folder / "a.vtkhdf").read_bytes())
        deck = self.write("b.ini", tube + "[initial]\nfile = a.h5\n")
        shown = self.expect(0, "run", deck).stdout
        self.assertRegex(shown, r"error +not given: the exact solution is that of the problem's own initial state")
        self.assertNotRegex(shown, r"error +l1")
        self.assertNotIn(b"density_error", (self.folder / "b.vtkhdf").read_bytes())
        self.assertNotIn("error", self.expect(0, "info", "b.h5").stdout)
        for words in (("check", deck), ("run", deck, "--fresh")):
            self.expect(2, *words, "--set", "expect.max_error=1",
                        says=["expect.max_error", "initial.file", "no error to bound"])

    def test_another_grid_only_when_asked(self):
        self.expect(0, "run", self.write("coarse.ini", POISSON.format(cells=8)), "--set", "output.state=always")
        deck = self.write("fine.ini", POISSON.format(cells=16) + "[initial]\nfile = coarse.h5\n")
        self.expect(2, "run", deck, says=("8 x 8 x 8", "16 x 16 x 16", "initial.interpolate"))
        plain = self.run_json(0, "run", self.write("plain.ini", POISSON.format(cells=16)))
        near = self.run_json(0, "run", deck, "--set", "initial.interpolate=true")
        self.assertLess(near["solves"][0]["b_norm"], 0.2 * plain["solves"][0]["b_norm"])
        self.assertAlmostEqual(near["errors"]["max"], plain["errors"]["max"], delta=1e-6)

    def test_a_state_of_another_box_is_refused_with_both(self):
        """The default box of cahn_hilliard grows with grid.cells."""
        self.expect(0, "run", self.write("a.ini", MIXTURE))
        deck = self.write("b.ini", MIXTURE.replace("6 5 4", "9 8 7") + "[initial]\nfile = a.h5\ninterpolate = true\n")
        for verb in ("check", "run"):
            self.expect(2, verb, deck, says=("b.ini:16: initial.file: a.h5", "grid.lengths = 0.096 0.08 0.064", "0.144 0.128 0.112"))
        self.expect(2, "check", deck, "--set", "grid.cells=7 5 4", says="grid.lengths = 0.096 0.08 0.064")  # a cell more
        self.expect(0, "run", deck, "--set", "grid.lengths=0.096 0.08 0.064")
        self.expect(2, "run", deck, "--set", "grid.lengths=0.096 0.08 0.064", "--set", "grid.periodic=x z", "--fresh",
                    says=("grid.periodic = none", "this deck's is of x z"))

    def test_lengths_are_free_along_flat_axes_alone(self):
        """Two cells are an axis like any other."""
        text = ("[problem]\nname = euler\n[grid]\ncells = {}\nlengths = {}\n[time]\ntime_step = 1e-3\nsteps = 1\n"
                "[solver]\nname = gmres\n[preconditioner]\nname = jacobi\n{}")
        for cells, refused in (("6 6 2", "is of a box of grid.lengths = 1 1 1, this deck's is of 1 1 2; set grid.lengths = 1 1 1"),
                               ("6 6 1", "have the spacings 0.166666666667 0.166666666667 1, those of this deck's grid "
                                         "0.166666666667 0.166666666667 2; set grid.lengths = 1 1 1, or initial.interpolate = true")):
            with self.subTest(cells):
                self.expect(0, "run", self.write("a.ini", text.format(cells, "1 1 1", "")), "--fresh")
                deck = self.write("b.ini", text.format(cells, "1 1 2", "[initial]\nfile = a.h5\n"))
                self.expect(2, "check", deck, says=refused)
                self.expect(2 if cells == "6 6 2" else 0, "check", deck, "--set", "initial.interpolate=true")
                self.expect(0, "check", deck, "--set", "grid.lengths=1 1 1")

    def test_a_state_of_another_number_of_rows_is_refused(self):
        """A general matrix has no grid, so neither the box nor interpolation helps."""
        text = "[problem]\nname = matrix\nfile = {}.mtx\n[solver]\nname = gmres\n[preconditioner]\nname = none\n"
        for name, rows in (("a", 60), ("b", 99)):
            self.write(name + ".mtx", coordinate(rows, tridiagonal(rows)))
        self.expect(0, "run", self.write("a.ini", text.format("a")), "--set", "output.state=always")
        deck = self.write("b.ini", text.format("b") + "[initial]\nfile = a.h5\n")
        for more in ((), ("--set", "initial.interpolate=true")):
            said = self.expect(2, "check", deck, *more, says="initial.file: a.h5 has 60 block rows, this deck's matrix 99;").stderr
            self.assertNotIn("grid.lengths", said)
        self.expect(0, "run", deck, "--set", "problem.file=a.mtx")

    def test_a_state_at_other_places_of_the_box_is_refused(self):
        cavity = ("[problem]\nname = navier_stokes\ncase = ethier_steinman\nstretching = {}\n[grid]\ncells = 5 5 5\n[solver]\nname = gmres\n"
                  "[time]\nsteps = 1\ntime_step = 0.01\n[output]\nstate = always\n{}")
        self.expect(0, "run", self.write("a.ini", cavity.format(0, "")))
        deck = self.write("b.ini", cavity.format(2, "[initial]\nfile = a.h5\n"))
        for verb in ("check", "run"):
            self.expect(2, verb, deck, says=("problem.stretching = 0", "this deck's by 2", "b.ini:"))
        for same in ("0", "0.0", "0e-1 0 0"):
            self.expect(0, "run", self.write("c.ini", cavity.format(same, "[initial]\nfile = a.h5\n")), "--fresh")

    def test_interpolated_state_is_the_same_on_ranks_and_in_another_order(self):
        """Each rank interpolates its own rows."""
        general = "[matrix]\nformat = general\n[ordering]\nname = rcm\n[preconditioner]\nname = jacobi\n"
        periodic = MIXTURE.replace("cells = 6 5 4", "cells = 6 5 7\nperiodic = x z\nlengths = 6 5 7")
        for name, text, more, ranks in (("poisson", POISSON.format(cells="5 9 7"), "", (2, 3)),
                                        ("general", POISSON.format(cells="5 9 7"), general, (2,)),
                                        ("periodic", periodic, "", (2, 3))):
            self.expect(0, "run", self.write("coarse.ini", text), "--backend", "cpu", "--set", "output.state=always")
            fine = re.sub(r"cells = .*", "cells = 19 15 17", text) + more + "[initial]\nfile = coarse.h5\ninterpolate = true\n"
            deck = self.write("fine.ini", fine)
            self.expect(0, "run", deck, "--backend", "cpu", "--force", "--set", "output.file=one.h5")
            for count in ranks:
                with self.subTest(f"{name} on {count}"):
                    self.expect(0, "run", deck, "--backend", "cpu", "--force", "--ranks", str(count))
                    self.expect(0, "diff", "one.h5", "fine.h5", "--tolerance", "0")

    def test_what_does_not_fit_is_refused_before_any_work(self):
        self.expect(0, "run", self.write("p.ini", POISSON.format(cells=8)))
        self.expect(7, "check", self.write("q.ini", POISSON.format(cells=8) + "[initial]\nfile = p.h5\n"),
                    says=("q.ini", "holds no state", "output.state = always"))
        never = ("--set", "output.state=always", "--set", "solver.max_iterations=1")
        self.expect(3, "run", self.write("f.ini", MIXTURE), *never)
        failed = self.expect(7, "check", self.write("g.ini", MIXTURE + "[initial]\nfile = f.h5\n"),
                             says=("f.h5 holds no state", "failed before a step was completed")).stderr
        self.assertNotIn("output.state", failed)
        self.expect(0, "run", "p.ini", "--set", "output.state=always")
        self.expect(2, "check", self.write("m.ini", MIXTURE + "[initial]\nfile = p.h5\n"), says="the problem poisson")


if __name__ == "__main__":
    unittest.main()
