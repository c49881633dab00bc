# SPDX-License-Identifier: BSD-3-Clause
"""What messages and help say of the smoothers of multigrid."""

import re
import unittest

from program import MATRIX, POISSON, TRANSPORT, ProgramTest, chain, matrix_market


class Smoothers(ProgramTest):
    """Keys, names and advice of what smooths for multigrid."""

    def deck(self, name, entries, smoother, more=""):
        rows = [*entries]
        n = max(row for row, _, _ in rows)
        self.write(f"{name}.mtx", matrix_market(n, rows))
        return self.write(f"{name}.ini", MATRIX.format(matrix=f"{name}.mtx", cells=f"{n} 1 1", solver="fgmres") + "[preconditioner]\n"
                          f"name = multigrid\ncoarsest_points = 4\n{more}[smoother]\n{smoother}[device]\nbackend = cpu\n")

    def test_help(self):
        text = self.expect(0, "help", "smoother.pivot_policy").stdout
        self.assertIn("[smoother] with smoother.name = struct_ilu, fgbilu, ", text)
        self.assertRegex(text, r"pivot_policy = one of fail \| shift \| boost; default boost\n")
        self.assertRegex(text, r"\[smoother\] with smoother.name = par_ilu\n  pivot_policy = [^;]*; default shift\n")
        for key in ("fill_level", "scope", "sweeps", "storage", "subdomain", "mode", "degree", "name"):
            self.assertIn("[smoother]", self.expect(0, "help", f"smoother.{key}").stdout)
        text = self.expect(0, "help", "smoother").stdout
        for name in ("struct_ilu", "chebyshev", "subdomain_ildu0"):
            self.assertRegex(text, rf"\n        {name} ")
            self.assertIn(f"with name = {name} (", text)
        self.assertNotRegex(text, "par_ilut|sync_free_ilu")
        self.expect(2, "help", "smoother.fill_levl", says="did you mean smoother.fill_level?")

    def test_what_is_said_of_defaults_is_true(self):
        said = self.expect(0, "help", "smoother").stdout.split("\n\n")[0]
        self.assertIn("par_ilu, which boosts pivots of general matrices alone, has pivot_policy = shift by default", said)
        boosts, shifts = {"boost", "1e-10", "1"}, {"shift", "1e-14", "1e-3"}
        text = self.expect(0, "help", "smoother").stdout
        for block in text.split("\nwith name = ")[1:]:
            found = dict(re.findall(r"\n  (pivot_\w+) = [^;]*; default (\S+)\n", block))
            if found:
                self.assertEqual(set(found.values()), shifts if block.startswith("par_ilu ") else boosts, block)

    def test_names(self):
        deck = self.write("a.ini", POISSON.format(cells=12) + "[preconditioner]\nname = multigrid\ncoarse_smoother = jacoby\n")
        self.expect(2, "check", deck, says="a.ini:10: preconditioner.coarse_smoother: no smoother is called 'jacoby'; did you mean jacobi? "
                    "(hyperplane help smoother)")
        for name in ("par_ilut", "sync_free_ilu"):
            for key in ("smoother.name", "preconditioner.coarse_smoother"):
                done = self.expect(2, "check", deck, "--set", "preconditioner.coarse_smoother=same", "--set", f"{key}={name}",
                                   says=f"no smoother is called '{name}': it takes general matrices alone; take another preconditioner "
                                        "that takes matrices on a grid (hyperplane help smoother)")
                self.assertNotIn("did you mean", done.stderr)

    def test_a_matrix_that_is_not_symmetric(self):
        deck = self.write("t.ini", TRANSPORT.format(cells=8, steps=1) + "[preconditioner]\nname = multigrid\n")
        for key in ("smoother.name", "preconditioner.coarse_smoother"):
            done = self.expect(2, "check", deck, "--set", f"{key}=chebyshev", says=f"{key} = chebyshev needs a symmetric matrix")
            self.assertNotRegex(done.stderr, "preconditioner.name|multigrid|par_ilut")

    def test_sweeps_that_diverge(self):
        n = 33
        deck = self.deck("s", [(i + 1, j + 1, 4 if i == j else -20 if j < i else -0.05) for i in range(n)
                               for j in (i - 1, i, i + 1) if 0 <= j < n], "name = jacobi_sweeps\n")
        done = self.expect(5, "run", deck, says="Use another smoother.lower_sweeps, a larger smoother.shift, or struct_ilu")
        self.assertNotIn("preconditioner.", done.stderr)

    def test_a_pivot_that_fails(self):
        n = 33
        deck = self.deck("z", [(i + 1, j + 1, (0.25 if i == 1 else 4) if i == j else -1) for i in range(n)
                               for j in (i - 1, i, i + 1) if 0 <= j < n], "pivot_policy = fail\n")
        self.expect(5, "run", deck, says="Try smoother.pivot_policy = shift, or smoother.pivot_policy = boost")
        for policy in ("shift", "boost"):
            self.expect(0, "run", deck, "--fresh", "--set", f"smoother.pivot_policy={policy}")

    def test_subdomains_that_are_too_thick(self):
        deck = self.write("r.ini", POISSON.format(cells="8 8 20").replace("cg", "gmres") + "[preconditioner]\nname = multigrid\n"
                          "coarsest_points = 8\n[smoother]\nname = subdomain_ildu0\nsubdomain = 4 4 16\n")
        self.expect(2, "run", deck, "--ranks", "3", says="smoother.subdomain")

    def test_values_that_a_storage_cannot_hold(self):
        for scale, advised in (("1e-200", "double."), ("1e-40", "half_scaled, which scales each row, or double.")):
            self.write("t.mtx", chain([4 * float(scale)] * 33, -float(scale)))
            deck = self.write("t.ini", MATRIX.format(matrix="t.mtx", cells="33 1 1", solver="fgmres") + "[device]\nbackend = cpu\n")
            key, grids = "preconditioner.storage", ("--set", "preconditioner.name=multigrid", "--set", "preconditioner.coarsest_points=4")
            for key, more in ((key, ()), (key, grids), ("smoother.storage", grids)):
                self.expect(5, "run", deck, "--force", "--set", f"{key}=single", *more, says=f"Use {key} = {advised}")


if __name__ == "__main__":
    unittest.main()
