# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: a run that dies goes on from them and ends with the same bits; a damaged checkpoint is detected."""

import time
import unittest

from program import POISSON, TRANSPORT, ProgramTest, signal

STEPS = 40


class Checkpoint(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=STEPS) +
                               "[output]\nfields = true\ncheckpoint_every = 4\n")
        self.slots = [self.folder / f"a.{slot}.checkpoint" for slot in (0, 1)]

    def run_and_kill(self, *words):
        """Kills the run when both slots exist."""
        process = self.start("run", self.deck, "--quiet", *words)
        while not all(slot.exists() for slot in self.slots) and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL, "the run was over before it could be killed")
        self.assertFalse((self.folder / "a.h5").exists())

    def reference(self):
        self.expect(0, "run", self.deck, "--set", "output.file=whole.h5", "--set", "output.checkpoint_every=0")
        return (self.folder / "whole.vtkhdf").read_bytes()

    def newest(self):
        return max(self.slots, key=lambda slot: self.steps_of(slot))

    def steps_of(self, slot):
        return len(self.record(slot.name)["solves"])

    def flip(self, slot, at):
        data = bytearray(slot.read_bytes())
        data[at] ^= 0x10
        slot.write_bytes(data)

    def expect_same_end(self, whole, *words, **options):
        self.expect(0, "run", self.deck, "--restart", *words, **options)
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")
        self.assertFalse(any(slot.exists() for slot in self.slots))

    def test_same_bits(self):
        whole = self.reference()
        self.run_and_kill()
        self.assertEqual(sorted(self.steps_of(slot) % 4 for slot in self.slots), [0, 0])
        self.assertEqual(abs(self.steps_of(self.slots[0]) - self.steps_of(self.slots[1])), 4)
        step = self.steps_of(self.newest())
        self.expect_same_end(whole, says=f"is a checkpoint: going on from step {step + 1}")

    def test_killed_again_and_again(self):
        whole = self.reference()
        self.run_and_kill()
        for _ in range(3):
            process = self.start("run", self.deck, "--quiet", "--restart")
            time.sleep(0.1)
            process.kill()
            process.communicate()
            if (self.folder / "a.h5").exists():
                break
        else:
            self.expect_same_end(whole)
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)

    def test_damage_is_noticed_and_the_other_slot_taken(self):
        whole = self.reference()
        size = lambda slot: slot.stat().st_size
        damages = {
            "header": (lambda slot: self.flip(slot, 30), "header is incomplete"),
            "image": (lambda slot: self.flip(slot, size(slot) - 5000), "CRC-32"),
            "torn": (lambda slot: slot.write_bytes(slot.read_bytes()[: size(slot) // 2]), "too early"),
            "empty": (lambda slot: slot.write_bytes(b""), "not all of one"),
        }
        for name, (damage, message) in damages.items():
            with self.subTest(name):
                (self.folder / "a.h5").unlink(missing_ok=True)
                self.run_and_kill()
                newest = self.newest()
                other = next(slot for slot in self.slots if slot != newest)
                step = self.steps_of(other)
                damage(newest)
                self.expect_same_end(whole, says=[message, newest.name, f"taking the other slot, {other.name}",
                                                  f"going on from step {step + 1}"])

    def test_both_damaged(self):
        self.run_and_kill()
        for slot in self.slots:
            self.flip(slot, 700)
        self.expect(7, "run", self.deck, "--restart", says=["no checkpoint can be used", *[s.name for s in self.slots]])
        self.assertFalse((self.folder / "a.h5").exists())
        self.expect(0, "run", self.deck, says="starting over")

    def test_a_new_run_writes_over_the_older_slot(self):
        self.run_and_kill()
        self.run_and_kill("--set", "output.checkpoint_every=1")
        for slot in self.slots:
            self.assertTrue(slot.exists())
        self.expect(0, "run", self.deck, "--restart")

    def test_nothing_to_restart_from(self):
        self.expect(7, "run", self.deck, "--restart", says=["nothing to restart from", "checkpoint_every"])
        self.expect(2, "run", self.deck, "--restart", "--fresh", says="one of them")

    def test_another_deck(self):
        self.run_and_kill()
        self.expect(2, "run", self.deck, "--restart", "--set", "solver.rtol=1e-6",
                    says=["a different deck", "solver.rtol is 1e-6, was 1e-10"])

    def test_another_layout_is_reported(self):
        self.run_and_kill()
        self.expect(0, "run", self.deck, "--restart", "--set", "device.layout=hyperplane", says="but for rounding")

    def test_preempted_state_that_is_newer_wins(self):
        process = self.start("run", self.deck)
        while not all(slot.exists() for slot in self.slots) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, 75)
        self.expect(0, "run", self.deck, "--restart", says="a.h5 was preempted")

    def test_checkpoints_by_minutes(self):
        self.deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=STEPS) +
                               "[output]\nfields = true\ncheckpoint_minutes = 1e-9\n")
        self.run_and_kill()
        self.assertLessEqual(abs(self.steps_of(self.slots[0]) - self.steps_of(self.slots[1])), 1)
        self.expect(0, "run", self.deck, "--restart", "--set", "output.checkpoint_minutes=1e6")

    def test_within_a_solve(self):
        self.deck = self.write("a.ini", POISSON.format(cells=64) + "[output]\nfields = true\n"
                               "checkpoint_minutes = 1e-9\n")
        self.expect(0, "run", self.deck, "--set", "output.file=whole.h5", "--set", "output.checkpoint_minutes=1e6")
        whole = (self.folder / "whole.vtkhdf").read_bytes()
        self.run_and_kill()
        self.expect_same_end(whole, "--set", "output.checkpoint_minutes=1e6",
                             says="is a checkpoint: going on from step 1, iteration")

    def test_set_up_of_an_earlier_step(self):
        """The matrix of stabilised elements depends on both states before a step of BDF2."""
        self.deck = self.write("a.ini", "[problem]\nname = navier_stokes\nregime = transient\n[grid]\ncells = 6\n"
                               "[time]\nsteps = 5\nscheme = bdf2\n[newton]\nrefresh = 3\n")
        self.expect(0, "run", self.deck, "--set", "output.file=whole.h5")
        for looks in (40, 56, 64):
            self.expect(75, "run", self.deck, "--fresh", stop_at=looks)
            self.expect(0, "run", self.deck, "--restart")
            self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_steps_of_a_steady_problem_cannot_be_counted(self):
        deck = self.write("b.ini", POISSON.format(cells=8) + "[output]\ncheckpoint_every = 2\n")
        self.expect(2, "run", deck, says=["b.ini:9", "poisson is steady", "checkpoint_minutes"])


if __name__ == "__main__":
    unittest.main()
