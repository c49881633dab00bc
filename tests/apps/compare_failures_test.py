# SPDX-License-Identifier: BSD-3-Clause
"""compare: candidates that fail, and command lines that are refused."""

import json
import unittest

from program import POISSON, TRANSPORT, CompareTest, small_files

# b = 0 but for one row, A = diag(1, -1): no pivot is zero, cg meets p^T A p < 0.
INDEFINITE = "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 -1\n3 3 1\n4 4 1\n"
# The first pivot is zero.
ZERO_PIVOT = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n"
FROM_FILE = "[problem]\nname = matrix_market\nmatrix = {}\n[grid]\ncells = {}\n[solver]\nname = gmres\n"


class Failures(CompareTest):
    def test_one_that_needs_too_many_iterations(self):
        answer = self.compare(0, self.poisson(), "--preconditioners", "none,struct_ilu", "--set",
                              "solver.max_iterations=30")
        self.assertEqual([row["name"] for row in answer["candidates"]], ["cg+struct_ilu", "cg+none"])
        failed = answer["candidates"][1]
        self.assertFalse(failed["converged"])
        self.assertEqual((failed["outcome"], failed["exit_code"], failed["turns"]), ("max_iterations", 3, 0))
        self.assertIn("iterations allowed", failed["reason"])
        self.assertEqual(failed["iterations"], 30)
        self.assertNotIn("ratio", failed)

    def test_none_converges(self):
        answer = self.compare(3, self.poisson(), "--preconditioners", "none,jacobi", "--set", "solver.max_iterations=2")
        self.assertIsNone(answer["best"])
        self.assertEqual(answer["exit_code"], 3)
        done = self.expect(3, "compare", "a.ini", "--auto", "--set", "solver.max_iterations=2")
        self.assertIn("recommended   none", done.stdout)
        self.assertIn("no candidate converged", done.stdout)

    def test_a_baseline_that_fails_leaves_no_ratios(self):
        answer = self.compare(0, self.poisson(), "--preconditioners", "none,struct_ilu", "--baseline", "cg+none",
                              "--set", "solver.max_iterations=30")
        self.assertEqual([row.get("ratio") for row in answer["candidates"]], [None, None])
        self.assertIn("ratio         none: the baseline, cg+none, did not converge", self.expect(0, "info", "a_compare.h5").stdout)

    def test_pairs_that_cannot_work_are_rows(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=8, steps=1))
        done = self.expect(0, "compare", deck, "--solvers", "cg,gmres", "--reps", "1")
        self.assertRegex(done.stdout, r"(?m)^  cg\+struct_ilu +refused$")
        self.assertRegex(done.stdout, r"(?m)^failed +cg\+struct_ilu: solver.name = cg needs a symmetric matrix")
        self.assertRegex(done.stdout, r"(?m)^\* gmres\+struct_ilu +converged")

    def test_nothing_is_timed_where_all_are_refused(self):
        deck = self.poisson()
        done = self.expect(3, "compare", deck, "--preconditioners", "sync_free_ilu,par_ilut")
        self.assertIn("fingerprint   none: no candidate got as far as the system", done.stdout)
        self.assertNotIn("turn 1", done.stderr)
        done = self.run_program("compare", deck, "--preconditioners", "sync_free_ilu,par_ilut", "--json", "-")
        self.assertEqual([key for key in json.loads(done.stdout)["system"] if "fingerprint" in key], [])
        self.assertIn("fingerprint   none", self.expect(0, "info", "a_compare.h5").stdout)

    def test_keys_that_mean_nothing_elsewhere(self):
        """Sweeps written for jacobi_sweeps hold where triangles are swept, and do not disturb exact solves."""
        deck = self.write("a.ini", POISSON.format(cells=12).replace("name = cg", "name = fgmres") +
                          "[preconditioner]\nname = jacobi_sweeps\nlower_sweeps = 2\nupper_sweeps = 1\n"
                          "mode = block_async\nblock_order = forward\n")
        swept = "fgbilu:triangular_solve=jacobi"
        iterations = {row["name"]: row["iterations"] for row in self.compare(
            0, deck, "--preconditioners", f"jacobi_sweeps:mode=block_async,fgbilu,struct_ilu,{swept},"
            f"{swept}:lower_sweeps=2:upper_sweeps=1,{swept}:lower_sweeps=9:upper_sweeps=9")["candidates"]}
        self.assertEqual(iterations["fgmres+fgbilu"], iterations["fgmres+struct_ilu"])
        self.assertEqual(iterations[f"fgmres+{swept}"], iterations[f"fgmres+{swept}:lower_sweeps=2:upper_sweeps=1"])
        self.assertNotEqual(iterations[f"fgmres+{swept}"], iterations[f"fgmres+{swept}:lower_sweeps=9:upper_sweeps=9"])
        # The same key with other choices; one factorisation in both forms.
        names = lambda *words: {row["name"]: row["outcome"] for row in self.compare(0, *words)["candidates"]}
        for name, outcome in names(deck, "--preconditioners", "jacobi_sweeps,par_ilu").items():
            self.assertEqual(outcome, "converged_rtol", name)
        both = self.write("b.ini", POISSON.format(cells=12) + "[preconditioner]\nname = multicolor\n"
                          "triangular_solve = jacobi\nlower_sweeps = 3\nupper_sweeps = 3\n")
        for name, outcome in names(both, "--preconditioners", "multicolor,multicolor:triangular_solve=exact").items():
            self.assertEqual(outcome, "converged_rtol", name)
        ordered = self.write("d.ini", POISSON.format(cells=12) + "[preconditioner]\nname = multicolor\n"
                             "triangular_solve = jacobi\nsolve_mode = block_async\nblock_order = forward\n")
        for name, outcome in names(ordered, "--solvers", "fgmres", "--preconditioners",
                                   "multicolor,multicolor:triangular_solve=exact").items():
            self.assertEqual(outcome, "converged_rtol", name)
        # --set is for those that it means something to.
        exact = self.write("e.ini", POISSON.format(cells=12) + "[preconditioner]\nname = multicolor\n")
        three = ("--set", "preconditioner.lower_sweeps=3", "--set", "preconditioner.upper_sweeps=3")
        for candidates in ("multicolor,multicolor:triangular_solve=jacobi", "fgbilu:triangular_solve=jacobi"):
            for name, outcome in names(exact, "--preconditioners", candidates, *three).items():
                self.assertEqual(outcome, "converged_rtol", name)
        self.expect(2, "compare", exact, "--preconditioners", "multicolor", *three,
                    says="no candidate has this key, or the value of another key without which it means nothing")
        boxes = self.write("c.ini", POISSON.format(cells=12) +
                           "[preconditioner]\nname = subdomain_ildu0\nvariant = unfused\n")
        for name, outcome in names(boxes, "--preconditioners",
                                   "subdomain_ildu0,subdomain_ildu0:triangular_solve=jacobi").items():
            self.assertEqual(outcome, "converged_rtol", name)
        self.expect(2, "compare", self.poisson(), "--preconditioners", "fgbilu", "--set",
                    "preconditioner.lower_sweeps=3", says="no candidate has this key, or the value of another key without which it means nothing")

    def test_a_pivot(self):
        self.write("z.mtx", ZERO_PIVOT)
        deck = self.write("a.ini", FROM_FILE.format("z.mtx", "2 1 1"))
        answer = self.compare(0, deck, "--preconditioners", "struct_ilu,none,struct_ilu:pivot_policy=boost")
        outcome = {row["name"]: (row["outcome"], row["exit_code"]) for row in answer["candidates"]}
        self.assertEqual(outcome["gmres+struct_ilu"], ("setup_failed", 5))
        self.assertEqual(outcome["gmres+none"], ("converged_rtol", 0))
        self.assertIn("pivot", next(row["reason"] for row in answer["candidates"] if row["outcome"] == "setup_failed"))

    def test_an_indefinite_matrix(self):
        self.write("i.mtx", INDEFINITE)
        deck = self.write("a.ini", FROM_FILE.format("i.mtx", "4 1 1"))
        answer = self.compare(0, deck, "--solvers", "cg,gmres", "--preconditioners", "none")
        self.assertEqual([(row["name"], row["outcome"]) for row in answer["candidates"]],
                         [("gmres+none", "converged_rtol"), ("cg+none", "indefinite_operator")])

    def test_memory(self):
        deck = self.poisson(16)
        rows = self.compare(0, deck, "--preconditioners", "struct_ilu,struct_ilu:fill_level=3,jacobi")["candidates"]
        need = {row["name"]: row["memory"]["peak"] / 2**20 for row in rows}
        # Room for each alone, not for all: they are made anew for each turn.
        limit = need["cg+struct_ilu:fill_level=3"] + 1e-3
        again = self.compare(0, deck, "--preconditioners", "struct_ilu,struct_ilu:fill_level=3,jacobi",
                             "--set", f"device.memory_limit={limit:.6f}")
        self.assertIn("one candidate at a time", again["system"]["memory"])
        for row in again["candidates"]:
            self.assertEqual(row["turns"], 5)
            self.assertAlmostEqual(row["memory"]["peak"] / 2**20, need[row["name"]])
        # Room for all but one.
        less = self.compare(0, deck, "--preconditioners", "struct_ilu,struct_ilu:fill_level=3,jacobi",
                            "--set", f"device.memory_limit={limit - 2e-3:.6f}")
        self.assertEqual({row["name"]: row["outcome"] for row in less["candidates"]},
                         {"cg+struct_ilu": "converged_rtol", "cg+jacobi": "converged_rtol",
                          "cg+struct_ilu:fill_level=3": "out_of_memory"})


