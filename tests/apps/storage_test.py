# SPDX-License-Identifier: BSD-3-Clause
"""Factors of general matrices in reduced precision: the true residual decides, and what they cannot serve is refused."""

import json
import unittest

from program import ProgramTest, matrix_market

FILE = "[problem]\nname = matrix\nfile = a.mtx\n[solver]\nname = gmres\nrtol = 1e-12\n[preconditioner]\nname = sync_free_ilu\n" \
       "[device]\nbackend = cpu\nthreads = 1\n"
POISSON = "[problem]\nname = poisson\n[grid]\ncells = 17 15 13\n[solver]\nname = cg\nrtol = 1e-12\n[matrix]\nformat = general\n" \
          "[preconditioner]\nname = sync_free_ilu\n[device]\nbackend = cpu\nthreads = 1\n"
REDUCED = "single", "half_scaled"


def line(rows):
    """A tridiagonal matrix, whose ILU(0) is exact but for the rounding of the factors."""
    return matrix_market(rows, [(i, j, 3.1 if i == j else -1.3 if j < i else -0.7)
                                for i in range(1, rows + 1) for j in (i - 1, i, i + 1) if 1 <= j <= rows])


class StorageOfGeneralFactors(ProgramTest):
    def solve(self, code, deck, storage, *settings):
        words = [word for setting in (f"preconditioner.storage={storage}", *settings) for word in ("--set", setting)]
        return self.run_json(code, "run", deck, "--force", *words)

    def test_the_true_residual_decides(self):
        self.write("a.mtx", line(600))
        deck = self.write("a.ini", FILE)
        exact = self.solve(0, deck, "double")
        self.assertEqual(exact["iterations"], 1)
        for storage in REDUCED:
            done = self.solve(0, deck, storage)
            self.assertGreater(done["iterations"], 1, "M is not A any more")
            self.assertLess(done["iterations"], 8)
            self.assertEqual(done["solves"][0]["stop_reason"], "converged_rtol")
            self.assertLessEqual(done["solves"][0]["true_residual"], 1e-12 * done["solves"][0]["b_norm"])
            self.assertLess(done["errors"]["max"], 1e-11)  # of b = A 1
            self.assertEqual(self.solve(3, deck, storage, "solver.max_iterations=1")["status"], "failed")

    def test_a_symmetric_m_serves_cg(self):
        deck = self.write("p.ini", POISSON)
        exact = self.solve(0, deck, "double")
        for storage in REDUCED:
            for level in (0, 1):
                done = self.solve(0, deck, storage, f"preconditioner.fill_level={level}")
                self.assertEqual(done["solves"][0]["stop_reason"], "converged_rtol")
                self.assertLessEqual(done["solves"][0]["true_residual"], 1e-12 * done["solves"][0]["b_norm"])
                if level == 0:
                    self.assertLessEqual(abs(done["iterations"] - exact["iterations"]), 2)
        held = [self.run_json(0, "check", deck, "--set", f"preconditioner.storage={storage}")["memory"]["by_label"]
                ["preconditioner sync_free_ilu"] for storage in ("double", *REDUCED)]
        self.assertEqual(held, sorted(set(held), reverse=True))

    def test_compare_has_them_side_by_side(self):
        self.write("p.ini", POISSON)
        names = ["sync_free_ilu"] + [f"sync_free_ilu:storage={storage}" for storage in REDUCED]
        done = self.expect(0, "compare", "p.ini", "--preconditioners", ",".join(names), "--reps", "1", "--quiet", "--json", "-")
        rows = {row["name"]: row for row in json.loads(done.stdout)["candidates"]}
        self.assertEqual(set(rows), {f"cg+{name}" for name in names})
        for row in rows.values():
            self.assertTrue(row["converged"])
            self.assertLessEqual(row["relative_residual"], 1e-12)
            self.assertLessEqual(row["memory"]["peak"], row["memory"]["predicted"])

    def test_where_they_are_refused(self):
        deck = self.write("p.ini", POISSON.replace("name = sync_free_ilu\n", "name = sync_free_ilu\nstorage = single\n"))
        self.expect(2, "check", deck, "--set", "preconditioner.name=jacobi_sweeps", "--set", "solver.name=fgmres",
                    says="jacobi_sweeps stores its factors in double alone; leave the key out")
        self.expect(2, "check", deck, "--set", "preconditioner.name=par_ilu", "--set", "preconditioner.triangular_solve=jacobi",
                    says=["p.ini:12: preconditioner.storage: of a general matrix, par_ilu stores its factors in double alone where sweeps",
                          "or set triangular_solve = exact"])


if __name__ == "__main__":
    unittest.main()
