# SPDX-License-Identifier: BSD-3-Clause
"""compare: the table, its order, what failed and why, the file, the recommendation."""

import json
import sys
import unittest

from program import INPUTS, POISSON, TRANSPORT, ProgramTest

try:
    import h5py
except ImportError:
    h5py = None

# b = 0 but for one row, A = diag(1, -1): no pivot is zero, cg meets p^T A p < 0.
INDEFINITE = "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 -1\n3 3 1\n4 4 1\n"
# The first pivot is zero.
ZERO_PIVOT = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n"
FROM_FILE = "[problem]\nname = matrix_market\nmatrix = {}\n[grid]\ncells = {}\n[solver]\nname = gmres\n"


class CompareTest(ProgramTest):
    def compare(self, code, *words, says=()):
        """The table as JSON."""
        return json.loads(self.expect(code, "compare", *words, "--json", "-", "--quiet", says=says).stdout)

    def poisson(self, cells=12):
        return self.write("a.ini", POISSON.format(cells=cells))


class Table(CompareTest):
    def test_every_pair_is_a_row_and_the_fastest_stands_first(self):
        answer = self.compare(0, self.poisson(), "--preconditioners", "struct_ilu,struct_ilu:fill_level=1,jacobi",
                              "--solvers", "cg,gmres:restart=20", "--reps", "3")
        rows = answer["candidates"]
        self.assertEqual({row["name"] for row in rows},
                         {f"{s}+{p}" for s in ("cg", "gmres:restart=20")
                          for p in ("struct_ilu", "struct_ilu:fill_level=1", "jacobi")})
        totals = [row["total_seconds"]["median"] for row in rows]
        self.assertEqual(totals, sorted(totals))
        self.assertEqual(answer["best"], rows[0]["name"])
        self.assertEqual(answer["baseline"], "cg+struct_ilu")  # the deck's own pair
        baseline = next(row for row in rows if row["name"] == "cg+struct_ilu")
        for row in rows:
            self.assertTrue(row["converged"])
            self.assertEqual(row["outcome"], "converged_rtol")
            self.assertLessEqual(row["relative_residual"], 1e-8)
            self.assertEqual(row["turns"], 3)
            self.assertTrue(row["repeatable"])
            self.assertAlmostEqual(row["ratio"], row["total_seconds"]["median"] / baseline["total_seconds"]["median"])
            self.assertAlmostEqual(row["seconds_per_iteration"],
                                   row["solve_seconds"]["median"] / row["iterations"])
            self.assertTrue(0 < row["preconditioner_share"] < 1)
            for part in ("setup_seconds", "solve_seconds", "total_seconds"):
                self.assertTrue(0 < row[part]["least"] <= row[part]["median"] <= row[part]["most"])
            # The prediction leaves out a method's few scalars.
            self.assertLess(abs(row["memory"]["peak"] - row["memory"]["predicted"]), 1024)
        self.assertEqual(baseline["ratio"], 1.0)

    def test_a_candidate_does_what_a_run_does(self):
        deck = self.poisson()
        words = ("--set", "solver.name=gmres", "--set", "preconditioner.fill_level=1")
        run = self.run_json(0, "run", deck, *words)
        answer = self.compare(0, deck, "--solvers", "gmres", "--preconditioners", "struct_ilu:fill_level=1")
        row = answer["candidates"][0]
        self.assertEqual(row["iterations"], run["iterations"])
        self.assertEqual(row["relative_residual"], run["solves"][0]["true_residual"] / run["solves"][0]["b_norm"])
        self.assertEqual(row["memory"]["peak"], run["memory"]["peak"])

    def test_text(self):
        done = self.expect(0, "compare", self.poisson(), "--preconditioners", "jacobi,none", "--baseline", "none",
                           "--set", "solver.max_iterations=60")
        lines = done.stdout.splitlines()
        for begin in ("system        a.ini: poisson on 12 x 12 x 12, 1728 unknowns, star7", "criterion     ||b - A x|| <=",
                      "fingerprint   ", "timing        median of 5 turns", "ratio         total ms over that of cg+none",
                      "record        a_compare.h5"):
            self.assertTrue(any(line.startswith(begin) for line in lines), (begin, done.stdout))
        head = next(line for line in lines if line.startswith("  candidate"))
        for column in ("outcome", "its", "set-up ms", "solve ms", "total ms", "spread", "ms/it", "precond", "MiB", "ratio"):
            self.assertIn(column, head)
        marked = [line for line in lines if line.startswith("* ")]
        self.assertEqual(len(marked), 1)
        self.assertRegex(marked[0], r"^\* cg\+(jacobi|none) +converged +\d+ ")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("info: warm-up 1 of 2: cg+jacobi: converged_rtol", done.stderr)
        self.assertIn("info: turn 5 of 5 done", done.stderr)
        for line in done.stderr.splitlines():
            self.assertNotIn("\r", line)

    def test_bold_and_progress_on_a_terminal(self):
        deck = self.poisson(24)
        shown = self.shown_on_terminal("compare", deck, "--preconditioners", "jacobi,none")
        self.assertRegex(shown, rb"\x1b\[1m\* cg\+")
        self.assertIn(b"\rwarm-up 2 of 2: cg+none", shown)
        self.assertIn(b"\rturn 5 of 5: ", shown)
        self.assertNotIn(b"info:", shown)

    def test_only_what_is_missing_comes_from_the_deck(self):
        deck = self.poisson()
        names = lambda *words: [row["name"] for row in self.compare(0, deck, *words)["candidates"]]
        self.assertEqual(names("--solvers", "gmres"), ["gmres+struct_ilu"])
        self.assertEqual(names("--preconditioners", "none"), ["cg+none"])
        self.assertEqual(names("--preconditioners", "ilu"), ["cg+struct_ilu"])  # an alias

    def test_keys_of_the_deck_go_to_the_candidates_that_have_them(self):
        deck = self.write("a.ini", POISSON.format(cells=12) + "[preconditioner]\nfill_level = 1\n")
        iterations = {row["name"]: row["iterations"] for row in self.compare(
            0, deck, "--preconditioners", "struct_ilu,struct_ilu:fill_level=0,jacobi")["candidates"]}
        self.assertLess(iterations["cg+struct_ilu"], iterations["cg+struct_ilu:fill_level=0"])
        self.assertLess(iterations["cg+struct_ilu:fill_level=0"], iterations["cg+jacobi"])
        # --set reaches a candidate that the deck does not name
        deck = self.poisson()
        restarts = [self.compare(0, deck, "--solvers", "gmres,cg", "--set", f"solver.restart={m}")["candidates"]
                    for m in (3, 60)]
        gmres = [next(row["iterations"] for row in rows if row["name"] == "gmres+struct_ilu") for rows in restarts]
        self.assertGreater(gmres[0], gmres[1])

    def test_fingerprints(self):
        deck = self.poisson()
        system = lambda *words: self.compare(0, deck, "--preconditioners", "jacobi", "--reps", "1", *words)["system"]
        first = system()
        for name in ("fingerprint", "fingerprint_a", "fingerprint_b", "fingerprint_x0", "fingerprint_criterion"):
            self.assertRegex(first[name], "^[0-9a-f]{16}$")
        self.assertEqual(first, {**system("--set", "device.layout=hyperplane")})
        stricter = system("--set", "solver.rtol=1e-9")
        self.assertNotEqual(stricter["fingerprint"], first["fingerprint"])
        self.assertEqual(stricter["fingerprint_a"], first["fingerprint_a"])
        other = system("--set", "grid.cells=11")
        self.assertNotEqual(other["fingerprint_a"], first["fingerprint_a"])
        self.assertNotEqual(other["fingerprint_b"], first["fingerprint_b"])


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


