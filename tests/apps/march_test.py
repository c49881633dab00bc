# SPDX-License-Identifier: BSD-3-Clause
"""Nonlinear and time-dependent runs: what stops them, what the record says, and that they go on to the same bits."""

import json
import re
import unittest

from program import CAVITY, TRANSPORT, ProgramTest, signal

PULSE = """
[problem]
name = euler
case = pulse
[grid]
cells = 8
[time]
cfl = 3
steps = 5
scheme = bdf2
[newton]
forcing = eisenstat_walker
{newton}
[solver]
name = gmres
rtol = 1e-4
[output]
fields = true
"""

SMALL_CAVITY = CAVITY.format(cells="7 6 5") + "[output]\nfields = true\n"

DISTURBED = """
[problem]
name = cahn_hilliard
initial_condition = random
[grid]
cells = 8
[time]
{time}
[solver]
name = gmres
rtol = 1e-4
[output]
fields = true
"""


BLAST = """
[problem]
name = euler
case = blast
blast_pressure = 1e4
ambient_pressure = 1e-6
[grid]
cells = 9 11 1
[time]
cfl = 10
steps = 40
scheme = bdf2
[newton]
method = linearised
[solver]
name = gmres
rtol = 1e-2
[output]
fields = true
"""


class March(ProgramTest):
    def whole(self, deck):
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        return (self.folder / "whole.vtkhdf").read_bytes()

    def test_times_beyond_double_precision(self):
        deck = self.write("a.ini", TRANSPORT.format(cells="9 8 7", steps=20))
        at_once = self.write("b.ini", TRANSPORT.format(cells="9 8 7", steps=20).replace("cfl = 5", "time_step = 1e307"))
        for verb in ("check", "run"):
            self.expect(2, verb, at_once, says="b.ini:7: time.time_step: 20 steps of 1e+307 end beyond 1.8e308")
        self.expect(0, "check", at_once, "--set", "time.steps=17")
        far = ("--set", "time.cfl=1.7e308")
        self.expect(4, "run", deck, *far, says="time_not_finite: the next step would end beyond")
        done = self.run_json(0, "run", deck, *far, "--fresh", "--set", "expect.end=time_not_finite", "--set", "output.fields=true")
        self.assertEqual((done["end"], len(done["steps"])), ("time_not_finite", 7))
        self.assertLess(done["steps"][-1]["time"], 1.8e308)
        self.assertEqual(done["fields"], "a.vtkhdf")  # of the state that the last step has reached
        series = ("--set", "output.fields_every=5", "--set", "output.file=c.h5")
        self.expect(4, "run", deck, *far, *series)
        self.assertEqual(len(list(self.folder.glob("c_series/*"))), 3)  # after 0, 5 and 7 steps

    def test_a_blast_that_no_cell_has_is_warned_of(self):
        deck = self.write("a.ini", BLAST.replace("9 11 1", "8"))
        self.assertIn("give 9 cells or more along each axis (grid.cells)", self.expect(0, "check", deck).stderr)
        self.assertNotIn("9 cells", self.expect(0, "check", deck, "--set", "grid.cells=9").stderr)
        # A state of a record need not be at rest.
        self.expect(0, "run", deck, "--set", "grid.cells=9", "--set", "time.steps=1", "--set", "output.file=finer.h5")
        record = ("--set", "initial.file=finer.h5", "--set", "initial.interpolate=true")
        self.assertNotIn("9 cells", self.expect(0, "check", deck, *record).stderr)

    def test_a_state_from_a_file_keeps_its_means(self):
        keep = ("--set", "expect.max_drift=mean_u 1e-9, mean_v 1e-9", "--set", "solver.rtol=1e-12")
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 1e-3\nsteps = 5"))
        self.expect(0, "run", deck, *keep, "--set", "problem.mean_v=0.3", "--set", "output.file=from.h5")
        begun = (*keep, "--set", "initial.file=from.h5")
        for more in ((), ("--ranks", "2"), ("--set", "problem.scheme=avf"), ("--set", "time.scheme=bdf2"),
                     ("--set", "grid.cells=9", "--set", "grid.lengths=0.128", "--set", "initial.interpolate=true")):
            with self.subTest(more):
                self.expect(0, "run", deck, *begun, "--set", "expect.never_rising=energy", *more)

    def test_a_first_step_that_was_too_long_is_warned_of(self):
        moving = TRANSPORT.format(cells=8, steps=3).replace("cfl = 5", "time_step = {}\ntolerance = 1e-3")
        for scheme in ("implicit_euler", "bdf2"):
            for step, warned in ((0.05, True), (1e-4, False)):
                with self.subTest(scheme, step=step):
                    deck = self.write("a.ini", moving.format(step))
                    said = self.expect(0, "run", deck, "--set", "time.scheme=" + scheme).stderr
                    self.assertEqual("step 1" in said and "above time.tolerance" in said, warned, said)

    def test_it_is_warned_of_whatever_becomes_of_the_second_step(self):
        moving = TRANSPORT.format(cells=8, steps=3).replace("cfl = 5\nsteps = 3", "time_step = 0.01\ntolerance = 1e-3\nend_time = 0.0105")
        said = self.expect(0, "run", self.write("a.ini", moving)).stderr  # it is a twentieth as long
        self.assertIn("step 1, 0.01 long, has an estimated error of 0.00249, above time.tolerance", said)
        deck = self.write("b.ini", "[problem]\nname = euler\n[grid]\ncells = 24 1 1\n[time]\ntime_step = 0.1\nsteps = 4\ntolerance = 1e-3\n"
                                   "[solver]\nname = gmres\nrtol = 1e-4\n[newton]\nmax_iterations = 3\n")
        said = self.expect(0, "run", deck).stderr
        self.assertIn("step 2: max_iterations", said)  # its first attempt
        self.assertEqual(said.count("step 1, 0.1 long, has an estimated error of"), 1)

    def test_a_run_without_an_estimated_error_is_warned_of(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=8, steps=3).replace("cfl = 5", "time_step = 1e-4"))
        for scheme, steps, warned in (("implicit_euler", 1, True), ("implicit_euler", 2, False), ("bdf2", 3, True),
                                      ("bdf2", 4, False)):
            with self.subTest(scheme, steps=steps):
                said = self.expect(0, "run", deck, "--set", "time.tolerance=1e-3", "--set", f"time.steps={steps}",
                                   "--set", "time.scheme=" + scheme).stderr
                self.assertEqual("time.tolerance had no effect" in said, warned, said)

    def test_a_norm_below_steady_atol_is_not_said_to_be_relative(self):
        deck = self.write("a.ini", SMALL_CAVITY)
        done = self.expect(0, "run", deck, "--set", "time.steady_atol=1e30")
        self.assertIn("or time.steady_atol", done.stdout)

    def test_squares_of_lengths_may_overflow(self):
        deck = self.write("a.ini", TRANSPORT.format(cells="9 8 7", steps=1))
        for lengths in ("1e120", "1e150", "1e300"):
            with self.subTest(lengths):
                self.expect(5, "run", deck, "--set", "grid.lengths=" + lengths, says="check the coefficients")
        self.expect(5, "run", deck, "--set", "grid.lengths=1e150", "--set", "problem.regime=steady",
                    "--set", "time.cfl=", "--set", "time.steps=")

    def stop_again_and_again(self, deck, whole):
        """Stops the run at various places until it has ended; its bits are those of an uninterrupted run. Places are
        counted in iterations, so that they are the same on any machine."""
        stops, status, look = 0, 75, 3
        while status == 75:
            done = self.run_program("run", deck, *(["--fresh"] if stops == 0 else []), stop_at=look)
            status = done.returncode
            self.assertIn(status, (0, 75), done.stderr)
            stops += 1
            look += look // 2 + 1
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")
        return stops

    def test_stopped_anywhere_the_bits_are_the_same(self):
        for newton in ("", "refresh = 3", "refresh = grown"):
            with self.subTest(newton):
                deck = self.write("a.ini", PULSE.format(newton=newton))
                self.assertGreater(self.stop_again_and_again(deck, self.whole(deck)), 3)

    def test_pseudo_transient_and_controlled_steps_too(self):
        cavity = self.write("a.ini", SMALL_CAVITY)
        self.assertGreater(self.stop_again_and_again(cavity, self.whole(cavity)), 3)
        controlled = self.write("a.ini", DISTURBED.format(time="time_step = 1e-6\ntolerance = 1e-3\nend_time = 2e-4"))
        self.assertGreater(self.stop_again_and_again(controlled, self.whole(controlled)), 3)

    def test_checkpoints_within_newton_steps(self):
        deck = self.write("a.ini", PULSE.format(newton="refresh = 3") + "checkpoint_minutes = 1e-9\n")
        whole = self.whole(deck)
        killed = self.run_program("run", deck, "--quiet", stop_at=f"20:{int(signal.SIGKILL)}")
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        self.expect(0, "run", deck, "--restart", says="Newton step")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)

    def test_the_record_has_every_step(self):
        deck = self.write("a.ini", PULSE.format(newton=""))
        result = self.run_json(0, "run", deck)
        self.assertEqual(result["end"], "steps_taken")
        self.assertEqual([step["accepted"] for step in result["steps"]], [True] * 5)
        self.assertEqual(len(result["solves"]), sum(step["newton_steps"] for step in result["steps"]))
        for step in result["steps"]:
            self.assertEqual(step["newton_reason"], "converged_rtol")
        self.assertAlmostEqual(result["steps"][-1]["time"], sum(step["dt"] for step in result["steps"]))

    def test_a_steady_state_is_reported(self):
        cavity = self.write("a.ini", SMALL_CAVITY)
        result = self.run_json(0, "run", cavity)
        self.assertEqual(result["end"], "steady_state")
        residuals = [step["steady_residual"] for step in result["steps"]]
        self.assertLess(residuals[-1], residuals[0])
        few = ("run", cavity, "--fresh", "--set", "time.steps=2")
        self.assertNotIn("time.cfl_max", self.expect(3, *few, says=["steps_used_up", "raise time.steps"]).stderr)
        self.expect(3, *few, "--set", "time.cfl=5", "--set", "time.cfl_max=5", says=["steps_used_up", "raise time.cfl_max"])
        self.expect(0, "run", cavity, "--set", "time.steps=2", "--set", "time.steady_rtol=0")

    def test_the_time_reached_is_that_of_the_state(self):
        """Not the end of an attempt that was rejected."""
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 1e-3\nsteps = 6").replace("cells = 8", "cells = 24 24 1")
                          .replace("rtol = 1e-4", "rtol = 1e-6\nmax_iterations = {}\n[newton]\nrtol = 1e-8\n"
                                   "[preconditioner]\nname = struct_ilu").replace("[grid]", "fields = one\n[grid]"))
        for cap in (33, 1):
            with self.subTest(cap=cap):
                text = (self.folder / deck).read_text()
                capped = self.write(f"b{cap}.ini", text.format(cap))
                times = [step["time"] for step in self.run_json(3, "run", capped)["steps"] if step["accepted"]]
                self.assertEqual(bool(times), cap > 1)
                reached = f"t = {times[-1]:.6g}" if times else "t = 0"
                done = self.expect(3, "run", capped, "--fresh")
                self.assertRegex(done.stdout, rf"steps .* 1 rejected.*; {reached}[,\n]")
                if times:
                    self.assertRegex(self.expect(0, "info", f"b{cap}.h5").stdout, rf"steps .* 1 rejected.*; {reached},")

    def test_linear_and_nonlinear_runs_end_for_the_same_reasons(self):
        linear = self.write("a.ini", TRANSPORT.format(cells=6, steps=2))
        for words, end in (((), "steps_taken"), (("--set", "time.steps=", "--set", "time.end_time=0.3"), "end_time_reached")):
            shown = self.expect(0, "run", linear, "--fresh", *words, "--set", f"expect.end={end}").stdout
            self.assertRegex(shown, rf"ended +{end}: ")
            self.assertTrue(self.record("a.h5")["message"].startswith(end + ": "))

    def test_an_initial_state_that_is_not_finite_is_named(self):
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 1e-6\nsteps = 2"))
        for key, value in (("mean_u", "1e300"), ("amplitude", "1e200")):
            self.expect(2, "run", deck, "--fresh", "--set", f"problem.{key}={value}",
                        says=["the initial state is not finite", f"problem.{key} = {value}"])

    def test_a_step_without_solution_keeps_the_last_good_state(self):
        deck = self.write("a.ini", PULSE.format(newton="max_iterations = 2\nrtol = 1e-3").replace("cfl = 3", "cfl = 1"))
        self.expect(3, "run", deck, "--set", "newton.rtol=1e-12", "--set", "newton.forcing=fixed",
                    says=["step 1: max_iterations", "newton.max_iterations"])
        self.assertEqual(self.record("a.h5")["status"], "failed")

    def test_a_pressure_that_is_not_positive_stops_the_run(self):
        deck = self.write("a.ini", BLAST)
        message = self.expect(4, "run", deck, "--quiet", says="(forbidden_state)").stderr
        found = re.search(r"step (\d+): pressure is [-+.e\d]+ at cell \(\d+, \d+, 0\)", message)
        self.assertTrue(found, message)
        record = self.record("a.h5")
        self.assertEqual((record["status"], record["exit_code"]), ("failed", 4))
        last = int(found[1]) - 1
        fields = (self.folder / "a.vtkhdf").read_bytes()
        self.expect(0, "run", deck, "--fresh", "--quiet", "--set", f"time.steps={last}")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), fields, "not the last good state")

    def test_an_overflow_stops_the_run(self):
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 1e-6\nsteps = 3"))
        self.expect(4, "run", deck, "--set", "problem.spacing=1e-80",
                    says=["step 1: not_finite", "F of u is", "nan at cell (0, 0, 0)"])
        self.assertEqual(self.record("a.h5")["status"], "failed")

    def test_a_shortened_step_reports_what_forbids_the_whole(self):
        deck = self.write("a.ini", BLAST.replace("method = linearised", "max_iterations = 8"))
        self.expect(3, "run", deck, says=["step 1: max_iterations", "after Newton's whole correction",
                                          " at cell ("])

    def test_steps_towards_a_steady_flow_grow(self):
        deck = self.write("a.ini", PULSE.format(newton="").replace("scheme = bdf2\n", "").replace("steps = 5\n", "")
                          .replace("forcing = eisenstat_walker", "").replace("case", "regime = pseudo_transient\ncase"))
        result = self.run_json(0, "run", deck)
        self.assertEqual(result["end"], "steady_state")
        numbers = [step["cfl"] for step in result["steps"]]
        self.assertEqual(numbers[0], 3)
        self.assertEqual(numbers, sorted(numbers))
        self.assertGreater(numbers[-1], 100)
        self.assertLess(len(numbers), 12)

    def test_a_smallest_step(self):
        deck = self.write("a.ini", DISTURBED.format(
            time="time_step = 1e-6\ntolerance = 1e-9\nend_time = 2e-4\nsmallest_step = 5e-7"))
        self.expect(4, "run", deck, says=["the estimated error", "(step_too_small)"])
        self.expect(2, "check", deck, "--set", "time.largest_step=1e-7", says="time.smallest_step: is above")

    def test_a_run_that_comes_to_rest_goes_on(self):
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 1e-2\nsteps = 30").replace(
            "initial_condition = random", "fields = one\nmean_u = 0.7\namplitude = 0.1").replace("1e-4", "1e-6") +
                          "[preconditioner]\nname = struct_ilu\n")
        for settings in ([], ["--set", "newton.line_search_halvings=0"], ["--set", "newton.rtol=1e-12"]):
            with self.subTest(settings):
                result = self.run_json(0, "run", deck, "--fresh", *settings)
                self.assertEqual(len(result["steps"]), 30)
                self.assertIn("converged_rounding", [step["newton_reason"] for step in result["steps"]])

    def test_a_flow_that_comes_to_rest_goes_on(self):
        deck = self.write("a.ini", "[problem]\nname = navier_stokes\nregime = transient\n[grid]\ncells = 8 8 2\n"
                                   "[time]\ntime_step = 0.5\nend_time = 41\n")
        result = self.run_json(0, "run", deck)
        self.assertEqual(len(result["steps"]), 82)
        self.assertIn("converged_rounding", [step["newton_reason"] for step in result["steps"]])

    def test_info_counts_the_newton_steps_that_were_taken(self):
        deck = self.write("a.ini", DISTURBED.format(time="time_step = 2e-5\nsteps = 2") +
                          "[newton]\nrtol = 1e-16\natol = 1e-300\n[preconditioner]\nname = struct_ilu\n")
        result = self.run_json(0, "run", deck)
        taken = [step["newton_steps"] for step in result["steps"]]
        self.assertIn("converged_rounding", [step["newton_reason"] for step in result["steps"]])
        self.assertGreater(len(result["solves"]), sum(taken))  # the last correction of a step was not taken
        self.assertIn(f"2 accepted; {sum(taken)} Newton steps", self.expect(0, "info", "a.h5").stdout)

    def test_a_state_of_zero_has_no_estimated_error(self):
        zero = TRANSPORT.format(cells=8, steps=9).replace("cfl = 5", "time_step = 0.1\ntolerance = 1e-3")
        deck = self.write("a.ini", zero)
        words = [word for key in ("initial_condition=zero", "right_hand_side=zero", "boundary_value=zero")
                 for word in ("--set", "problem." + key)]
        result = self.run_json(0, "run", deck, *words)
        self.assertEqual([step["accepted"] for step in result["steps"]], [True] * 9)

    def test_steps_that_fail_are_warned_about_a_few_times(self):
        fails = TRANSPORT.format(cells=8, steps=400).replace("cfl = 5", "time_step = 0.3\ntolerance = 1e-3")
        deck = self.write("a.ini", fails + "max_iterations = 1\n[preconditioner]\nname = struct_ilu\n")
        done = self.expect(0, "run", deck, "--quiet", "--json", says="repeated with shorter ones, the first 5")
        self.assertEqual(done.stderr.count("repeated with a step a quarter as long"), 5)
        steps = json.loads(done.stdout)["steps"]
        self.assertLess(sum(not step["accepted"] for step in steps), len(steps) // 10)

    def test_linear_transport_by_bdf2_goes_on_too(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=13, steps=12) +
                          "[output]\nfields = true\n[newton]\nrefresh = 100\n")
        text = (self.folder / deck).read_text().replace("cfl = 5", "cfl = 5\nscheme = bdf2")
        (self.folder / deck).write_text(text)
        self.assertGreater(self.stop_again_and_again(deck, self.whole(deck)), 3)

    def test_memory_is_predicted_to_the_byte(self):
        pulse = self.write("a.ini", PULSE.format(newton="refresh = 2"))
        disturbed = self.write("b.ini", DISTURBED.format(time="time_step = 1e-6\nsteps = 3"))
        cavity = self.write("c.ini", SMALL_CAVITY)
        transport = self.write("d.ini", TRANSPORT.format(cells=12, steps=3))
        for deck, settings in ((pulse, []), (pulse, ["time.tolerance=0.5"]), (disturbed, ["newton.method=linearised"]),
                               (disturbed, ["time.scheme=bdf2", "newton.refresh=grown"]),
                               (cavity, ["time.steps=2", "time.steady_rtol=0"]), (transport, []),
                               (transport, ["time.scheme=bdf2"]), (transport, ["time.tolerance=0.5"])):
            words = [word for setting in settings for word in ("--set", setting)]
            with self.subTest(deck, settings=settings):
                predicted = self.run_json(0, "check", deck, *words)["memory"]["predicted"]
                held = self.run_json(0, "run", deck, *words)["memory"]["peak"]
                self.assertLess(abs(predicted - held), 4096)

    def test_refusals_name_file_and_line(self):
        transport = TRANSPORT.format(cells=8, steps=2)  # its [solver] is at line 9
        for deck, keys, message in (
                (transport, "end_time = 1", "r.ini:9: time.end_time: contradicts r.ini:8: time.steps"),
                (transport, "cfl_max = 9", "r.ini:9: time.cfl_max: only pseudo-transient steps"),
                (transport, "steady_rtol = 1e-3", "r.ini:9: time.steady_rtol: only pseudo-transient steps"),
                (transport, "largest_step = 1", "r.ini:9: time.largest_step: only steps that time.tolerance controls"),
                (transport, "smallest_step = 1", "r.ini:9: time.smallest_step: only steps that time.tolerance controls"),
                (transport, "[newton]\nrtol = 1e-3", "r.ini:10: newton.rtol: convection_diffusion is linear"),
                (transport, "[newton]\nrefresh = 0", "r.ini:10: newton.refresh: 0 is out of range"),
                (transport, "[newton]\nrefresh = seldom", "expected integer >= 1 or every or grown, got 'seldom'"),
                (SMALL_CAVITY, "[newton]\nrtol = 1e-3", "r.ini:11: newton.rtol: one Newton step is taken and not judged"),
                (SMALL_CAVITY, "end_time = 1", "r.ini:10: time.end_time: pseudo-transient steps lead to a steady state"),
                (SMALL_CAVITY.replace("cfl = 10\n", ""), "time_step = 1",
                 "r.ini:9: time.time_step: pseudo-transient steps are as long as"),
                (PULSE.format(newton=""), "[newton]\nrtol = 0", "newton.rtol: is 0, and so is newton.atol")):
            with self.subTest(keys):
                self.write("r.ini", deck.replace("[solver]", keys + "\n[solver]"))
                self.expect(2, "check", "r.ini", says=message)
        self.write("r.ini", transport.replace("cfl = 5", "cfl = 0"))
        self.expect(2, "check", "r.ini", says="r.ini:7: time.cfl: 0 is out of range")


if __name__ == "__main__":
    unittest.main()
