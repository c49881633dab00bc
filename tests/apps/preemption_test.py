# SPDX-License-Identifier: BSD-3-Clause
"""Signals: a run that is stopped goes on later, one that is killed leaves nothing that looks finished."""

import random
import time
import unittest

from program import POISSON, TRANSPORT, ProgramTest, signal



class Preemption(ProgramTest):
    def stop(self, process, number, after):
        """Sends a signal once the record exists and some time went by; returns status and stderr."""
        deadline = time.monotonic() + 60
        while not list(self.folder.glob("*.part")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(after)
        process.send_signal(number)
        _, log = process.communicate(timeout=60)
        return process.returncode, log

    def preempt(self, deck, number, after):
        for attempt in range(20):  # a fast machine may be done before the signal comes
            status, log = self.stop(self.start("run", deck, "--fresh"), number, after)
            if status == 75:
                return log
            self.assertEqual(status, 0, log)
            after /= 2
        self.fail("the signal never came in time")

    def whole(self, deck):
        """The bits of the final state of a run that nothing stops."""
        self.expect(0, "run", deck, "--set", "output.file=whole.h5", "--set", "output.fields=true")
        return (self.folder / "whole.vtkhdf").read_bytes()

    def expect_the_same(self, whole):
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_a_solve_is_stopped_and_goes_on(self):
        deck = self.write("a.ini", POISSON.format(cells=72) + "[output]\nfields = true\n")
        whole = self.whole(deck)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            log = self.preempt(deck, number, 0.2)
            self.assertIn(f"signal {int(number)}", log)
            record = self.record("a.h5")
            self.assertEqual((record["status"], record["exit_code"]), ("preempted", 75))
            self.assertEqual(record["solves"][-1]["stop_reason"], "interrupted")
            self.assertIn("going on from step 1", self.expect(0, "run", deck).stderr)
            self.assertEqual(self.record("a.h5")["status"], "ok")
            self.expect_the_same(whole)

    def test_every_method_ends_with_the_same_bits(self):
        for solver in self.registered("solvers"):
            with self.subTest(solver):
                deck = self.write("a.ini", POISSON.format(cells=40).replace("cg", solver) +
                                  "rtol = 1e-5\n[preconditioner]\nfill_level = 1\n[output]\nfields = true\n")
                whole = self.whole(deck)
                self.preempt(deck, signal.SIGTERM, 0.1)
                stops, status = 1, 75
                while status == 75:  # again and again, wherever it is
                    status, log = self.stop(self.start("run", deck), signal.SIGTERM, 0.02 * stops)
                    stops += 1
                    self.assertIn(status, (0, 75), log)
                self.expect_the_same(whole)

    def test_time_steps_go_on_where_they_stopped(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=32, steps=40) + "[output]\nfields = true\n")
        whole = self.whole(deck)
        self.preempt(deck, signal.SIGTERM, 0.3)
        self.expect(0, "run", deck, says="going on from step")
        self.expect_the_same(whole)

    def test_iterations_of_a_resumed_run_are_judged(self):
        deck = self.write("a.ini", POISSON.format(cells=72) + "[expect]\nmax_iterations = 3\n")
        status, log = self.stop(self.start("run", deck), signal.SIGTERM, 0.2)
        if status == 75:
            self.expect(8, "run", deck, says="expect.max_iterations")

    def test_another_deck_does_not_take_the_state(self):
        deck = self.write("a.ini", POISSON.format(cells=72))
        self.preempt(deck, signal.SIGTERM, 0.2)
        self.expect(2, "run", deck, "--set", "solver.rtol=1e-6", says="a different deck")
        self.expect(0, "run", deck, "--set", "solver.rtol=1e-6", "--fresh")

    def test_killed_at_50_random_moments(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=30))
        begin = time.monotonic()
        self.expect(0, "run", deck)
        span = time.monotonic() - begin
        choose = random.Random(1)
        killed = 0
        for _ in range(50):
            for left in self.folder.glob("a.h5*"):
                left.unlink()
            process = self.start("run", deck, "--quiet")
            time.sleep(choose.uniform(0, span))
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            if (self.folder / "a.h5").exists():
                record = self.record("a.h5")
                self.assertEqual((record["status"], len(record["solves"])), ("ok", 30))
            if (self.folder / "a.h5.part").exists():
                self.assertEqual(self.record("a.h5.part")["status"], "running")
        self.assertGreater(killed, 25)
        self.expect(0, "run", deck)


if __name__ == "__main__":
    unittest.main()
