# SPDX-License-Identifier: BSD-3-Clause
"""Runs and studies that are watched, and `info` in a screenful."""

import re
import subprocess
import unittest

from program import CAVITY, POISSON, TRANSPORT, ProgramTest

PULSE = """
[problem]
name = euler
case = pulse
[grid]
cells = 8
[time]
cfl = 3
steps = 5
[solver]
name = gmres
rtol = 1e-4
"""


class Progress(ProgramTest):
    def test_a_nonlinear_transient_run(self):
        shown = self.shown_on_terminal("run", self.write("a.ini", PULSE), "--set", "grid.cells=24",
                                       stdout=subprocess.DEVNULL).decode()
        lines = [line for line in re.split(r"[\r\n]", shown) if "elapsed" in line]
        for line in lines:
            self.assertRegex(line, r"^step \d of 5  t \S+  dt \S+  Newton \d  \|\|F\|\|/\|\|F0\|\| \S+  "
                                   r"iterations +\d+  residual \S+  elapsed \S+ s  ETA (--|\S+ (s|min))\x1b\[K$")
        self.assertRegex(lines[-1], r"ETA \S+ (s|min)")
        norms = [float(re.search(r"F0\|\| (\S+)", line)[1]) for line in lines if "Newton 2" in line]
        self.assertTrue(norms and max(norms) < 1.0)

    def test_a_line_is_no_wider_than_the_terminal(self):
        """It could not be overwritten where it wraps. What matters most remains."""
        pulse = self.write("a.ini", PULSE)
        cavity = self.write("b.ini", CAVITY.format(cells="7 6 5"))
        poisson = self.write("c.ini", POISSON.format(cells=24))
        for deck, first, figures in ((pulse, "step", ("t", "ETA")), (cavity, "step", ("CFL", "ETA")), (poisson, "iteration", ())):
            for columns in (80, 40):
                with self.subTest(deck=deck, columns=columns):
                    shown = self.shown_on_terminal("run", deck, "--fresh", stdout=subprocess.DEVNULL, columns=columns).decode()
                    lines = [line for line in re.split(r"[\r\n]", shown.replace("\x1b[K", "")) if line.startswith(first + " ")]
                    self.assertTrue(lines)
                    self.assertLess(max(map(len, lines)), columns)
                    for figure in figures[:columns // 40]:
                        self.assertIn(f"  {figure} ", lines[-1])

    def test_a_run_to_a_steady_state(self):
        deck = self.write("a.ini", CAVITY.format(cells="17 16 15"))
        shown = self.shown_on_terminal("run", deck, stdout=subprocess.DEVNULL).decode()
        lines = [line for line in re.split(r"[\r\n]", shown) if "elapsed" in line]
        for line in lines:
            self.assertRegex(line, r"^step +\d+ of at most 500  CFL \S+  dt \S+  \|\|F\|\|/\|\|F initial\|\| \S+  iterations")
        norms = [float(re.search(r"initial\|\| (\S+)", line)[1]) for line in lines]
        self.assertEqual(norms[0], 1.0)
        self.assertLess(norms[-1], 1e-2)
        # A run that goes on knows the norms of its steps.
        self.run_program("run", deck, "--fresh", stop_at=40)
        again = self.expect(0, "run", deck).stderr
        self.assertLess(float(re.search(r"initial\|\| (\S+)", again)[1]), 1.0)

    def test_linear_iterations_of_a_step_are_added_up(self):
        deck = self.write("a.ini", PULSE)
        shown = self.shown_on_terminal("run", deck, "--set", "grid.cells=24", "--set", "time.steps=1",
                                       stdout=subprocess.DEVNULL).decode()
        last = [line for line in re.split(r"[\r\n]", shown) if "elapsed" in line][-1]
        total = sum(row["iterations"] for row in self.record("a.h5")["solves"])
        self.assertEqual(int(re.search(r"iterations +(\d+)", last)[1]), total)

    def test_a_log_ends_with_the_time_that_is_left(self):
        log = self.expect(0, "run", self.write("a.ini", TRANSPORT.format(cells=12, steps=40))).stderr
        line = next(line for line in log.splitlines() if "iterations " in line)
        self.assertRegex(line, r"step 1 of 40  t \S+  dt \S+  iterations")


class Watch(ProgramTest):
    STUDY = POISSON.format(cells=4) + "[sweep]\ngrid.cells = 8, 10\nsolver.name = cg, gmres\n"

    def test_status_redraws_one_table_until_all_is_done(self):
        study = self.write("s.ini", self.STUDY)
        self.expect(0, "study", "run", study, "--quiet")
        shown = self.shown_on_terminal("study", "status", study, "--watch").decode()
        self.assertEqual(len(re.findall(r"\n +\d  done ", shown)), 4)
        self.assertIn("s: 4 of 4 cases done", shown)
        self.assertIn("iterations in", shown)

    def test_run_draws_over_its_table(self):
        shown = self.shown_on_terminal("study", "run", self.write("s.ini", self.STUDY), "--watch").decode()
        tables = shown.split("case  state")[1:]
        self.assertTrue(tables)
        for table in tables[:-1]:
            self.assertIn("\x1b[6A", table)  # each goes up by the lines of the one before it
        self.assertIn("s: 4 of 4 cases done", tables[-1])

    def test_needs_a_terminal(self):
        study = self.write("s.ini", self.STUDY)
        self.expect(2, "study", "status", study, "--watch", says="terminal")
        self.expect(2, "study", "status", study, "--watch", "--json", says="give one of")
        self.expect(2, "study", "collect", study, "--watch", says="does not take --watch")


class Info(ProgramTest):
    def lines(self, *words):
        lines = self.expect(0, "info", *words).stdout.splitlines()
        self.assertLessEqual(len(lines), 24)
        return {line.split()[0]: line for line in lines if line.strip()}

    def test_a_run_of_many_solves(self):
        self.expect(0, "run", self.write("a.ini", TRANSPORT.format(cells=6, steps=40)))
        said = self.lines("a.h5")
        total = sum(row["iterations"] for row in self.record("a.h5")["solves"])
        self.assertIn(f"{total} iterations in 40 solves", said["iterations"])
        self.assertIn("40 accepted", said["steps"])
        self.assertIn("state", said)
        self.assertGreater(len(self.expect(0, "info", "a.h5", "--all").stdout.splitlines()), 60)

    def test_a_checkpoint(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=6, steps=40) + "[output]\ncheckpoint_every = 5\n")
        self.run_program("run", deck, "--quiet", stop_at="200:9")
        checkpoint = next(path.name for path in self.folder.glob("a.*.checkpoint"))
        self.assertRegex(self.lines(checkpoint)["state"], r"\d+ steps completed, t = \S+; --restart goes on from here")

    def test_a_collected_study(self):
        study = self.write("s.ini", Watch.STUDY)
        self.expect(0, "study", "run", study, "--quiet")
        self.expect(0, "study", "collect", study)
        said = self.lines("s.h5")
        self.assertIn("4: 4 done", said["cases"])
        self.assertIn("fastest", said)
        self.assertEqual(len(re.findall(r"\n +\d  done ", self.expect(0, "info", "s.h5", "--all").stdout)), 4)
        self.assertEqual([row["status"] for row in self.record("s.h5")["cases"]], ["done"] * 4)


if __name__ == "__main__":
    unittest.main()