class Auto(CompareTest):
    def test_it_tries_what_fits_and_recommends_the_fastest(self):
        listed = json.loads(self.expect(0, "list", "--json").stdout)
        deck = self.write("a.ini", TRANSPORT.format(cells=10, steps=1))
        answer = self.compare(0, deck, "--auto", "--reps", "2")
        tried = {row["name"] for row in answer["candidates"]}
        left_out = {pair["name"] for pair in answer["left_out"]}
        self.assertEqual(tried | left_out, {f"{s}+{p}" for s in listed["solvers"] for p in listed["preconditioners"]})
        self.assertFalse(tried & left_out)
        self.assertLessEqual({f"cg+{p}" for p in listed["preconditioners"]}, left_out)
        self.assertTrue(all(pair["reason"] for pair in answer["left_out"]))
        best = answer["candidates"][0]
        self.assertTrue(best["converged"])
        self.assertEqual(answer["best"], best["name"])
        self.assertIn(f"solver {best['solver']}, preconditioner {best['preconditioner']}", answer["recommendation"])
        self.assertRegex(answer["recommendation"], r"(?m)^next +\S+, .* times as long; the best was faster in \d of \d")
        # What is recommended can be run.
        self.expect(0, "run", deck, "--quiet", "--set", f"solver.name={best['solver']}", "--set",
                    f"preconditioner.name={best['preconditioner']}")

    def test_info_takes_a_screen(self):
        """The fastest, and counts of what failed and was left out; --all shows what compare printed."""
        done = self.expect(0, "compare", self.poisson(8), "--auto", "--reps", "1")
        text = self.expect(0, "info", "a_compare.h5").stdout
        self.assertLessEqual(len(text.splitlines()), 25, text)
        whole = self.expect(0, "info", "a_compare.h5", "--all").stdout
        self.assertEqual(done.stdout, whole + "record        a_compare.h5\n")
        rows = [line for line in whole.splitlines() if " converged " in line]
        shown = [line for line in text.splitlines() if " converged " in line]
        self.assertEqual(shown, rows[:8])
        self.assertIn("--all lists all", text)
        self.assertIn("recommended", text)
        self.assertRegex(text, r"left out      \d+ candidates\n")

    def test_lists_restrict_it(self):
        answer = self.compare(0, self.poisson(), "--auto", "--solvers", "cg,gmres:restart=7", "--reps", "1")
        self.assertEqual({row["solver"] for row in answer["candidates"]}, {"cg", "gmres:restart=7"})
        answer = self.compare(0, "a.ini", "--auto", "--preconditioners", "struct_ilu:fill_level=2", "--reps", "1")
        self.assertEqual({row["preconditioner"] for row in answer["candidates"]}, {"struct_ilu:fill_level=2"})
        self.assertGreater(len(answer["candidates"]), 2)

    def test_it_gives_up_on_the_hopeless(self):
        answer = self.compare(0, self.poisson(48), "--auto", "--solvers", "cg,richardson", "--preconditioners", "jacobi",
                              "--reps", "1", "--set", "solver.max_iterations=1e6")
        self.assertEqual([(row["name"], row["outcome"], row["turns"]) for row in answer["candidates"]],
                         [("cg+jacobi", "converged_rtol", 1), ("richardson+jacobi", "given_up", 0)])
        self.assertIn("times as long as the best candidate before it", answer["candidates"][1]["reason"])
        self.assertIn("of the 1 pair that converged, of 2 tried", answer["recommendation"])


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

    def test_the_criterion_is_shared(self):
        self.refused("--solvers", "gmres,cg:rtol=1e-2",
                     says="--solvers cg:rtol=1e-2: solver.rtol must be the same for all candidates")

    def test_overrides_that_nobody_takes(self):
        self.refused("--preconditioners", "jacobi", "--set", "preconditioner.fill_level=1",
                     says="--set preconditioner.fill_level=1: no candidate has this key")
        self.refused("--solvers", "gmres", "--set", "solver.name=cg", says="named by --solvers or --auto")
        self.refused("--solvers", "gmres", "--set", "solver.max_iteration=1", says="did you mean solver.max_iterations?")

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


