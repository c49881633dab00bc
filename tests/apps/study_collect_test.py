# SPDX-License-Identifier: BSD-3-Clause
"""The table that `study collect` makes of the records of a study, and its figures of merit."""

import math
import re
import sys
import unittest

import study_test
from program import INPUTS, POISSON

sys.path.insert(0, str(INPUTS.parent / "tests/report"))
try:
    import h5py
    import make_record
except ImportError:
    h5py = None


class Collect(study_test.StudyTest):
    def test_collect(self):
        study = self.study()
        self.expect(7, "study", "collect", study, says=["s.ini: none of its 6 cases has a result", "hyperplane study run s.ini"])
        self.assertFalse((self.folder / "s.h5").exists() or (self.folder / "s.csv").exists())
        self.expect(0, "study", "run", study)
        self.file_of(study_test.SIX[1]).unlink()
        done = self.expect(0, "study", "collect", study)
        self.assertIn("5 of 6 cases have a result", done.stdout)
        rows = self.rows()
        self.assertEqual([row["name"] for row in rows], study_test.SIX)
        self.assertEqual([row["status"] for row in rows], ["done", "waiting", "done", "done", "done", "done"])
        self.assertEqual(rows[2]["preconditioner.fill_level"], "")
        for row in rows:
            if row["status"] == "done":
                record = self.record(row["record"])
                self.assertEqual(int(row["iterations"]), record["solves"][0]["iterations"])
                self.assertEqual(float(row["error_max"]), record["errors"]["max"])
        self.assertEqual(rows[1]["iterations"], "")
        for words in (("diff", "s.h5", "s.h5"), ("export", "s.h5"), ("run", "s.h5")):
            self.expect(7, *words, says="s.h5: holds the collected cases of a study, not the record of a run")
        if h5py is None:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "s.h5") as file:
            self.assertEqual(len(file["cases/name"]), 6)
            self.assertEqual(file["cases/name"].attrs["units"], b"1")
            for at, row in enumerate(rows):
                self.assertEqual(file["cases/iterations"][at], int(row["iterations"] or -1))
                self.assertEqual(row["name"] in file["records"], row["status"] == "done")
            name = rows[0]["name"]
            self.assertEqual(file["records"][name]["solves/iterations"][0], file["cases/iterations"][0])

    def test_either_name_of_the_output_may_be_given(self):
        study = self.study("[sweep]\ngrid.cells = 4, 6\n")
        self.expect(0, "study", "run", study)
        for given, name in (("a", "a"), ("b.h5", "b"), ("c.csv", "c"), ("d.1", "d.1"), ("s/e.h5.h5", "s/e.h5")):
            before = set(self.folder.rglob("*"))
            done = self.expect(0, "study", "collect", study, "-o", given)
            self.assertEqual(done.stdout, f"{name}.h5, {name}.csv: 2 of 2 cases have a result\n")
            self.assertEqual(set(self.folder.rglob("*")) - before, {self.folder / f"{name}.h5", self.folder / f"{name}.csv"})

    def test_collect_of_general_matrices(self):
        """Patterns and the times before iterations, in columns that studies of grids alone do not have."""
        plain = POISSON.format(cells=8) + "[preconditioner]\nname = jacobi\n"
        text = plain.replace("jacobi", "sync_free_ilu") + "[matrix]\nformat = general\n"
        deck, study = self.write("plain.ini", text), self.study("[sweep]\nordering.name = natural, rcm\n", text)
        self.expect(0, "study", "run", study)
        figures = self.expect(0, "study", "collect", study, "--fom").stdout
        for row in self.rows():
            ran = self.run_json(0, "run", deck, "--set", f"ordering.name={row['ordering.name']}")["pattern"]
            self.assertEqual(int(row["entries"]), ran["blocks"])
            for key in ("rows", "lower_bandwidth", "upper_bandwidth", "lower_levels", "upper_levels"):
                self.assertEqual(int(row[key]), ran[key])
            self.assertEqual(float(row["rows_a_level"]), int(row["rows"]) / int(row["lower_levels"]))
            self.assertEqual(row["symmetry"], "symmetric")
            self.assertEqual((row["reading_seconds"], bool(row["ordering_seconds"])), ("", "rcm" in row["name"]))
            symbolic, numeric, setup = (float(row[f"{part}_seconds"]) for part in ("symbolic", "numeric", "setup"))
            self.assertTrue(symbolic > 0.0 and numeric > 0.0 and symbolic + numeric <= setup, row)
        self.assertRegex(figures, r"fom ordering=rcm symbolic_seconds = \S+ s\n")
        self.assertNotIn("lower_bandwidth", figures)
        both = self.study("[sweep]\nmatrix.format = structured, general\n", plain, "both.ini")
        self.expect(0, "export", deck, "--output", "c")
        stored = self.study("[sweep]\npreconditioner.name = jacobi, sync_free_ilu\n",
                            "[problem]\nname = matrix\nfile = c/A.mtx\n[solver]\nname = cg\n", "stored.ini")
        for verb in ("run", "collect"):
            for other in (both, stored):
                self.expect(0, "study", verb, other)
        on_grid, general = self.rows("both.csv")
        self.assertEqual((on_grid["entries"], on_grid["symmetry"], general["rows"]), ("", "", "512"))
        jacobi, exact = self.rows("stored.csv")
        self.assertEqual((jacobi["ordering_seconds"], jacobi["symbolic_seconds"]), ("", ""))
        self.assertGreater(min(float(exact[f"{part}_seconds"]) for part in ("reading", "blocks", "symbolic")), 0.0)

    def change(self, record, values):
        """Replaces values of a record, whose first 512 bytes are a seal of all after them."""
        path = self.folder / record
        with h5py.File(path, "r+") as file:
            for name, value in values.items():
                file[name][...] = value
        path.write_bytes(path.read_bytes()[512:])
        make_record.seal(path)

    @unittest.skipUnless(h5py, "no h5py; Debian has it in python3-h5py")
    def test_solves_after_which_a_set_up_pays_off(self):
        """The baseline is the first case with the same system that converged, as in a comparison; reading and ordering count as
        set-up."""
        deck = POISSON.format(cells=20) + "[preconditioner]\nname = sync_free_ilu\n[matrix]\nformat = general\n"
        study = self.study("[sweep]\ngrid.cells = 20, 24\npreconditioner.name = none, jacobi, sync_free_ilu\nordering.name = natural, rcm\n"
                           "solver.max_iterations = 3, 1000\n", deck)
        self.expect(8, "study", "run", study)  # three iterations are too few for all
        self.expect(0, "study", "collect", study)
        for row in self.rows():  # times that do not depend on the machine: only factors win, after their set-up
            setup, solve = {"none": (0.5, 30.0), "jacobi": (0.5, 40.0), "sync_free_ilu": (500.0, 10.0)}[row["preconditioner.name"]]
            self.change(row["record"], {"solves/setup_seconds": setup, "solves/solve_seconds": solve})
        self.expect(0, "study", "collect", study)
        baselines, told = {}, 0
        for row in self.rows():
            if row["exit_code"] != "0":
                self.assertEqual(row["pays_off_from_solves"], "")
                continue
            before = sum(float(row[f"{part}_seconds"] or 0.0) for part in ("reading", "blocks", "ordering", "setup"))
            each = float(row["solve_seconds"])
            first = row["grid.cells"] not in baselines
            before_first, each_of_first = baselines.setdefault(row["grid.cells"], (before, each))
            expected = ""
            if each < each_of_first:
                expected = str(max(1, math.floor((before - before_first) / (each_of_first - each)) + 1))
            self.assertEqual(row["pays_off_from_solves"], expected, row["name"])
            self.assertFalse(first and expected)
            self.assertEqual(expected, "25" if row["preconditioner.name"] == "sync_free_ilu" else "")
            told += expected != ""
        self.assertEqual((len(baselines), told), (2, 4))

    def test_figures_of_merit(self):
        study = self.study()
        self.expect(0, "study", "run", study)
        self.file_of(study_test.SIX[1]).unlink()
        self.assertNotIn("fom", self.expect(0, "study", "collect", study).stdout)
        lines = self.expect(0, "study", "collect", study, "--fom").stdout.splitlines()[1:]
        figures = {}
        for line in lines:
            parts = re.fullmatch(r"fom (\S+) (\w+) = (\S+)(?: (\S+))?", line)
            self.assertTrue(parts, line)
            figures[parts[1], parts[2]] = (parts[3], parts[4])
        self.assertEqual(len(figures), len(lines))
        for row in self.rows():
            for figure, unit in {"iterations": None, "solve_seconds": "s", "memory_peak": "B", "error_max": None}.items():
                expected = (row[figure], unit) if row["status"] == "done" else None
                self.assertEqual(figures.get((row["name"], figure)), expected)
        self.assertNotIn((study_test.SIX[0], "case"), figures)
        self.assertNotIn((study_test.SIX[0], "exit_code"), figures)
        totals = [figures["study", name][0] for name in ("cases", "succeeded", "failed", "missing")]
        self.assertEqual(totals, ["6", "5", "0", "1"])


if __name__ == "__main__":
    unittest.main()
