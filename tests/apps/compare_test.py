# SPDX-License-Identifier: BSD-3-Clause
"""compare: the table, its order, the recommendation, the file."""

import json
import sys
import unittest

from program import INPUTS, POISSON, TRANSPORT, CompareTest

try:
    import h5py
    import numpy
except ImportError:
    h5py = None


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
        self.assertEqual(answer["compile_seconds"], 0.0)  # on a CPU
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
            self.assertEqual(row.get("pays_off_from_solves"), self.solves_to_pay_off(row, baseline), row["name"])
        self.assertEqual(baseline["ratio"], 1.0)

    @staticmethod
    def solves_to_pay_off(row, baseline):
        """The first number of solves with one set-up whose time is less than the baseline's."""
        def total(one, solves):
            return one["setup_seconds"]["median"] + solves * one["solve_seconds"]["median"]
        if row["solve_seconds"]["median"] >= baseline["solve_seconds"]["median"]:
            return None
        solves = 1
        while total(row, solves) >= total(baseline, solves):
            solves += 1
        return solves

    def test_solves_after_which_a_set_up_pays_off(self):
        """Finding an order counts as set-up, so a candidate in another order pays off later than its set-up alone says."""
        deck = self.poisson()
        answer = self.compare(0, deck, "--preconditioners", "jacobi,sync_free_ilu:ordering.name=rcm", "--baseline", "jacobi",
                              "--set", "grid.cells=32", "--set", "matrix.format=general")
        rows = {row["preconditioner"].split(":")[0]: row for row in answer["candidates"]}
        ilu, jacobi = rows["sync_free_ilu"], rows["jacobi"]
        if ilu["solve_seconds"]["median"] < jacobi["solve_seconds"]["median"]:
            self.assertGreaterEqual(ilu["pays_off_from_solves"], self.solves_to_pay_off(ilu, jacobi))
        else:
            self.assertNotIn("pays_off_from_solves", ilu)

    def test_a_general_matrix_is_described_as_run_describes_it(self):
        """By its pattern, which depends on a candidate's ordering, and not by a grid that it does not have."""
        rows = [f"{at + 1} {at + 1} 4" for at in range(15)] + [f"{at + 2} {at + 1} -1" for at in range(14)]
        (self.folder / "a.mtx").write_text(
            "%%MatrixMarket matrix coordinate real general\n15 15 29\n" + "\n".join(rows) + "\n")
        deck = self.write("g.ini", "[problem]\nname = matrix\nfile = a.mtx\n[solver]\nname = gmres\n"
                                   "[preconditioner]\nname = sync_free_ilu\n")
        line = next(one for one in self.expect(0, "run", deck).stdout.splitlines() if one.startswith("matrix "))
        said = self.expect(0, "compare", deck, "--preconditioners", "sync_free_ilu,jacobi", "--force").stdout
        self.assertIn("g.ini: matrix, 15 unknowns, general; the first linear system", said)
        self.assertIn(line, said.splitlines())
        names = "jacobi,sync_free_ilu:ordering.name=rcm"
        said = self.expect(0, "compare", deck, "--preconditioners", names, "--force").stdout
        self.assertEqual(sum(one.startswith("matrix ") for one in said.splitlines()), 2, said)
        answer = self.compare(0, deck, "--preconditioners", names, "--force")
        self.assertNotIn("cells", answer["system"])
        levels = {row["preconditioner"]: row["pattern"]["lower_levels"] for row in answer["candidates"]}
        self.assertEqual(levels["jacobi"], 15)
        self.assertNotIn("pattern", self.compare(0, self.poisson(), "--preconditioners", "jacobi")["candidates"][0])

    def test_a_symmetric_one_is_called_so(self):
        deck = self.poisson()
        said = self.expect(0, "compare", deck, "--preconditioners", "jacobi,sync_free_ilu", "--set",
                           "matrix.format=general").stdout
        line = next(one for one in said.splitlines() if one.startswith("matrix "))
        self.assertTrue(line.endswith(", symmetric"), line)

    def test_a_candidate_does_what_a_run_does(self):
        deck = self.poisson()
        words = ("--set", "solver.name=gmres", "--set", "preconditioner.fill_level=1")
        run = self.run_json(0, "run", deck, *words)
        answer = self.compare(0, deck, "--solvers", "gmres", "--preconditioners", "struct_ilu:fill_level=1")
        row = answer["candidates"][0]
        self.assertEqual(row["iterations"], run["iterations"])
        self.assertEqual(row["relative_residual"], run["solves"][0]["true_residual"] / run["solves"][0]["b_norm"])
        self.assertEqual(row["memory"]["peak"], run["memory"]["peak"])

    def test_the_memory_of_general_factors_is_that_of_a_run(self):
        """Reduced factors are made in double precision first, before there are Krylov vectors; a form or an order of the
        matrix belongs to the candidates that have it."""
        deck = self.poisson()
        general = ("--set", "matrix.format=general")
        names = ("jacobi", "sync_free_ilu", "sync_free_ilu:storage=single", "sync_free_ilu:storage=half_scaled", "par_ilu:storage=single",
                 "subdomain_ildu0:part_rows=300:storage=single")
        answer = self.compare(0, deck, "--preconditioners", ",".join((*names, "sync_free_ilu:ordering.name=rcm")), *general,
                              "--reps", "1")
        self.assertEqual(len(answer["candidates"]), 7)
        for row in answer["candidates"]:
            with self.subTest(row["name"]):
                self.assertEqual(row["memory"]["peak"], row["memory"]["predicted"])
                if "ordering" in row["name"]:
                    continue
                name, *keys = row["preconditioner"].split(":")
                words = [word for key in keys for word in ("--set", f"preconditioner.{key}")]
                checked = self.run_json(0, "check", deck, *general, "--set", f"preconditioner.name={name}", *words)["memory"]
                built = checked["by_label"].get("construction of the problem", 0)
                self.assertEqual(row["memory"]["predicted"], checked["predicted"] - built)

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


