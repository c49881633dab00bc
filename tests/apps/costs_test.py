# SPDX-License-Identifier: BSD-3-Clause
"""The costs of a run are those of all its parts, wherever it was stopped, and every table shows the same costs."""

import csv
import os
import pathlib
import subprocess
import sys
import time
import unittest

from program import POISSON, TRANSPORT, ProgramTest, signal

MODULE = pathlib.Path(__file__).resolve().parents[2] / "python"
# GMRES in many time steps, whose numbers of iterations do not depend on where it is stopped.
MARCH = TRANSPORT.format(cells=24, steps=40)


class Costs(ProgramTest):
    def stop(self, *words, number=signal.SIGTERM, after=0.15, file="a.h5.part"):
        """Sends a signal to a run when a file of this name exists; returns the exit status."""
        process = self.start("run", *words, "--quiet")
        while not list(self.folder.glob(file)) and process.poll() is None:
            time.sleep(0.002)
        time.sleep(after)
        process.send_signal(number)
        process.communicate(timeout=60)
        return process.returncode

    def stop_often(self, deck, stops):
        """Stops a run several times and lets it end; returns the words of the last part's verdict."""
        for stop in range(stops):
            words = (deck, "--fresh") if stop == 0 else (deck,)
            while (status := self.stop(*words, after=0.05 + 0.05 * stop)) == 0:
                self.skipTest("this machine is too fast for the signals of this test")
            self.assertEqual(status, 75)
        return self.run_json(0, "run", deck)

    def timers(self, record):
        return {row["name"]: row for row in record["timers"]}

    def expect_one_source(self, record, answer=None):
        """Timers, rows of solves and costs agree."""
        costs, timers = record["costs"], self.timers(record)
        for part in ("setup", "solve"):
            rows = sum(row[f"{part}_seconds"] for row in record["solves"])
            self.assertAlmostEqual(timers[part]["seconds"], costs[f"{part}_seconds"], delta=1e-9 + 1e-6 * rows)
            self.assertAlmostEqual(rows, costs[f"{part}_seconds"], delta=1e-9 + 0.02 * rows)
        iterations = sum(row["iterations"] for row in record["solves"])
        self.assertEqual(costs["iterations"], iterations)
        self.assertAlmostEqual(costs["seconds_per_iteration"], costs["solve_seconds"] / iterations)
        self.assertEqual(costs["memory_peak"], record["memory"]["peak"])
        self.assertEqual(costs["parts"], len(record["parts"]))
        if answer:
            self.assertEqual(answer["costs"], costs)
            self.assertEqual(answer["timers"], {name: {key: row[key] for key in ("seconds", "calls", "bytes")}
                                                for name, row in timers.items()})

    def expect_the_work_of(self, whole, record, parts):
        """Calls and bytes are those of an uninterrupted run, except for what each new part does at its beginning."""
        whole, stopped = self.timers(whole), self.timers(record)
        for name in ("assemble", "solve/spmv", "solve/preconditioner"):
            calls, more = whole[name]["calls"], stopped[name]["calls"] - whole[name]["calls"]
            self.assertGreaterEqual(more, 0, name)
            self.assertLessEqual(more, 3 * parts, name)
            self.assertAlmostEqual(stopped[name]["bytes"] / stopped[name]["calls"], whole[name]["bytes"] / calls)
        self.assertEqual(sum(row["iterations"] for row in record["solves"]), record["costs"]["iterations"])

    def test_a_run_of_many_steps(self):
        deck = self.write("a.ini", MARCH)
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        answer = self.stop_often(deck, 3)
        record = self.record("a.h5")
        self.expect_one_source(record, answer)
        self.expect_the_work_of(self.record("whole.h5"), record, 4)
        parts = record["parts"]
        self.assertEqual([part["ended"] for part in parts], ["preempted", "preempted", "preempted", "ok"])
        self.assertEqual([part["step"] for part in parts], sorted(part["step"] for part in parts))
        self.assertGreaterEqual(sum(part["seconds"] for part in parts), record["costs"]["solve_seconds"])
        self.assertTrue(all(part["host"] and part["started"] and part["git_sha"] for part in parts))

    def test_within_a_solve(self):
        deck = self.write("a.ini", POISSON.format(cells=80))
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        answer = self.stop_often(deck, 2)
        record = self.record("a.h5")
        self.expect_one_source(record, answer)
        self.expect_the_work_of(self.record("whole.h5"), record, 3)

    def test_a_part_that_is_stopped_before_it_goes_on_with_a_solve(self):
        deck = self.write("a.ini", POISSON.format(cells=24))
        for first in (20, 3):
            fresh = ("--fresh", "--force")
            for look in (first, 1, 2, 3):
                self.expect(75, "run", deck, "--quiet", *fresh, stop_at=look)
                fresh = ()
            answer = self.run_json(0, "run", deck)
            record = self.record("a.h5")
            self.assertEqual(len(record["parts"]), 5)
            self.expect_one_source(record, answer)

    def test_a_part_that_is_stopped_in_a_long_set_up(self):
        deck = self.write("a.ini", POISSON.format(cells="50 50 41") + "[matrix]\nformat = general\n"
                                   "[preconditioner]\nname = par_ilut\nrounds = 2\n[device]\nbackend = cpu\n")
        self.expect(75, "run", deck, "--quiet", stop_at=8)
        before = self.record("a.h5")
        self.assertEqual(before["solves"], [])
        self.assertGreater(self.timers(before)["setup"]["seconds"], 0.0)
        answer = self.run_json(0, "run", deck)
        record = self.record("a.h5")
        self.expect_one_source(record, answer)
        self.assertGreater(record["costs"]["setup_seconds"], self.timers(before)["setup"]["seconds"])

    def test_a_run_that_died_within_a_solve(self):
        deck = self.write("a.ini", POISSON.format(cells=80) + "[output]\ncheckpoint_minutes = 1e-9\n")
        status = self.stop(deck, number=signal.SIGKILL, after=0.05, file="a.?.checkpoint")
        if status == 0:
            self.skipTest("the run was over before it could be killed")
        answer = self.run_json(0, "run", deck, "--restart", "--set", "output.checkpoint_minutes=1e6")  # one was enough
        record = self.record("a.h5")
        self.assertEqual([part["ended"] for part in record["parts"]], ["died", "ok"])
        self.assertGreater(record["parts"][0]["seconds"], 0.0)
        self.expect_one_source(record, answer)
        # The clock of the history has continued, so the time of the solve is not less than its last entry.
        self.assertGreater(record["costs"]["solve_seconds"], 0.9 * self.last_second("a.h5"))

    def last_second(self, name):
        code = "import sys, h5py; print(h5py.File(sys.argv[1])['history/seconds'][-1])"
        done = subprocess.run(["/usr/bin/python3", "-c", code, str(self.folder / name)], capture_output=True, text=True)
        return float(done.stdout) if done.returncode == 0 else 0.0

    def test_another_device_is_shown_in_every_table(self):
        deck = self.write("a.ini", MARCH)
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        status = self.stop(deck, "--threads", "1")
        if status == 0:
            self.skipTest("this machine is too fast for the signals of this test")
        words = self.expect(0, "run", deck, "--threads", "2").stdout
        moved = "cpu, 1 thread; then "
        line = next(line for line in words.splitlines() if line.startswith("parts"))
        self.assertIn("2: ", line)
        self.assertIn(moved, line)
        record = self.record("a.h5")
        self.assertIn(moved, record["costs"]["places"])
        self.assertEqual([part["threads"] for part in record["parts"]], [1, 2])
        self.assertIn(moved, self.expect(0, "info", "a.h5").stdout)
        self.assertIn(moved, self.run_program("diff", "whole.h5", "a.h5").stdout)
        self.expect_the_same_from_python(record)

    def expect_the_same_from_python(self, record):
        code = ("import hyperplane, sys; r = hyperplane.load(sys.argv[1]); print(r.seconds('setup'), r.seconds('solve'), "
                "r.seconds_per_iteration, r.iterations, len(r.parts)); print(r.places)")
        for python in (sys.executable, "/usr/bin/python3"):
            done = subprocess.run([python, "-B", "-c", code, str(self.folder / "a.h5")], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": str(MODULE)})
            if done.returncode == 0:
                break
        else:
            self.skipTest("no Python with h5py")
        numbers, places = done.stdout.splitlines()
        costs = record["costs"]
        for found, name in zip(map(float, numbers.split()), ("setup_seconds", "solve_seconds", "seconds_per_iteration",
                                                             "iterations", "parts")):
            self.assertAlmostEqual(found, costs[name], places=12)
        self.assertEqual(places, costs["places"])
        report = self.run_program("report", "a.h5", "whole.h5", "-o", "page.html")
        if report.returncode == 0:
            self.assertIn("then " + costs["places"].split("; then ")[1], (self.folder / "page.html").read_text())

    def test_a_study(self):
        study = self.write("s.ini", MARCH + "[output]\ncheckpoint_every = 2\n[sweep]\nproblem.viscosity = 1e-3, 2e-3\n")
        process = self.start("study", "run", study, "--quiet")
        slots = [self.folder / f"s/viscosity=1e-3.{slot}.checkpoint" for slot in (0, 1)]
        while not all(slot.exists() for slot in slots) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        log = self.expect(0, "study", "resume", study).stderr
        self.expect(0, "study", "collect", study)
        with open(self.folder / "s.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["parts"] for row in rows], ["2", "1"])
        self.assertIn("iterations, in 2 parts on ", log)
        for row in rows:
            record = self.record(row["record"])
            self.expect_one_source(record)
            for column in ("setup_seconds", "solve_seconds", "seconds_per_iteration", "memory_peak", "places"):
                known = record["costs"][column]
                self.assertEqual(row[column] if column == "places" else float(row[column]), known)

    def test_a_comparison(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.expect(0, "compare", deck, "--preconditioners", "jacobi,struct_ilu", "--reps", "3", "--quiet", "--json", "a.json")
        code = ("import hyperplane, sys; c = hyperplane.load(sys.argv[1])\n"
                "for row in c.table.rows():\n    r = c.records[row.name]\n"
                "    print(r.seconds('setup') - row.setup_seconds, r.seconds('solve') - row.solve_seconds)")
        done = subprocess.run(["/usr/bin/python3", "-B", "-c", code, str(self.folder / "a_compare.h5")], capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": str(MODULE)})
        if done.returncode != 0 and "No module" in done.stderr:
            self.skipTest("no Python with h5py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all(abs(float(word)) < 1e-12 for word in done.stdout.split()), done.stdout)


if __name__ == "__main__":
    unittest.main()
