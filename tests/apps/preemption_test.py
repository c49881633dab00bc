# SPDX-License-Identifier: BSD-3-Clause
"""Signals: a run that is stopped can be continued, and one that is killed leaves no file that looks finished."""

import random
import time
import unittest

from program import POISSON, TRANSPORT, ProgramTest, signal


class Preemption(ProgramTest):
    def preempt(self, deck, number, look):
        """Starts a run anew and stops it when it checks for a signal for the look-th time."""
        done = self.expect(75, "run", deck, "--fresh", stop_at=f"{look}:{int(number)}")
        self.assertIn(f"stopped by {number.name} in step ", done.stderr)

    def whole(self, deck):
        """The bits of the final state of an uninterrupted run."""
        self.expect(0, "run", deck, "--set", "output.file=whole.h5", "--set", "output.fields=true")
        return (self.folder / "whole.vtkhdf").read_bytes()

    def expect_the_same(self, whole):
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_a_solve_is_stopped_and_goes_on(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13") + "[output]\nfields = true\n")
        whole = self.whole(deck)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            self.preempt(deck, number, 9)
            record = self.record("a.h5")
            self.assertEqual((record["status"], record["exit_code"]), ("preempted", 75))
            self.assertEqual(record["solves"][-1]["stop_reason"], "interrupted")
            self.assertIn("going on from step 1", self.expect(0, "run", deck).stderr)
            self.assertEqual(self.record("a.h5")["status"], "ok")
            self.expect_the_same(whole)

    def test_every_method_ends_with_the_same_bits(self):
        for solver in self.registered("solvers"):
            with self.subTest(solver):
                deck = self.write("a.ini", POISSON.format(cells="17 15 13").replace("cg", solver) +
                                  "rtol = 1e-5\n[preconditioner]\nfill_level = 1\n[output]\nfields = true\n")
                whole = self.whole(deck)
                self.preempt(deck, signal.SIGTERM, 4)
                stops = 1
                while self.run_program("run", deck, stop_at=3 * stops).returncode == 75:  # again and again
                    stops += 1
                self.assertGreater(stops, 1)
                self.expect_the_same(whole)

    def test_a_long_set_up_is_stopped_between_its_parts(self):
        """Before any linear solve has begun; so large a general matrix has a set-up that may take long."""
        for steps, text in ((0, POISSON.format(cells="50 50 41")), (2, TRANSPORT.format(cells="50 50 41", steps=2))):
            deck = self.write("a.ini", text + "[matrix]\nformat = general\n[preconditioner]\nname = par_ilut\nrounds = 2\n"
                                              "[output]\nfields = true\n[device]\nbackend = cpu\n")
            whole = self.whole(deck)
            for look in (5, 8):
                self.preempt(deck, signal.SIGTERM, look)
                record = self.record("a.h5")
                self.assertEqual((record["status"], record["exit_code"], len(record["solves"])), ("preempted", 75, 0))
                self.expect(0, "run", deck, says="going on from step 1")
                self.expect_the_same(whole)
            if steps:  # each step has a set-up
                for look in (18, 22, 26, 30):
                    self.preempt(deck, signal.SIGTERM, look)
                    self.expect(0, "run", deck, says="going on from step")
                    self.expect_the_same(whole)

    def test_time_steps_go_on_where_they_stopped(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=13, steps=10) + "[output]\nfields = true\n")
        whole = self.whole(deck)
        self.preempt(deck, signal.SIGTERM, 30)
        self.expect(0, "run", deck, says="going on from step")
        self.expect_the_same(whole)

    def test_iterations_of_a_resumed_run_are_judged(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13") + "[expect]\nmax_iterations = 3\n")
        self.preempt(deck, signal.SIGTERM, 9)
        self.expect(8, "run", deck, says="expect.max_iterations")

    def test_another_deck_does_not_take_the_state(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        self.preempt(deck, signal.SIGTERM, 9)
        self.expect(2, "run", deck, "--set", "solver.rtol=1e-6", says="a different deck")
        self.expect(0, "run", deck, "--set", "solver.rtol=1e-6", "--fresh")

    def look_at_what_is_left(self):
        if (self.folder / "a.h5").exists():
            record = self.record("a.h5")
            self.assertEqual((record["status"], len(record["solves"])), ("ok", 10))
        if (self.folder / "a.h5.part").exists():
            self.assertEqual(self.record("a.h5.part")["status"], "running")

    def test_killed_at_50_places_and_moments(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=13, steps=10))
        begin = time.monotonic()
        self.expect(0, "run", deck)
        span = time.monotonic() - begin
        choose = random.Random(1)
        for turn in range(50):
            for left in self.folder.glob("a.h5*"):
                left.unlink()
            if turn % 2:  # within the computation, wherever the machine's speed may put that
                done = self.run_program("run", deck, "--quiet", stop_at=f"{choose.randint(1, 40)}:{int(signal.SIGKILL)}")
                self.assertEqual(done.returncode, -signal.SIGKILL)
            else:  # and anywhere: while it starts, while it writes
                process = self.start("run", deck, "--quiet")
                time.sleep(choose.uniform(0, span))
                process.kill()
                process.communicate()
            self.look_at_what_is_left()
        self.expect(0, "run", deck)


if __name__ == "__main__":
    unittest.main()