class Auto(CompareTest):
    def test_it_tries_what_fits_and_recommends_the_fastest(self):
        listed = json.loads(self.expect(0, "list", "--json").stdout)
        deck = self.write("a.ini", TRANSPORT.format(cells=10, steps=1))
        answer = self.compare(0, deck, "--auto", "--reps", "2")
        tried = {row["name"] for row in answer["candidates"]}
        left_out = {pair["name"] for pair in answer["left_out"]}
        named = tried | left_out
        self.assertEqual({name for name in named if ":" not in name},
                         {f"{s}+{p}" for s in listed["solvers"] for p in listed["preconditioners"]})
        variants = ("multigrid:coarse_smoother=multicolor", "sync_free_ilu:ordering.name=multicolor", "sync_free_ilu:indefinite=true")
        self.assertLessEqual({f"{s}+{p}" for s in listed["solvers"] for p in variants} | {"cg:eisenstat=true+struct_ilu"}, named)
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

    def test_colours_of_a_general_matrix(self):
        """The preconditioner multicolor is for grids alone; its counterpart is tried, and named where multicolor is refused."""
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = multicolor\n[matrix]\nformat = general\n")
        way = ["preconditioner.name = multicolor takes matrices on a grid alone", "sync_free_ilu and ordering.name = multicolor"]
        self.expect(2, "run", deck, says=way)
        for backend in ("cpu", "cuda"):
            self.expect(2, "check", deck, "--backend", backend, says=way)
        timed = self.expect(0, "bench", "preconditioners", deck, "--preconditioners", "multicolor,sync_free_ilu", "--repeats", "1").stdout
        self.assertIn(way[1], timed)
        answer = self.compare(0, deck, "--auto", "--solvers", "cg", "--reps", "1")
        rows = {row["name"]: row for row in answer["candidates"]}
        self.assertTrue(rows["cg+sync_free_ilu:ordering.name=multicolor"]["converged"])
        self.assertGreater(rows["cg+sync_free_ilu:ordering.name=multicolor"]["iterations"], rows["cg+sync_free_ilu"]["iterations"])
        self.assertNotIn("cg+multicolor", rows)
        self.assertIn(way[1], next(pair["reason"] for pair in answer["left_out"] if pair["name"] == "cg+multicolor"))

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

    def test_eisenstats_form_is_a_candidate_where_it_serves(self):
        answer = self.compare(0, self.poisson(), "--auto", "--preconditioners", "struct_ilu,jacobi", "--reps", "1")
        count = {row["name"]: row["iterations"] for row in answer["candidates"]}
        self.assertEqual(count["cg:eisenstat=true+struct_ilu"], count["cg+struct_ilu"])
        self.assertFalse([name for name in count if "eisenstat" in name and "jacobi" in name])
        whole = self.compare(0, "a.ini", "--auto", "--solvers", "cg", "--preconditioners", "struct_ilu", "--reps", "1")
        self.assertEqual(len(whole["candidates"]), 1)

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

    def test_multigrid_is_recommended_where_the_iterations_of_others_have_grown(self):
        """On one thread, where multigrid takes less than half of the time of struct_ilu, turn by turn in each other's company."""
        answer = self.compare(0, self.poisson(96), "--auto", "--solvers", "cg", "--preconditioners",
                              "struct_ilu,multigrid", "--reps", "3", "--backend", "cpu", "--threads", "1")
        self.assertEqual(answer["best"], "cg+multigrid")
        self.assertIn("solver cg, preconditioner multigrid", answer["recommendation"])
        rows = {row["preconditioner"]: row for row in answer["candidates"]}
        self.assertLess(10 * rows["multigrid"]["iterations"], rows["struct_ilu"]["iterations"])

    def test_multigrid_is_recommended_where_nothing_else_converges(self):
        """Of all preconditioners, in the iterations allowed: which times do not decide."""
        answer = self.compare(0, self.poisson(40), "--auto", "--solvers", "cg", "--reps", "1", "--backend", "cpu",
                              "--threads", "1", "--set", "solver.max_iterations=15")
        converged = {row["preconditioner"] for row in answer["candidates"] if row["converged"]}
        self.assertEqual(converged, {"multigrid", "multigrid:coarse_smoother=multicolor"})
        self.assertRegex(answer["recommendation"], "solver cg, preconditioner multigrid")
        self.assertIn("of the 2 pairs that converged", answer["recommendation"])

    def test_multigrid_is_not_recommended_where_its_set_up_takes_longer_than_a_whole_solve(self):
        """The matrix of a time step or of Newton's method for it has a strong diagonal, so iterations are few without
        coarse grids, too. The table has the reason: fewer iterations, and a set-up alone that is several times as long
        as set-up and solve of the best."""
        for deck in (self.write("a.ini", TRANSPORT.format(cells=24, steps=1)), str(INPUTS / "cahn_hilliard.ini")):
            with self.subTest(deck=deck):
                answer = self.compare(0, deck, "--auto", "--solvers", "gmres", "--preconditioners",
                                      "struct_ilu,fgbilu,jacobi,multigrid,multigrid:coarse_smoother=multicolor",
                                      "--reps", "3", "--backend", "cpu", "--threads", "1")
                rows = {row["preconditioner"]: row for row in answer["candidates"]}
                best = answer["candidates"][0]
                self.assertNotIn("multigrid", best["preconditioner"])
                self.assertRegex(answer["recommendation"],
                                 f"(?m)^because +.* {best['iterations']} iterations, is the least of the")
                for name in ("multigrid", "multigrid:coarse_smoother=multicolor"):
                    self.assertTrue(rows[name]["converged"])
                    self.assertLess(rows[name]["iterations"], best["iterations"])
                    self.assertGreater(rows[name]["setup_seconds"]["median"], best["total_seconds"]["median"])


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
    def test_one_of_an_earlier_program_that_had_no_system_goes_on(self):
        words = ("compare", self.poisson(), "--preconditioners", "jacobi,none", "--reps", "1")
        self.expect(75, *words, stop_at=1)
        path = self.folder / "a_compare.h5"
        path.write_bytes(path.read_bytes()[512:])  # without its seal, which proves what it was
        with h5py.File(path, "r+") as file:
            for part, digit in (("", b"1"), ("_a", b"0"), ("_b", b"0"), ("_x0", b"0"), ("_criterion", b"0")):
                file["system"].attrs["fingerprint" + part] = numpy.bytes_(16 * digit)
        self.assertIn("fingerprint   none: no candidate got as far as the system", self.expect(0, "info", "a_compare.h5").stdout)
        self.expect(0, *words, says="was stopped: going on after turn 0 of 1")

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
