# SPDX-License-Identifier: BSD-3-Clause
"""output.profile: the same results, and a table of where the time went in record, info, report and NAME.profile.json."""

import json
import sys
import unittest

from program import POISSON, TRANSPORT, ProgramTest

ON = ("--set", "output.profile=true")


def direct(rows, outer):
    """The kinds directly within one."""
    return [row for row in rows if row["name"].startswith(outer + "/") and "/" not in row["name"][len(outer) + 1:]]


class Profile(ProgramTest):
    backend = ()

    def run_once(self, *words, deck=None):
        deck = deck or self.write("a.ini", POISSON.format(cells="33 31 29"))
        return self.run_json(0, "run", deck, *self.backend, "--fresh", *words)

    def info(self):
        return json.loads(self.expect(0, "info", "a.h5", "--json").stdout)

    def rows(self):
        return {row["name"]: row for row in self.info()["profile"]}

    def test_results_have_the_same_bits(self):
        for solver in ("cg", "pipelined_cg", "gmres", "bicgstab", "richardson"):
            with self.subTest(solver=solver):
                words = ("--set", f"solver.name={solver}", "--set", "solver.max_iterations=40", "--set", "solver.rtol=1e-3",
                         "--set", "preconditioner.name=multigrid")
                plain, profiled = self.run_once(*words), self.run_once(*words, *ON)
                for key in ("iterations", "recurrence_residual", "true_residual"):
                    self.assertEqual(plain["solves"][0][key], profiled["solves"][0][key])

    def test_kinds_add_up_to_the_solve(self):
        verdict = self.run_once(*ON)
        rows, info = self.rows(), self.info()
        iterations = verdict["iterations"]
        for name in ("assemble", "setup/factorisation", "solve/spmv", "solve/preconditioner/lower",
                     "solve/preconditioner/upper", "solve/axpy_xpby", "solve/axpy_norm2", "solve/residual"):
            self.assertGreater(rows[name]["seconds"], 0.0, name)
        for name in ("solve/spmv", "solve/preconditioner/lower", "solve/preconditioner/upper"):
            self.assertIn(rows[name]["calls"] - iterations, (0, 1), name)
            self.assertGreater(rows[name]["bytes"], 0)
        solve = rows["solve"]["seconds"]
        parts = sum(row["seconds"] for row in direct(info["profile"], "solve"))
        self.assertLessEqual(parts, 1.02 * solve)
        self.assertGreater(parts, 0.5 * solve)
        timed = next(row["seconds"] for row in info["timers"] if row["name"] == "solve")
        self.assertLessEqual(solve, 1.001 * timed)  # the timer encloses it; a busy machine may stop between the two
        self.assertGreater(solve, 0.5 * timed)
        self.assertGreater(info["limits"]["memory"], 0.0)

    def test_multigrid_by_grids(self):
        """On a CPU each grid is a kind of its own, with its parts; 65, 33, 17, 9 points a side, and the last one 5."""
        deck = self.write("a.ini", POISSON.format(cells=65))
        self.run_once(*ON, "--threads", "2", "--set", "preconditioner.name=multigrid", "--set", "preconditioner.coarsest_points=150",
                      deck=deck)
        rows, within = self.rows(), "solve/preconditioner/"
        transfers = 2 * [("residual and restriction",)] + 2 * [("residual", "restriction")]  # apart where lines are short
        parts = [f"{within}grid {grid}/{part}" for grid in range(4) for part in ("smoother", *transfers[grid], "prolongation")]
        for name in ("setup/coarse grids/galerkin", "setup/coarse grids/interpolation", "setup/smoothers", *parts,
                     within + "coarsest grid"):
            self.assertGreater(rows[name]["seconds"], 0.0, name)
        grids = [f"{within}grid {grid}" for grid in range(4)] + [within + "coarsest grid"]
        self.assertEqual([name for name in rows if name.startswith(within) and name.count("/") == 2 and "grid" in name], grids)
        applications = rows["solve/preconditioner"]["calls"]
        self.assertEqual([rows[name]["calls"] for name in grids], 4 * [2 * applications] + [applications])
        self.assertLessEqual(sum(rows[name]["seconds"] for name in grids), rows["solve/preconditioner"]["seconds"])

    def test_a_run_tells_the_times_of_grids_without_a_profile(self):
        deck = self.write("a.ini", POISSON.format(cells="33 31 29"))
        words = "--set", "preconditioner.name=multigrid", "--set", "preconditioner.coarsest_points=50"
        timers = self.run_once(*words, deck=deck)["timers"]
        within = "solve/preconditioner/"
        grids = [f"{within}grid {at}, {extents}" for at, extents in
                 enumerate(("33 x 31 x 29", "17 x 16 x 15", "9 x 8 x 8", "5 x 4 x 4", "3 x 2 x 2")) if at < 5]
        grids = [name for name in grids if name in timers]
        self.assertEqual([name for name in timers if name.startswith(within)], grids)
        self.assertGreater(len(grids), 3)
        whole = timers["solve/preconditioner"]
        self.assertEqual({timers[name]["calls"] for name in grids}, {whole["calls"]})
        together = sum(timers[name]["seconds"] for name in grids)
        self.assertLessEqual(together, whole["seconds"])
        self.assertGreater(together, 0.9 * whole["seconds"])
        self.assertAlmostEqual(sum(timers[name]["bytes"] for name in grids) / whole["bytes"], 1.0, delta=1e-6)
        recorded = {row["name"]: row for row in self.info()["timers"]}
        self.assertEqual(recorded[grids[0]]["calls"], whole["calls"])
        shown = self.expect(0, "info", "a.h5").stdout
        self.assertRegex(shown, r"(?m)^applications  grid 0, 33 x 31 x 29: [0-9.]+ %; grid 1, .* of [0-9.e-]+ s$")
        self.run_once(deck=deck)
        self.assertNotIn("applications", self.expect(0, "info", "a.h5").stdout)

    def test_a_report_tells_the_times_of_grids(self):
        deck = self.write("a.ini", POISSON.format(cells="33 31 29"))
        self.run_once("--set", "preconditioner.name=multigrid", deck=deck)
        done = self.run_program("report", "a.h5", "-o", "a.html")
        if done.returncode != 0 and "matplotlib" in done.stderr:
            self.skipTest("no matplotlib")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "a.html").read_text()
        self.assertIn("Applications of the preconditioner of", page)
        self.assertIn("grid 1, 17 x 16 x 15", page)

    def test_multigrid_whose_last_grid_is_smoothed(self):
        """The last grid is a kind of work of its own then, too."""
        words = (*ON, "--set", "preconditioner.name=multigrid", "--set", "preconditioner.coarsest=jacobi")
        self.run_once(*words, "--set", "preconditioner.grids=1", "--set", "solver.rtol=1e-2")
        self.assertGreater(self.rows()["solve/preconditioner/coarsest grid"]["seconds"], 0.0)
        self.run_once(*words, "--set", "preconditioner.grids=2", "--set", "solver.rtol=1e-2")
        rows = self.rows()
        self.assertGreater(rows["solve/preconditioner/coarsest grid"]["seconds"], 0.0)
        self.assertEqual(rows["setup/smoothers"]["calls"], 2)  # on both grids

    def test_calls_in_time(self):
        verdict = self.run_once(*ON)
        self.assertEqual(verdict["profile"], "a.profile.json")
        file = json.loads((self.folder / "a.profile.json").read_text())
        events = [event for event in file["traceEvents"] if event["ph"] == "X"]
        self.assertIn("lower", {event["name"] for event in events})
        ends = []  # events of a thread nest
        for event in events:
            end = event["ts"] + event["dur"]
            while ends and ends[-1] <= event["ts"] + 1e-4:
                ends.pop()
            self.assertGreaterEqual(event["dur"], 0.0)
            if ends:
                self.assertLessEqual(end, ends[-1] + 1e-4)
            ends.append(end)

    def test_a_march(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=12, steps=3))
        self.run_once(*ON, deck=deck)
        rows = self.rows()
        self.assertEqual(rows["solve"]["calls"], 3)
        self.assertIn("solve/dots", rows)

    def test_where_it_is_shown(self):
        self.run_once(*ON)
        text = self.expect(0, "info", "a.h5").stdout
        for words in ("kind of work", "of limit", "    lower", "limit: a copy as large as the run"):
            self.assertIn(words, text)
        self.run_once()
        self.assertNotIn("kind of work", self.expect(0, "info", "a.h5").stdout)
        self.assertNotIn("profile", self.info())

    def test_info_takes_a_screen(self):
        """Kinds below a hundredth of the whole are left to --all."""
        deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=3))
        self.run_once(*ON, deck=deck)
        text, whole = self.expect(0, "info", "a.h5").stdout, self.expect(0, "info", "a.h5", "--all").stdout
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertIn("info --all", text)
        rows = self.info()["profile"]
        total = sum(row["seconds"] for row in rows if "/" not in row["name"])
        table = text[text.index("kind of work"):]
        for row in rows:
            kind = row["name"].split("/")[-1]
            self.assertIn(f" {kind} ", whole.replace("\n", " \n "), row["name"])
            if row["seconds"] >= 0.01 * total:
                self.assertIn(kind, table)
        self.assertNotRegex(table, r"(?m)^all_finite ")

    def test_a_file_of_another_program_is_kept(self):
        (self.folder / "a.profile.json").write_text("{}")
        self.expect(7, "run", self.write("a.ini", POISSON.format(cells=9)), *self.backend, *ON, says="a.profile.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
