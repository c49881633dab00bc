# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane bench: what is timed, what is refused, and that its numbers are consistent."""

import json
import math
import unittest

from program import POISSON, ProgramTest, few_addresses

KERNELS = ("spmv", "lower", "upper", "factorise")


class Bench(ProgramTest):
    def test_kernels(self):
        found = self.bench("kernels", "--cases", "star7:1:17, box27:2:7:sym")
        self.assertEqual([(case["stencil"], case["symmetric"]) for case in found["cases"]],
                         [("star7", False), ("box27", True)])
        for case in found["cases"]:
            for kernel in KERNELS:
                row = case["kernels"][kernel]
                self.assertLess(row["largest_error"], 1e-11)
                seconds = row["seconds"]["median"]
                self.assertAlmostEqual(row["microseconds_a_level"], seconds * 1e6 / case["levels"])
                self.assertAlmostEqual(row["time_over_limit"] * row["bytes"] / found["copy_rate"] / seconds, 1.0)

    def test_names_of_cases(self):
        self.write("cases", "table3-small # all of them\nstar7:3:5\n")
        cases = self.bench("preconditioners", "--cases", "cases", "--preconditioners", "none")["systems"]
        self.assertEqual(len(cases), 26)
        self.assertEqual((cases[0]["system"], cases[-1]["system"]), ("star7:1:102", "star7:3:5"))
        sizes = self.bench("preconditioners", "--cases", "fgbilu-figure9", "--preconditioners", "none")["systems"]
        self.assertEqual([one["system"] for one in sizes], [f"star7:6:{n}" for n in range(15, 66, 10)])
        self.expect(2, "bench", "kernels", "--cases", "table3:5", says="1, 2, 4, 6 and 8")
        lists = ("table2, table3[:DOF], table3-a100, table3-small, figure8, figure9, fgbilu-tables, fgbilu-figure9, levels, middle, "
                 "ablation")
        self.expect(2, "bench", "kernels", "--cases", "table4", says=["'table4'", lists])
        self.expect(2, "bench", "kernels", "--cases", " , ", says=lists)
        self.assertIn(lists, self.expect(0, "help", "bench").stdout)
        self.expect(2, "bench", "kernels", "--cases", "levles", says="'levles'")

    def test_cases_of_tables_of_operations(self):
        """The StructILU paper's Table 2 counts the operations of a row of ILU(0): multiplications of updates, divisions by pivots and
        the inversion of its own. FGBILU's Tables 2 to 4 are of one system."""
        cases = self.bench("kernels", "--cases", "table2")["cases"]
        serial = {"star13": 19, "diamond13": 29, "diamond25": 95, "box27": 115}
        self.assertEqual([(case["stencil"], case["dof"], case["n"]) for case in cases], [(name, 1, 8) for name in serial])
        for case in cases:
            self.assertEqual(case["kernels"]["factorise"]["flops"], 2 * serial[case["stencil"]] * 8**3)
        system, = self.bench("preconditioners", "--cases", "fgbilu-tables", "--preconditioners", "none")["systems"]
        self.assertEqual(system["system"], "star7:6:65")

    def test_every_kind_tells_the_seconds_of_the_compiler(self):
        """None on a CPU; tests/apps/device_test.py has those of a GPU."""
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = multigrid\n[device]\nbackend = cpu\n")
        cases, jacobi = ("--cases", "star7:1:8"), ("--preconditioners", "jacobi")
        for kind, *words in (("kernels", *cases), ("preconditioners", *cases, *jacobi), ("preconditioners", deck, *jacobi), ("solve", deck),
                             ("assembly", deck), ("products", deck), ("multigrid", deck), ("vectors", "--unknowns", "1000"),
                             ("hpcg", "16", "16", "16")):
            with self.subTest(kind):
                self.assertEqual(self.bench(kind, *words)["compile_seconds"], 0.0)
        factored = self.write("b.ini", POISSON.format(cells=8) + "[device]\nbackend = cpu\n")
        swept = json.loads(self.expect(0, "bench", "sweeps", factored, "--json", "-").stdout)
        self.assertEqual(swept["compile_seconds"], 0.0)

    def test_building_up_needs_a_gpu(self):
        self.expect(2, "bench", "kernels", "--cases", "star7:1:9", "--build-up", says="--device cuda")

    def test_lower_solve_alone(self):
        systems = self.bench("preconditioners", "--cases", "star7:2:9", "--preconditioners",
                             "subdomain_ildu0,subdomain_ildu0:variant=unfused")["systems"]
        fused, unfused = systems[0]["preconditioners"]
        self.assertNotIn("lower", fused)
        self.assertLess(0.0, unfused["lower"]["median"])

    def test_keys_of_runs(self):
        """What only run does is refused on the command line, and said of a deck."""
        self.write("a.ini", POISSON.format(cells=6) + "[output]\nprofile = true\n")
        for kind in ("solve", "assembly", "products", "preconditioners"):
            with self.subTest(kind=kind):
                self.expect(2, "bench", kind, "a.ini", "--repeats", "1", "--set", "output.profile=true",
                            says="--set output.profile=true: [output] applies to hyperplane run, and bench would ignore it")
                words = ("--preconditioners", "jacobi") if kind == "preconditioners" else ()
                self.expect(0, "bench", kind, "a.ini", "--repeats", "1", *words,
                            says="a.ini: output.profile applies to hyperplane run; bench leaves it out")

    def test_each_piece_is_left_out_where_a_case_has_it(self):
        def pieces(case):
            variants = self.bench("kernels", "--cases", case, "--ablate")["cases"][0]["variants"]
            for variant in variants:
                self.assertNotIn("refused", variant)
                for kernel in variant["kernels"].values():
                    self.assertLess(kernel["largest_error"], 1e-11)
            return {variant["name"]: set(variant["kernels"]) for variant in variants}

        everything, solves = set(KERNELS), {"lower", "upper", "factorise"}
        self.assertEqual(pieces("star7:1:9:sym"),
                         {"other layout": everything, "both triangles": everything, "no D-ILU": solves})
        self.assertEqual(pieces("box27:2:5"), {"other layout": everything})
        for kind in ("kernels", "preconditioners"):
            self.expect(2, "bench", kind, "--tunings", "all", says="--device cuda")

    def test_preconditioners(self):
        found = self.bench("preconditioners", "--cases", "star7:1:12:sym,box27:3:5")
        registered = set(json.loads(self.expect(0, "list", "preconditioners", "--json").stdout)["preconditioners"])
        for system, formats in zip(found["systems"], (set(), {"cusparse_ilu:format=bsr"})):  # blocks of 1 and of 3
            rows = {row["preconditioner"]: row for row in system["preconditioners"]}
            self.assertEqual(set(rows), registered | formats)
            for name, row in rows.items():
                if "refused" in row:
                    self.assertTrue(row["refused"])
                    continue
                self.assertGreater(row["setup"]["median"] + row["first_setup"], 0.0)
                self.assertAlmostEqual(row["time_over_limit"] * row["bytes_per_apply"] / found["copy_rate"] /
                                       row["apply"]["median"], 1.0)
                self.assertLess(row["error"], 1e-14)
            for name in ("struct_ilu", "jacobi_sweeps", "par_ilu", "jacobi", "none"):
                self.assertNotIn("refused", rows[name])
            self.assertIn("refused", rows["cusparse_ilu"])
            points, block, lower = system["unknowns"] // system["dof"], system["dof"] ** 2, {1: 3, 3: 13}[system["dof"]]
            for name in ("struct_ilu", "par_ilu", "fgbilu"):  # both triangles and D^-1 once, r, y twice, z
                self.assertEqual(rows[name]["bytes_per_apply"],
                                 8 * points * ((2 * lower + 1) * block + 4 * system["dof"]))
            self.assertEqual(rows["jacobi_sweeps"]["sweeps_of_apply"], 10)
            self.assertEqual(rows["par_ilu"]["sweeps_of_setup"], 5)
            self.assertEqual(rows["none"]["bytes_held"], 0)
            self.assertGreater(rows["par_ilu"]["bytes_held"], rows["struct_ilu"]["bytes_held"])
        # D-ILU's sweep reads A's 4 entries and D^-1 and writes D^-1; ILU(0)'s reads A and factors and writes factors.
        star, box = found["systems"]
        sweep = {system["system"]: next(row["bytes_of_setup_sweep"] for row in system["preconditioners"]
                                        if row["preconditioner"] == "par_ilu") for system in (star, box)}
        self.assertEqual(sweep["star7:1:12:sym"], 6 * 8 * 12**3)
        # The two farthest entries never change: neither read from A nor written.
        self.assertEqual(sweep["box27:3:5"], (3 * 27 - 4) * 9 * 8 * 5**3)

    def test_preconditioners_of_a_deck(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        names = ["struct_ilu", "struct_ilu:fill_level=1", "jacobi_sweeps:mode=block_async"]
        found = self.bench("preconditioners", deck, "--preconditioners", ",".join(names))
        system = found["systems"][0]
        self.assertEqual((system["system"], system["unknowns"]), ("a.ini", 12**3))
        rows = system["preconditioners"]
        self.assertEqual([row["preconditioner"] for row in rows], names)
        self.assertGreater(rows[1]["bytes_per_apply"], rows[0]["bytes_per_apply"])
        self.assertLess(rows[1]["error"], 1e-14)
        self.assertNotIn("error", rows[2])
        self.assertIn("asynchronous", rows[2]["unchecked"])
        shown = self.expect(0, "bench", "preconditioners", deck, "--preconditioners", names[1], "--repeats", "1").stdout
        self.assertIn(names[1], shown)

    def test_solve_on_ranks(self):
        deck = self.write("a.ini", POISSON.format(cells="15 13 11") + "[device]\nranks = 3\nthreads = 1\n")
        one, three = (self.bench("solve", deck, *words) for words in (("--ranks", "1"), ()))
        row, alone = three["solves"][0], one["solves"][0]
        for key in ("iterations", "relative_residual", "stop_reason", "other_bytes"):
            self.assertEqual(row[key], alone[key], key)
        self.assertNotIn("ranks", alone)
        self.assertEqual((row["ranks"], len(row["copy_rates_of_ranks"])), (3, 3))
        self.assertAlmostEqual(sum(row["copy_rates_of_ranks"]) / three["copy_rate"], 1.0)
        rates = row["unknown_iterations_a_second_of_ranks"]
        self.assertAlmostEqual(sum(rates) / row["unknown_iterations_a_second"], 1.0)
        self.assertAlmostEqual(row["unknown_iterations_a_second"] / (15 * 13 * 11 * row["iterations"] / row["solve"]["median"]), 1.0)
        for planes, rate in zip((3, 4, 4), rates):  # each has its part of the planes
            self.assertAlmostEqual(rate / row["unknown_iterations_a_second"], planes / 11)
        for name in ("spmv", "preconditioner_apply"):
            self.assertTrue(0.0 < row[name] < 2.0 * row["solve"]["median"], name)
        shown = self.expect(0, "bench", "solve", deck, "--ranks", "2", "--repeats", "1").stdout
        self.assertRegex(shown, r"cpu, 2 ranks of 1 thread: unknowns times iterations a second: [\d.]+ million in all, [\d.]+, [\d.]+ of the ranks")

    def test_preconditioners_on_ranks_have_the_results_of_one(self):
        deck = self.write("a.ini", POISSON.format(cells="7 5 11"))
        names = "struct_ilu,struct_ilu:scope=rank,multicolor,subdomain_ildu0:subdomain=7 5 2,multigrid,sync_free_ilu"
        one, several = (self.bench("preconditioners", deck, "--preconditioners", names, "--threads", "1", "--ranks",
                                   ranks)["systems"][0] for ranks in ("1", "3"))
        self.assertEqual(several["unknowns"], one["unknowns"])
        rows = {row["preconditioner"]: row for row in several["preconditioners"]}
        for name in ("struct_ilu", "multicolor", "subdomain_ildu0:subdomain=7 5 2", "multigrid"):
            self.assertEqual(rows[name]["error"], 0.0, name)
            self.assertGreater(rows[name]["apply"]["median"], 0.0)
        self.assertIn("scope = rank", rows["struct_ilu:scope=rank"]["unchecked"])
        self.assertIn("sync_free_ilu takes general matrices alone", rows["sync_free_ilu"]["refused"])
        smoothed = self.write("b.ini", POISSON.format(cells="7 5 24") + "[preconditioner]\nname = multigrid\n[smoother]\nscope = rank\n")
        row, = self.bench("preconditioners", smoothed, "--preconditioners", "multigrid", "--threads", "1", "--ranks", "3")["systems"][0][
            "preconditioners"]
        self.assertIn("scope = rank", row["unchecked"])
        whole = {row["preconditioner"]: row for row in one["preconditioners"]}
        # The factors of all ranks' points are read, and of no others.
        self.assertEqual(rows["struct_ilu"]["bytes_per_apply"], whole["struct_ilu"]["bytes_per_apply"])
        shown = self.expect(0, "bench", "preconditioners", deck, "--preconditioners", "jacobi", "--ranks", "2", "--threads", "1",
                            "--repeats", "1").stdout
        self.assertIn("cpu, 2 ranks of 1 thread; a copy moves", shown)
        self.assertEqual(shown.count(" jacobi "), 2, "a row and a mean: one rank prints")
        self.expect(2, "bench", "preconditioners", "--ranks", "2", says="cases run on one rank; name decks")

    def test_ranks_of_other_kinds_are_refused(self):
        deck = self.write("a.ini", POISSON.format(cells=6))
        for words in (("kernels",), ("assembly", deck), ("vectors",), ("hpcg",)):
            self.expect(2, "bench", *words, "--ranks", "2", says="runs on one rank; leave --ranks out")
        self.expect(2, "bench", "assembly", deck, "--set", "device.ranks=2", says="bench would ignore it")

    def test_options_of_other_kinds(self):
        deck = self.write("one.ini", POISSON.format(cells=4))
        for words, told in ((("hpcg", "16", "16", "16", "--backend", "cuda"), "bench hpcg: --backend is for decks; give --device"),
                            (("vectors", "--backend", "cpu"), "bench vectors: --backend is for decks"),
                            (("kernels", "--set", "grid.cells=4"), "--set is an option of bench preconditioners, solve"),
                            (("solve", deck, "--unknowns", "8"), "--unknowns is an option of bench vectors alone"),
                            (("assembly", deck, "--cases", "star7:1:8"), "--cases is an option of bench kernels, preconditioners"),
                            (("multigrid", deck, "--device", "cpu"), "--device is for cases; give --backend")):
            with self.subTest(words[0]):
                self.expect(2, "bench", *words, says=told)

    def test_hpcg(self):
        found = self.bench("hpcg", "32", "16", "48")
        self.assertTrue(found["unofficial"] and found["passed"] and found["same_bits"])
        # Sweeps by colour converge differently, and the figure counts the reference's iterations.
        self.assertLessEqual(found["residual"], found["reference"]["residual"])
        self.assertTrue(40 < found["iterations"] < 65)
        n, count, sum_of = (32, 16, 48), found["iterations"], 0
        for grid in range(4):
            nonzeros = math.prod(3 * extent - 2 for extent in n)
            if grid == 0:
                sum_of += 4 * (3 * count + 1) * math.prod(n) + 2 * (count + 1) * nonzeros
            sum_of += count * (10 if grid < 3 else 4) * nonzeros
            n = tuple(extent // 2 for extent in n)
        self.assertAlmostEqual(found["operations"] / (sum_of * 50 / count), 1.0)
        self.assertAlmostEqual(found["gigaflops"] * 1e9 * found["solve"]["median"] / found["operations"], 1.0)
        self.assertIn("unofficial", self.expect(0, "bench", "hpcg", "16", "16", "16", "--repeats", "1").stdout)
        self.expect(2, "bench", "hpcg", "16", "20", "16", says="one is 20")
        self.expect(2, "bench", "hpcg", "16", "16", says="three extents")

    def test_a_set_up_that_fails_is_a_row(self):
        deck = self.write("a.ini", POISSON.format(cells=24))
        rows = self.bench("preconditioners", deck, "--preconditioners", "struct_ilu:fill_level=3,none", "--set",
                          "device.memory_limit=2")["systems"][0]["preconditioners"]
        self.assertIn("out of memory", rows[0]["refused"])
        self.assertNotIn("refused", rows[1])

    def test_what_cannot_fit_is_refused_before_it_is_allocated(self):
        limit = few_addresses(8 << 30)  # where it is allocated after all, the machine keeps its memory
        unknowns, vectors = 2**31 - 1, 21  # the most that the option takes, which a large machine may hold
        left = self.run_json(0, "check", self.write("a.ini", POISSON.format(cells=4)), "--backend", "cpu")["memory_left"]
        for words, says in ((("vectors", "--unknowns", f"1000,{unknowns}"), f"bench vectors: the vectors of {unknowns} unknowns take at least "),
                            (("kernels", "--cases", "star7:1:9,box27:32:99999"), "bench: box27:32:99999: matrix and vectors take at least "),
                            (("preconditioners", "--cases", "star7:1:10000:sym"), "bench: star7:1:10000:sym: matrix and vectors take at least "),
                            (("hpcg", "99992", "99992", "99992"), "bench hpcg: 99992 x 99992 x 99992 points take at least ")):
            if words[0] == "vectors" and 8 * vectors * unknowns < 2 * left:
                continue  # a bench of vectors that fit is in no message
            with self.subTest(words[0]):
                done = self.expect(6, "bench", *words, "--repeats", "1", says=says, limit=limit)
                self.assertIn(" left; ", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_what_preconditioners_refuse(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        for words, says in ((("--preconditioners", "ilut"), "'ilut'"),
                            (("--preconditioners", "struct_ilu:sweeps=3"), "sweeps"),
                            (("--cases", "star7:1:5", "--set", "solver.rtol=1"), "[solver]"),
                            (("--cases", "star7:1:5", "--backend", "cpu"), "--device"),
                            ((deck, "--cases", "star7:1:5"), "not both"), ((deck, "--device", "cpu"), "--backend")):
            self.expect(2, "bench", "preconditioners", *words, says=says)

    def test_a_case_that_lacks_symmetry_is_told_how_it_gets_it(self):
        row, = self.bench("preconditioners", "--cases", "star7:1:6", "--preconditioners", "chebyshev")["systems"][0]["preconditioners"]
        self.assertEqual(row["refused"], "chebyshev needs a symmetric matrix, which the case star7:1:6:sym has")
        row, = self.bench("preconditioners", "--cases", "star7:1:6:sym", "--preconditioners", "chebyshev")["systems"][0]["preconditioners"]
        self.assertNotIn("refused", row)

    def test_solve(self):
        deck = self.write("a.ini", POISSON.format(cells=20))
        found = self.bench("solve", deck, "--set", "solver.name=gmres", "--set", "solver.restart=4")
        row = found["solves"][0]
        vectors = sum(3 * (at % 4) + 11 for at in range(row["iterations"]))
        self.assertEqual(row["other_bytes"], vectors * 8 * 20**3)
        self.assertEqual(row["other_fewest_bytes"], row["other_bytes"])
        limit = row["other_bytes"] / found["copy_rate"]
        self.assertTrue(math.isclose(row["other_over_limit"], row["other"] / limit, rel_tol=1e-12))
        self.assertGreater(row["spmv"], 0.0)
        self.assertGreater(row["preconditioner_apply"], 0.0)
        self.assertGreater(row["first_setup"], 0.0)
        self.assertGreater(row["whole_setup"]["median"], 0.0)
        parts = row["spmv"] + row["preconditioner_apply"] + row["other"] + row["ends"]
        if row["other"] > 0.0:  # 0: the clocks took longer than the rest of the solve
            self.assertAlmostEqual(parts / row["solve"]["median"], 1.0)
        self.expect(3, "bench", "solve", deck, "--set", "solver.max_iterations=1", "--repeats", "1")


if __name__ == "__main__":
    unittest.main()