class BadInput(CompareTest):
    def refused(self, *words, says):
        self.expect(2, "compare", self.poisson(), *words, says=says)
        self.assertEqual(list(self.folder.glob("*.h5")), [])

    def test_nothing_to_compare(self):
        self.refused(says="--preconditioners LIST, --solvers LIST, or --auto")
        self.refused("--preconditioners", " ,", says="--preconditioners: names none")

    def test_names(self):
        self.refused("--preconditioners", "strct_ilu,jacobi",
                     says="--preconditioners strct_ilu: no preconditioner is called 'strct_ilu'; did you mean struct_ilu?")
        self.refused("--solvers", "cg,,gmres", says="no solver is called ''")
        self.refused("--preconditioners", "jacobi,none,jacobi", says="cg+jacobi is named twice")

    def test_all_errors_at_once(self):
        self.refused("--preconditioners", "struct_ilu:fil_level=1,struct_ilu:fill_level=9,jacobi:fill_level=1",
                     "--solvers", "gmres:restart=0,cg", says=[
            "--preconditioners struct_ilu:fil_level=1: unknown key preconditioner.fil_level; did you mean "
            "preconditioner.fill_level?",
            "--preconditioners struct_ilu:fill_level=9: preconditioner.fill_level: 9 is out of range",
            "--preconditioners jacobi:fill_level=1: preconditioner.fill_level belongs to preconditioner struct_ilu",
            "--solvers gmres:restart=0: solver.restart: 0 is out of range"])

    def test_no_parameter(self):
        self.refused("--preconditioners", "struct_ilu:fill_level", says="'fill_level' is no key=value")
        self.refused("--preconditioners", "struct_ilu:", says="struct_ilu:: a ':' must be followed by KEY=VALUE")
        self.refused("--preconditioners", "struct_ilu:name=jacobi", says="the name comes first")
        self.refused("--preconditioners", "struct_ilu fill_level=1", says="parameters follow a name as NAME:KEY=VALUE:KEY=VALUE")

    def test_the_criterion_is_shared(self):
        self.refused("--solvers", "gmres,cg:rtol=1e-2",
                     says="--solvers cg:rtol=1e-2: solver.rtol must be the same for all candidates")

    def test_overrides_that_nobody_takes(self):
        self.refused("--preconditioners", "jacobi", "--set", "preconditioner.fill_level=1",
                     says="--set preconditioner.fill_level=1: no candidate has this key")
        self.refused("--solvers", "gmres", "--set", "solver.name=cg", says="named by --solvers or --auto")
        self.refused("--solvers", "gmres", "--set", "solver.max_iteration=1", says="did you mean solver.max_iterations?")

    def test_keys_of_runs(self):
        """What only run does is refused on the command line, and said of a deck."""
        for key in ("output.profile=true", "output.file=b.h5", "expect.iterations=3"):
            self.refused("--preconditioners", "jacobi", "--set", key,
                         says=f"--set {key}: [{key.split('.')[0]}] applies to hyperplane run, and compare would ignore it")
        self.write("b.ini", POISSON.format(cells=6) + "[output]\nprofile = true\n[expect]\nmax_iterations = 2\n")
        self.expect(0, "compare", "b.ini", "--preconditioners", "jacobi", "--reps", "1",
                    says="b.ini: output.profile, expect.max_iterations apply to hyperplane run; compare leaves them out")
        self.write("c.ini", POISSON.format(cells=6) + "[output]\nfile = c.lock\n[expect]\nmin_diagnostic = 1\n")
        self.expect(2, "check", "c.ini", says=["c.lock", "min_diagnostic"])
        for command in (("compare", "c.ini", "--preconditioners", "jacobi", "--reps", "1"), ("export", "c.ini"),
                        ("bench", "assembly", "c.ini"), ("selftest", "c.ini")):
            self.expect(0, *command)
        self.expect(0, "run", "b.ini", "--quiet", "--set", "expect.max_iterations=200")
        done = self.expect(0, "compare", "b.h5", "--preconditioners", "jacobi", "--reps", "1")
        self.assertIn("output.profile", done.stderr)
        self.assertNotIn("output.fields", done.stderr)  # a default of the record's deck

    def test_baseline(self):
        self.refused("--preconditioners", "jacobi,none", "--baseline", "ilu",
                     says="there is no such candidate; there are cg+jacobi, cg+none")
        self.refused("--preconditioners", "jacobi,none", "--baseline", "cg", says="that may be any of cg+jacobi, cg+none")

    def test_counts_and_decks(self):
        self.refused("--auto", "--reps", "0", says="--reps")
        self.expect(7, "compare", "none.ini", "--auto")
        self.write("b.ini", "[problem]\nname = poison\n[grid]\ncells = -1\n")
        self.expect(2, "compare", "b.ini", "--auto", says=["b.ini:2", "did you mean poisson", "b.ini:4"])

    def test_files_that_must_not_be_lost(self):
        deck = self.poisson()
        self.expect(7, "compare", deck, "--auto", "-o", deck, says="a.ini exists and is no comparison that this program wrote")
        self.assertIn("poisson", (self.folder / deck).read_text())
        self.expect(7, "compare", deck, "--auto", "-o", "none/c.h5", says="none/c.h5")
        self.assertIn("exit_code", json.loads(
            self.run_program("compare", deck, "--auto", "--json", "-", "-o", "none/c.h5").stdout))

    def test_a_disk_that_is_full_at_the_end(self):
        command = ("compare", self.poisson(), "--preconditioners", "jacobi,none", "--reps", "1")
        done = self.expect(7, *command, limit=small_files(), says=["a_compare.h5: cannot write", "ulimit -f"])
        self.assertRegex(done.stdout, r"cg\+jacobi +converged")
        self.assertRegex(done.stdout, r"record +could not be written")
        table = json.loads(self.run_program(*command, "--json", "-", limit=small_files()).stdout)
        self.assertEqual(table["exit_code"], 7)
        self.assertEqual(len(table["candidates"]), 2)


if __name__ == "__main__":
    unittest.main()