class Files(CompareTest):
    def test_the_file_shows_the_same_table(self):
        deck = self.poisson()
        done = self.expect(0, "compare", deck, "--preconditioners", "jacobi,none", "-o", "c.h5", "--json", "c.json")
        self.assertEqual(self.expect(0, "info", "c.h5").stdout + "record        c.h5\n", done.stdout)
        written = json.loads((self.folder / "c.json").read_text())
        self.assertEqual(written.pop("_file"), "made by hyperplane")  # which a later comparison knows its file by
        self.assertEqual(json.loads(self.expect(0, "info", "c.h5", "--json").stdout), written)
        self.expect(0, "compare", deck, "--preconditioners", "none", "-o", "c.h5")  # over an earlier comparison
        self.expect(7, "diff", "c.h5", "c.h5", says="holds a comparison, not the record of a run")

    @unittest.skipUnless(h5py, "no h5py")
    def test_a_group_for_each(self):
        self.write("a.ini", TRANSPORT.format(cells=8, steps=3))
        self.expect(0, "compare", "a.ini", "--solvers", "cg,gmres", "--preconditioners", "jacobi,struct_ilu:fill_level=1")
        with h5py.File(self.folder / "a_compare.h5") as file:
            names = [name.decode() for name in file["table/name"][:]]
            self.assertEqual(set(file["candidates"]), set(names))
            best = file["candidates"][file.attrs["best"]]
            history = best["history"]
            self.assertEqual(history["iteration"][0], 0)
            self.assertEqual(history["iteration"][-1], best["solves/iterations"][0])
            self.assertEqual(file["table/iterations"][0], best["solves/iterations"][0])
            self.assertEqual(file["table/solve_seconds"][0], best["solves/solve_seconds"][0])
            self.assertLessEqual(history["rel_res_true"][-1], 1e-10)
            timers = {name.decode() for name in best["perf/timers/name"][:]}
            self.assertEqual(timers, {"setup", "solve", "solve/spmv", "solve/preconditioner"})
            ilu = file["candidates/gmres+struct_ilu:fill_level=1"]
            self.assertRegex(ilu["deck/resolved"][()].decode(), r"fill_level = 1 +; --preconditioners struct_ilu:fill_level=1")
            refused = file["candidates/cg+jacobi"]
            self.assertEqual((refused.attrs["status"], len(refused["solves/iterations"])), (b"failed", 0))
            self.assertIn(b"symmetric", refused.attrs["message"])

    def test_report_draws_every_candidate(self):
        self.write("a.ini", TRANSPORT.format(cells=8, steps=1))
        self.expect(0, "compare", "a.ini", "--solvers", "cg,gmres", "--preconditioners", "jacobi,struct_ilu:fill_level=1")
        done = self.run_program("report", "a_compare.h5", "-o", "a.html")
        if "python3-h5py" in done.stderr:
            self.skipTest("no Python with h5py and matplotlib")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "a.html").read_text()
        for name in ("gmres+jacobi", "gmres+struct_ilu:fill_level=1", "cg+jacobi"):
            self.assertIn(name, page)

    @unittest.skipUnless(h5py, "no h5py")
    def test_the_python_module_reads_every_candidate(self):
        sys.path.insert(0, str(INPUTS.parent / "python"))
        self.addCleanup(sys.path.pop, 0)
        import hyperplane

        self.expect(0, "compare", self.poisson(), "--preconditioners", "jacobi,none", "-o", "c.h5")
        records = hyperplane.load_all([self.folder / "c.h5"])
        self.assertEqual({record.label for record in records}, {"cg+jacobi", "cg+none"})
        self.assertTrue(all(record.relative_residual <= 1e-8 for record in records))
        comparison = hyperplane.load(self.folder / "c.h5")
        self.assertEqual(comparison.records[comparison.best].iterations, comparison.table.iterations[0])


if __name__ == "__main__":
    unittest.main()
