"""Signals: a run that is stopped goes on later, one that is killed leaves nothing that looks finished."""

import os
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

    def test_a_solve_is_stopped_and_goes_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            deck = self.write("a.ini", POISSON.format(cells=72))
            log = self.preempt(deck, number, 0.2)
            self.assertIn(f"signal {int(number)}", log)
            record = self.record("a.h5")
            self.assertEqual((record["status"], record["exit_code"]), ("preempted", 75))
            self.assertIn("going on from step 1", self.expect(0, "run", deck).stderr)
            record = self.record("a.h5")
            self.assertEqual(record["status"], "ok")
            self.assertEqual(record["solves"][-1]["stop_reason"], "converged_rtol")

    def test_it_goes_on_from_the_iterate_it_had(self):
        deck = self.write("a.ini", POISSON.format(cells=72))
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        whole = self.record("whole.h5")["solves"][0]["iterations"]
        for attempt in range(10):
            self.preempt(deck, signal.SIGTERM, 0.3)
            stopped = self.record("a.h5")["solves"]
            if stopped and stopped[0]["relative_residual"] < 1e-3:
                break
        else:
            self.skipTest("never stopped late enough")
        self.expect(0, "run", deck)
        self.assertLess(self.record("a.h5")["solves"][-1]["iterations"], whole)

    def test_time_steps_go_on_where_they_stopped(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=32, steps=40))
        self.expect(0, "run", deck, "--set", "output.file=whole.h5", "--set", "output.fields=true")
        self.preempt(deck, signal.SIGTERM, 0.3)
        self.expect(0, "run", deck, says="going on from step")
        whole, resumed = self.record("whole.h5"), self.record("a.h5")
        finished = [row["step"] for row in resumed["solves"] if row["stop_reason"] != "interrupted"]
        self.assertEqual(finished, [row["step"] for row in whole["solves"]])
        last, same = whole["solves"][-1]["b_norm"], resumed["solves"][-1]["b_norm"]
        self.assertLess(abs(last - same), 1e-7 * last)  # as far as rtol = 1e-10 lets two solutions differ

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
