# SPDX-License-Identifier: BSD-3-Clause
"""--restart after a failure: a run goes on from its last good state with other keys, and says with which."""

import json
import unittest

from program import CAVITY, POISSON, TRANSPORT, ProgramTest

MIXTURE = """
[problem]
name = cahn_hilliard
fields = one
initial_condition = random
[grid]
cells = 24 24 1
[time]
scheme = {scheme}
time_step = 1e-3
steps = 8
[newton]
rtol = 1e-8
[solver]
name = gmres
rtol = 1e-6
max_iterations = 27
[preconditioner]
name = struct_ilu
[output]
fields_every = 3
"""
MORE = ("--set", "solver.max_iterations=80")


class FailedRun(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", MIXTURE.format(scheme="bdf2"))

    def fail_once(self, *words):
        """Fails after some steps, whose number it returns."""
        failed = self.run_json(3, "run", self.deck, *words)
        accepted = sum(row["accepted"] for row in failed["steps"])
        self.assertGreater(accepted, 1)
        self.assertEqual(len(failed["steps"]), accepted + 1)
        return accepted

    def states(self, name):
        return {path.name: path.read_bytes() for path in (self.folder / f"{name}_series").iterdir()}

    def test_other_keys_of_the_solver(self):
        """max_iterations changes no bit of a solve that ends before, so the run ends as one that did not fail."""
        whole = self.run_json(0, "run", self.deck, *MORE, "--set", "output.file=whole.h5")
        steps = self.fail_once()
        self.assertIn("run --restart goes on from there", self.expect(3, "run", self.deck).stdout)
        said = self.expect(0, "run", self.deck, "--restart", *MORE, "--json",
                           says=[f"a.h5 failed after {steps} steps", "solver.max_iterations is 80, was 27"])
        record = json.loads(said.stdout)
        self.assertEqual(self.states("a"), self.states("whole"))
        self.assertEqual([(part["step"], part["ended"], part["changed"]) for part in self.record("a.h5")["parts"]],
                         [(0, "failed", ""), (steps, "ok", "solver.max_iterations is 80, was 27")])
        attempts = [(row["step"], row["attempt"], row["accepted"]) for row in record["steps"]]
        self.assertEqual(attempts, [(s, 1, True) for s in range(1, steps + 1)] + [(steps + 1, 1, False), (steps + 1, 2, True)] +
                         [(s, 1, True) for s in range(steps + 2, 9)])
        self.assertEqual([row["residual"] for row in record["steps"] if row["accepted"]], [row["residual"] for row in whole["steps"]])
        changed = f"from step {steps + 1} on solver.max_iterations is 80, was 27"
        self.assertIn(changed, self.expect(0, "info", "a.h5").stdout)
        self.assertIn(changed, self.expect(0, "run", self.deck, "--restart", "--set", "solver.max_iterations=80",
                                           "--set", "time.steps=9").stdout)

    def test_every_kind_of_key_that_may_change(self):
        for more in (("solver.name=bicgstab", "solver.max_iterations=200"), ("preconditioner.fill_level=1", "solver.max_iterations=60"), ("time.time_step=2.5e-4",),
                     ("preconditioner.name=multicolor", "solver.max_iterations=400"), ("newton.rtol=1e-3", "solver.rtol=1e-3"),
                     ("newton.refresh=1", "time.steps=9", "solver.max_iterations=80")):
            with self.subTest(more):
                steps = self.fail_once("--fresh")
                record = self.run_json(0, "run", self.deck, "--restart", *[word for key in more for word in ("--set", key)])
                for key in more:
                    self.assertIn(key.split("=")[0] + " is ", record["parts"][1]["changed"])
                self.assertEqual(record["parts"][1]["step"], steps)

    def test_keys_of_the_discretisation_are_refused(self):
        self.fail_once()
        before = (self.folder / "a.h5").read_bytes()
        for key in ("time.scheme=implicit_euler", "grid.cells=24 24 2", "time.tolerance=1e-3"):
            self.expect(2, "run", self.deck, "--restart", *MORE, "--set", key,
                        says=[key.split("=")[0] + " is ", "after a failure a run goes on with other values of the keys of [solver]"])
        self.expect(2, "run", self.deck, "--restart", *MORE, "--set", "time.steps=2", says="asks for no more than 2 steps")
        self.assertEqual((self.folder / "a.h5").read_bytes(), before)

    def test_the_same_keys_fail_again_and_can_go_on(self):
        steps = self.fail_once()
        self.expect(3, "run", self.deck, "--restart", says="may fail again")
        record = self.run_json(0, "run", self.deck, "--restart", *MORE)
        self.assertEqual([row["attempt"] for row in record["steps"] if row["step"] == steps + 1], [1, 2, 3])
        self.assertEqual([part["ended"] for part in self.record("a.h5")["parts"]], ["failed", "failed", "ok"])

    def test_checkpoints_do_not_stand_in_the_way(self):
        steps = self.fail_once("--set", "output.checkpoint_every=1")
        rest = self.run_json(0, "run", self.deck, "--restart", *MORE, "--set", "output.checkpoint_every=1")
        self.assertEqual(rest["parts"][1]["step"], steps)
        self.assertFalse(list(self.folder.glob("a.*.checkpoint")))

    def test_a_file_that_cannot_be_written_later_leaves_the_state(self):
        steps = self.fail_once("--set", "output.fields_every=1")
        series = next(self.folder.glob("*/step_*.vtkhdf")).parent
        obstacle = series / f"step_{steps + 2:08d}.vtkhdf"
        obstacle.mkdir()
        said = self.expect(7, "run", self.deck, "--restart", *MORE, "--set", "output.fields_every=1",
                           says="a.h5 stays as it was, with the state from which this run went on")
        self.assertIn("could not be written", said.stdout)
        self.assertEqual(self.record("a.h5.part")["status"], "failed")
        obstacle.rmdir()
        record = self.run_json(0, "run", self.deck, "--restart", *MORE, "--set", "output.fields_every=1")
        self.assertEqual(record["parts"][1]["step"], steps)
        self.assertFalse((self.folder / "a.h5.part").exists())

    def test_starting_over_is_told(self):
        steps = self.fail_once()
        self.expect(0, "run", self.deck, *MORE, says=f"starting over, though a.h5 failed after {steps} steps: --restart goes on from there")

    def test_a_first_step_that_fails_leaves_nothing(self):
        self.expect(3, "run", self.deck, "--set", "solver.max_iterations=5")
        self.expect(7, "run", self.deck, "--restart", *MORE, says=["nothing to restart from", "holds no state", "a time step had succeeded",
                                                                   "output.checkpoint_every makes checkpoints"])
        self.expect(3, "run", self.write("p.ini", POISSON.format(cells=8)), "--set", "solver.max_iterations=2")
        self.expect(7, "run", "p.ini", "--restart", says="nothing to restart from")

    def test_a_steady_run_is_told_of_no_time_step(self):
        deck = self.write("p.ini", POISSON.format(cells=8) + "[output]\nstate = always\n")
        nothing = self.expect(7, "run", deck, "--restart", says="output.checkpoint_minutes makes checkpoints").stderr
        self.expect(3, "run", deck, "--set", "solver.max_iterations=2")
        failed = self.expect(7, "run", deck, "--restart", says=["a solve that failed leaves no state", "output.checkpoint_minutes makes "
                                                                "checkpoints within it"]).stderr
        begun = self.expect(7, "check", self.write("q.ini", POISSON.format(cells=8) + "[initial]\nfile = p.h5\n"),
                            says="p.h5 holds no state; its run failed before it had a solution").stderr
        for said in (nothing, failed, begun):
            self.assertNotIn("step", said)
        often = ("--set", "output.checkpoint_minutes=1e-9")
        self.expect(3, "run", deck, "--fresh", "--set", "solver.max_iterations=2", *often)
        self.expect(0, "run", deck, "--restart", *often, says="is a checkpoint: going on")


class Ends(ProgramTest):
    """Keys that say when a run ends may change alike for preempted, finished and failed runs."""

    def test_a_preempted_run_takes_more_steps_to_the_same_bits(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=12, steps=6) + "[output]\nfields = true\n")
        self.expect(0, "run", deck, "--set", "time.steps=9", "--set", "output.file=long.h5")
        self.expect(75, "run", deck, stop_at="20")
        reached = self.record("a.h5")["parts"][0]
        self.expect(0, "run", deck, "--set", "time.steps=9", says="was preempted")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), (self.folder / "long.vtkhdf").read_bytes())
        self.assertEqual(reached["ended"], "preempted")
        self.assertEqual(self.record("a.h5")["parts"][1]["changed"], "time.steps is 9, was 6")

    def test_a_run_that_used_its_steps_up_may_raise_cfl_max(self):
        deck = self.write("a.ini", CAVITY.format(cells=6))
        self.expect(3, "run", deck, "--set", "time.steps=4", "--set", "time.cfl_max=20", says="steps_used_up")
        self.expect(2, "run", deck, "--restart", "--set", "time.steps=4", "--set", "time.cfl_max=1e4", says="has taken 4 steps")
        rest = self.run_json(0, "run", deck, "--restart", "--set", "time.steps=100", "--set", "time.cfl_max=1e4")
        self.assertGreater(max(row["cfl"] for row in rest["steps"]), 20.0)
        self.expect(0, "run", deck, "--restart", "--set", "time.steps=100", "--set", "time.cfl_max=1e5", "--set", "time.steady_rtol=1e-8")


if __name__ == "__main__":
    unittest.main()
