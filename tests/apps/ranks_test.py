# SPDX-License-Identifier: BSD-3-Clause
"""run --ranks: several ranks give the record and the fields of one, and what does not work on them is refused."""

import json
import re
import signal
import unittest

from program import POISSON, TRANSPORT, ProgramTest, few_addresses

GRID = "[grid]\ncells = {cells}\n"

# Small enough grids that several are cut into the parts of ranks.
MULTIGRID = "[preconditioner]\nname = multigrid\ncoarsest_points = 12\nreplicated_points = 0\n"

# Every problem, every solver and every preconditioner that works on ranks, on odd extents.
DECKS = {
    "poisson": POISSON,
    "poisson_pipelined": POISSON.replace("name = cg", "name = pipelined_cg"),
    "poisson_none": POISSON + "[preconditioner]\nname = none\n",
    "poisson_chebyshev": POISSON + "[preconditioner]\nname = chebyshev\n",
    "poisson_richardson": POISSON.replace("name = cg", "name = richardson\nmax_iterations = 20")
    + "[preconditioner]\nname = jacobi\nl1 = true\n",
    "poisson_box27": POISSON.replace("[grid]", "stencil = box27\n[grid]\nlengths = 6 4 8") + "[preconditioner]\nfill_level = 1\n",
    "poisson_neumann": POISSON.replace("[grid]", "discretisation = cell\nboundary_condition = neumann\n[grid]"),
    "poisson_single": POISSON + "[preconditioner]\nstorage = single\n",
    "poisson_half": POISSON + "[preconditioner]\nname = multicolor\nstorage = half_scaled\n",
    "poisson_greedy": POISSON + "[preconditioner]\nname = multicolor\ncolours = greedy\n",
    "poisson_hashed": POISSON + "[preconditioner]\nname = multicolor\ncolours = hashed\n",
    "poisson_swept_colours": POISSON + "[preconditioner]\nname = multicolor\ntriangular_solve = jacobi\nstorage = single\n",
    "poisson_swept_subdomains": POISSON + "[preconditioner]\nname = subdomain_ildu0\nsubdomain = 4 3 2\n"
    + "triangular_solve = jacobi\n",
    "poisson_multigrid_single": POISSON + MULTIGRID + "storage = single\n",
    "poisson_random": POISSON.replace("[grid]", "discretisation = cell\ncoefficient = lognormal\n[grid]"),
    "poisson_par_ilu": POISSON + "[preconditioner]\nname = par_ilu\n",
    "poisson_fgbilu": POISSON + "[preconditioner]\nname = fgbilu\n",
    "poisson_sweeps": POISSON.replace("name = cg", "name = fgmres") + "[preconditioner]\nname = jacobi_sweeps\n",
    "poisson_multicolor": POISSON.replace("[grid]", "stencil = box27\n[grid]\nlengths = 6 4 8")
    + "[preconditioner]\nname = multicolor\n",
    "poisson_subdomains": POISSON + "[preconditioner]\nname = subdomain_ildu0\nsubdomain = 4 3 2\n",
    "poisson_periodic": POISSON.replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = x y"),
    "poisson_periodic_z": POISSON.replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = z"),
    "poisson_cells_periodic": POISSON.replace("[grid]", "discretisation = cell\ncoefficient = lognormal\n[grid]\nperiodic = y z")
    + "[preconditioner]\nname = multicolor\n",
    "poisson_neumann_periodic": POISSON.replace(
        "[grid]", "discretisation = cell\nboundary_condition = neumann\nright_hand_side = random\n[grid]\nperiodic = z")
    + "[preconditioner]\nname = subdomain_ildu0\nsubdomain = 4 3 2\n",
    "poisson_multigrid_periodic_z": POISSON.replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = z") + MULTIGRID,
    "poisson_multigrid": POISSON + MULTIGRID,
    "poisson_multigrid_subdomains": POISSON + MULTIGRID + "[smoother]\nname = subdomain_ildu0\nsubdomain = 4 4 2\n",
    "poisson_multigrid_neumann": POISSON.replace("[grid]", "discretisation = cell\nboundary_condition = neumann\n[grid]") + MULTIGRID
    + "cycle = w\n[smoother]\nname = chebyshev\n",
    "poisson_multigrid_weak": POISSON.replace("[grid]", "discretisation = cell\ncoefficient = aniso\ncoefficient_scale = 1 30 900\n[grid]")
    + MULTIGRID,
    "poisson_multigrid_periodic": POISSON.replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = x y") + MULTIGRID
    + "[smoother]\nname = multicolor\n",
    # A set-up serves several steps, whose matrices are not that of the set-up; every rank has the finest grid as a whole.
    "cahn_hilliard_multigrid_reused": "[problem]\nname = cahn_hilliard\nfields = one\nsigma = 0\ninitial_condition = random\n" + GRID
    + "periodic = z\n[time]\ntime_step = 1e-5\nsteps = 3\n[newton]\nrefresh = 2\n" + MULTIGRID + "[smoother]\nname = jacobi\n",
    "euler_multigrid_reused": "[problem]\nname = euler\njacobian = upwind2\npreconditioner_jacobian = same\n" + GRID
    + "[time]\ncfl = 1\nsteps = 2\n[newton]\nrefresh = grown\n" + MULTIGRID + "[smoother]\nname = jacobi\n",
    "transport_multigrid": TRANSPORT.replace("{steps}", "2") + MULTIGRID + "cycle = f\n",
    "navier_stokes_multigrid": "[problem]\nname = navier_stokes\n" + GRID + "[time]\nsteps = 2\n" + MULTIGRID,
    "transport": TRANSPORT.replace("{steps}", "2"),
    "transport_periodic": TRANSPORT.replace("{steps}", "2").replace("[grid]", "wind = const\n[grid]\nperiodic = x y z"),
    "transport_bicgstab": TRANSPORT.replace("{steps}", "2").replace("gmres", "bicgstab"),
    "transport_multicolor": TRANSPORT.replace("{steps}", "2") + "[preconditioner]\nname = multicolor\n",
    "block": "[problem]\nname = block_laplacian\n" + GRID + "[solver]\nname = fgmres\n",
    "block_periodic": "[problem]\nname = block_laplacian\n" + GRID + "periodic = z\n[solver]\nname = bicgstab\n",
    "navier_stokes": "[problem]\nname = navier_stokes\n" + GRID + "[time]\nsteps = 2\n",
    "cavity": "[problem]\nname = artificial_compressibility\nscalars = 1\n" + GRID + "[time]\nsteps = 2\n",
    "cavity_coupled": "[problem]\nname = artificial_compressibility\nsets = 2\ncoupling = householder\n" + GRID
    + "[time]\nsteps = 2\n",
    "cavity_multicolor": "[problem]\nname = artificial_compressibility\n" + GRID
    + "[time]\nsteps = 2\n[preconditioner]\nname = multicolor\n",
    "cavity_subdomains": "[problem]\nname = artificial_compressibility\nsets = 2\ncoupling = householder\n" + GRID
    + "[time]\nsteps = 2\n[preconditioner]\nname = subdomain_ildu0\nsubdomain = 7 5 2\n",
    "euler": "[problem]\nname = euler\n" + GRID + "[time]\nsteps = 2\n",
    "euler_periodic": "[problem]\nname = euler\ncase = taylor_green\njacobian = first\n" + GRID + "[time]\ncfl = 1\nsteps = 2\n",
    "cahn_hilliard_periodic": "[problem]\nname = cahn_hilliard\nsigma = 0\ninitial_condition = random\n" + GRID
    + "periodic = x z\n[time]\ntime_step = 1e-6\nsteps = 2\n",
    "cahn_hilliard_long_range": "[problem]\nname = cahn_hilliard\nsigma = 100\ninitial_condition = random\n" + GRID
    + "periodic = z\n[time]\ntime_step = 1e-6\nsteps = 2\n",
    "cahn_hilliard_long_range_1": "[problem]\nname = cahn_hilliard\nfields = one\nsigma = 100\n" + GRID
    + "[time]\ntime_step = 1e-6\nsteps = 2\n",
    "cahn_hilliard": "[problem]\nname = cahn_hilliard\nsigma = 0\n" + GRID + "[time]\ntime_step = 1e-6\nsteps = 2\n",
    "cahn_hilliard_1": "[problem]\nname = cahn_hilliard\nfields = one\nsigma = 0\n" + GRID + "[time]\ntime_step = 1e-6\nsteps = 2\n",
}


class Ranks(ProgramTest):
    def run_ranks(self, deck, ranks, output, *words):
        return self.run_program("run", deck, "--ranks", str(ranks), "--backend", "cpu", "--quiet", "--set",
                                f"output.file={output}", "--set", "output.fields=true", *words)

    def test_every_problem_and_solver(self):
        for name, text in DECKS.items():
            with self.subTest(name):
                deck = self.write("deck.ini", text.format(cells="7 5 9"))
                one = self.run_ranks(deck, 1, "one.h5", "--force")
                self.assertIn(one.returncode, (0, 3), one.stderr)
                fields = (self.folder / "one.vtkhdf").read_bytes()
                for ranks in (2, 3, 4):
                    several = self.run_ranks(deck, ranks, "several.h5", "--force")
                    self.assertEqual(several.returncode, one.returncode, several.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")
                    self.assertEqual((self.folder / "several.vtkhdf").read_bytes(), fields)

    def test_threads_do_not_matter_on_ranks_either(self):
        for text in (POISSON, POISSON + MULTIGRID):
            deck = self.write("deck.ini", text.format(cells="33 35 31"))
            for ranks, threads in ((1, 1), (2, 1), (2, 2)):
                done = self.run_ranks(deck, ranks, f"{ranks}_{threads}.h5", "--threads", str(threads), "--force")
                self.assertEqual(done.returncode, 0, done.stderr)
            self.expect(0, "diff", "1_1.h5", "2_1.h5", "--tolerance", "0")
            self.expect(0, "diff", "1_1.h5", "2_2.h5", "--tolerance", "0")

    def test_multigrid_on_several_grids(self):
        aniso = POISSON.replace("[grid]", "discretisation = cell\ncoefficient = aniso\ncoefficient_scale = 1 1 100\n[grid]")
        box = POISSON.replace("[grid]", "stencil = box27\n[grid]\nlengths = 18 16 36")
        for name, text, planes in (("multigrid", POISSON + MULTIGRID, 37),
                                   ("of 34 planes the first rank has more coarse ones", POISSON + MULTIGRID, 34),
                                   ("weak", aniso + MULTIGRID.replace("= 0", "= 300"), 37),
                                   ("box", box + MULTIGRID + "cycle = w\n", 37)):
            deck = self.write("deck.ini", text.format(cells=f"19 17 {planes}"))
            self.assertEqual(self.run_ranks(deck, 1, "one.h5", "--force").returncode, 0, name)
            for ranks in (2, 3, 4):
                with self.subTest(f"{name} on {ranks}"):
                    done = self.run_ranks(deck, ranks, "several.h5", "--force", "--json")
                    of_first_rank = json.loads(done.stdout)["memory"]
                    plan = self.run_json(0, "check", deck, "--ranks", str(ranks), "--backend", "cpu")["memory"]
                    self.assertLessEqual(of_first_rank["peak"], plan["most"] + 100)
                    self.assertLessEqual(of_first_rank["predicted"], plan["predicted"])
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")

    def test_check_predicts_the_memory_of_a_rank(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 10"))
        plan = json.loads(self.expect(0, "check", deck, "--ranks", "2", "--backend", "cpu", "--json").stdout)
        memory = json.loads(self.run_ranks(deck, 2, "two.h5", "--json").stdout)["memory"]
        self.assertEqual((plan["ranks"], plan["memory"]["predicted"]), (2, memory["predicted"]))
        self.assertLess(memory["peak"] - memory["predicted"], 100)  # a few scalars
        self.expect(2, "check", deck, "--ranks", "11", "--backend", "cpu", says="give 10 ranks or fewer")
        # With 10 planes in subdomains of 4, the first of two ranks has 4 planes and the second 6; the last of three has 2.
        for ranks in ("2", "3"):
            words = ("--ranks", ranks, "--backend", "cpu", "--json", "--set", "preconditioner.name=subdomain_ildu0", "--set",
                     "preconditioner.subdomain=7 5 4")
            plan = json.loads(self.expect(0, "check", deck, *words).stdout)
            planes = 6 if ranks == "2" else 4
            self.assertEqual(plan["memory"]["by_label"]["state, b, correction"], 3 * 8 * 35 * (planes + 2))

    def test_check_predicts_the_memory_of_what_ranks_hold_besides(self):
        # Of these two ranks each has five of ten planes, so the first one needs what is predicted.
        cells = POISSON.replace("[grid]", "discretisation = cell\ncoefficient = lognormal\n[grid]")
        for name, text in {
            "coefficient": cells,
            "jacobi": POISSON + "[preconditioner]\nname = jacobi\nstorage = half_scaled\n",
            "single": POISSON + "[preconditioner]\nfill_level = 1\nstorage = single\n",
            "half": POISSON + "[preconditioner]\nname = par_ilu\nstorage = half_scaled\n",
            "colours": POISSON + "[preconditioner]\nname = multicolor\nstorage = single\n",
            "greedy": POISSON + "[preconditioner]\nname = multicolor\ncolours = greedy\n",
            "swept colours": POISSON + "[preconditioner]\nname = multicolor\ntriangular_solve = jacobi\n",
            "subdomains": POISSON + "[preconditioner]\nname = subdomain_ildu0\nsubdomain = 7 6 5\nstorage = single\n",
            "swept subdomains": POISSON + "[preconditioner]\nname = subdomain_ildu0\nsubdomain = 7 6 5\ntriangular_solve = jacobi\n",
            "periodic": cells.replace("[grid]", "[grid]\nperiodic = z"),
            "series": TRANSPORT.replace("{steps}", "1") + "[output]\nfields_every = 1\n",
            "long range": "[problem]\nname = cahn_hilliard\nsigma = 100\n" + GRID + "[time]\ntime_step = 1e-6\nsteps = 1\n",
        }.items():
            with self.subTest(name):
                deck = self.write("deck.ini", text.format(cells="7 6 10"))
                plan = self.run_json(0, "check", deck, "--ranks", "2", "--backend", "cpu")["memory"]
                done = self.run_ranks(deck, 2, "two.h5", "--json", "--force")
                self.assertIn(done.returncode, (0, 3), done.stderr)
                memory = json.loads(done.stdout)["memory"]
                self.assertEqual(plan["predicted"], memory["predicted"])
                # A few scalars, of gmres more than of cg, and the log of rounding.
                self.assertLess(memory["peak"] - memory["predicted"], 1100 if name == "long range" else 400)

    def test_record_and_verdict_say_what_ran(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        done = self.run_ranks(deck, 3, "three.h5", "--threads", "1")
        self.assertIn("cpu, 3 ranks of 1 thread", done.stdout)
        environment = self.record("three.h5")["environment"]
        self.assertEqual((environment["ranks"], environment["threads"]), ("3", "1"))

    def test_rank_scope_takes_more_iterations_and_the_verdict_says_why(self):
        deck = self.write("deck.ini", POISSON.format(cells="15 15 16"))
        count = {}
        for scope in ("global", "rank"):
            done = self.run_ranks(deck, 4, f"{scope}.h5", "--set", f"preconditioner.scope={scope}")
            self.assertEqual(done.returncode, 0, done.stderr)
            count[scope] = int(re.search(r"^iterations +(\d+)", done.stdout, re.M).group(1))
            self.assertEqual("couplings between ranks are dropped" in done.stdout, scope == "rank", done.stdout)
        self.assertGreater(count["rank"], count["global"])
        # Of star7 on 15 x 15 x 16 points three cuts divide 2 x 225 entries each.
        dropped = "1350 of the matrix's 23790 entries"
        self.assertIn(f"are dropped (scope = rank), {dropped}, which costs iterations", done.stdout)
        self.assertEqual(self.record("rank.h5")["environment"]["dropped_couplings"], dropped)
        self.assertNotIn("dropped_couplings", self.record("global.h5")["environment"])
        self.assertIn(f"between ranks are dropped (scope = rank): {dropped}\n", self.expect(0, "info", "rank.h5").stdout)
        self.assertNotIn("dropped", self.expect(0, "info", "global.h5").stdout)
        self.expect(0, "report", "global.h5", "rank.h5", "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIsNotNone(re.search("couplings between ranks dropped</th>.{,40}none.{,60}1350 of the matrix", page))
        smoothed = self.run_ranks(deck, 4, "smoothed.h5", "--set", "preconditioner.name=multigrid", "--set", "smoother.scope=rank")
        self.assertEqual(smoothed.returncode, 0, smoothed.stderr)
        self.assertIn(f"couplings between ranks are dropped (scope = rank), {dropped}", smoothed.stdout)
        for ranks, periodic in ((4, "z"), (1, "none")):  # every rank has all grids as a whole
            whole = self.run_ranks(deck, ranks, "whole.h5", "--force", "--set", "preconditioner.name=multigrid", "--set",
                                   "smoother.scope=rank", "--set", f"grid.periodic={periodic}")
            self.assertEqual(whole.returncode, 0, whole.stderr)
            self.assertNotIn("couplings between ranks are dropped", whole.stdout)

    def test_refusals_name_key_reason_and_remedy(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 3"))
        for words, expected in (
            (("--ranks", "4"), ("3 planes along z", "3 ranks or fewer")),
            (("--ranks", "2", "--set", "preconditioner.name=sync_free_ilu"),
             ("preconditioner.name", "takes general matrices alone", "matrix.format = general", "struct_ilu")),
            (("--ranks", "2", "--set", "matrix.format=general", "--set", "preconditioner.name=struct_ilu", "--set", "grid.cells=21,23,19"),
             ("preconditioner.name", "takes matrices on a grid alone", "sync_free_ilu")),
            (("--ranks", "2", "--set", "preconditioner.name=multigrid", "--set", "smoother.name=multicolor", "--set",
              "smoother.triangular_solve=jacobi", "--set", "smoother.solve_mode=block_async"),
             ("smoother.solve_mode", "sync")),
            (("--ranks", "2", "--set", "preconditioner.name=multigrid", "--set", "preconditioner.storage=single", "--set",
              "preconditioner.vectors=single"), ("preconditioner.vectors", "double")),
            (("--ranks", "2", "--set", "matrix.format=general", "--set", "preconditioner.name=jacobi"),
             ("device.ranks = 2", "one rank")),
            (("--ranks", "2", "--set", "preconditioner.name=multicolor", "--set", "preconditioner.triangular_solve=jacobi",
              "--set", "preconditioner.solve_mode=block_async"), ("preconditioner.solve_mode", "sync")),
            (("--ranks", "2", "--set", "preconditioner.name=fgbilu", "--set", "preconditioner.style=kernels"),
             ("preconditioner.style", "blocks")),
            (("--ranks", "2", "--set", "preconditioner.name=subdomain_ildu0"),
             ("subdomains keep groups of 3", "preconditioner.subdomain")),
            (("--ranks", "2", "--set", "device.layout=hyperplane"), ("device.layout", "natural")),
            (("--ranks", "two"), ("ranks",)),
        ):
            with self.subTest(words):
                done = self.expect(2, "run", deck, "--backend", "cpu", *words, says=expected)
                self.assertFalse((self.folder / "deck.h5").exists())
                if "takes general matrices alone" in expected:  # it works on ranks, too, so nothing may say otherwise
                    self.assertNotIn("does not work on several ranks", done.stderr)

    def test_compare_gives_the_iterations_and_the_system_of_one_rank(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        tables = self.compared_on_one_and_three_ranks(
            deck, "struct_ilu,multicolor,subdomain_ildu0:subdomain=7 5 2,multigrid")
        self.assertEqual(tables[1]["system"]["device"], "cpu, 3 ranks of 1 thread")

    def test_comparison_tells_what_is_dropped_of_couplings(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        words = ("compare", deck, "--preconditioners", "struct_ilu,struct_ilu:scope=rank", "--ranks", "3", "--backend", "cpu", "--threads",
                 "1", "--reps", "1", "--quiet")
        told = "couplings between ranks (scope = rank), 140 of the matrix's 1919 entries"
        self.assertIn(f"dropped       cg+struct_ilu:scope=rank: {told}\n", self.expect(0, *words).stdout)
        self.assertIn(told, self.expect(0, "info", "deck_compare.h5").stdout)
        table = json.loads(self.expect(0, *words, "--json", "-").stdout)["candidates"]
        self.assertEqual({row["preconditioner"]: row.get("dropped_couplings") for row in table},
                         {"struct_ilu": None, "struct_ilu:scope=rank": "140 of the matrix's 1919 entries"})

    def test_comparison_leaves_out_alone_what_its_grid_cannot_be_cut_for(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))  # as one subdomain, by default
        table = json.loads(self.expect(0, "compare", deck, "--preconditioners", "jacobi,subdomain_ildu0", "--ranks", "2", "--backend",
                                       "cpu", "--threads", "1", "--reps", "1", "--quiet", "--json", "-").stdout)
        found = {row["preconditioner"]: row for row in table["candidates"]}
        self.assertEqual(found["jacobi"]["outcome"], "converged_rtol")
        self.assertEqual(found["subdomain_ildu0"]["outcome"], "refused")
        self.assertIn("9 planes along z must stay together", found["subdomain_ildu0"]["reason"])

    def test_stopped_comparison_goes_on_with_ranks(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        words = ("compare", deck, "--preconditioners", "struct_ilu,jacobi", "--ranks", "2", "--backend", "cpu", "--reps", "2",
                 "--threads", "1", "--quiet", "--json", "-")
        stopped = self.run_program(*words, stop_at=f"20:{int(signal.SIGTERM)}")
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        done = json.loads(self.expect(0, *words).stdout)
        self.assertEqual([row["outcome"] for row in done["candidates"]], ["converged_rtol"] * 2)

    def test_the_deck_says_the_number_of_ranks_and_a_study_sweeps_it(self):
        deck = POISSON.format(cells="7 5 9") + "[device]\nbackend = cpu\n"
        self.expect(0, "run", self.write("two.ini", deck + "ranks = 2\n"), "--quiet")
        self.assertEqual(self.record("two.h5")["environment"]["ranks"], "2")
        self.expect(0, "run", "two.h5", "--ranks", "3", "--set", "output.file=three.h5", "--quiet")
        self.assertEqual(self.record("three.h5")["environment"]["ranks"], "3")
        self.expect(2, "run", "two.ini", "--set", "device.ranks=10", says="9 ranks or fewer")
        self.expect(0, "bench", "assembly", "two.ini", "--repeats", "1", says="device.ranks applies to hyperplane run; bench leaves it out")
        self.expect(0, "export", "two.ini", says="device.ranks applies to hyperplane run; export leaves it out")
        for verb in (("bench", "assembly"), ("export",)):
            self.expect(2, *verb, "two.ini", "--set", "device.ranks=2", says=f"{verb[0]} would ignore it")

        study = self.write("scaling.ini", deck + "[sweep]\nfolder = s\ndevice.ranks = 1, 2, 3\n")
        plan = json.loads(self.expect(0, "study", "plan", study, "--json").stdout)["cases"]
        self.assertLess(plan[0]["memory"], plan[1]["memory"])
        self.assertEqual(plan[1]["memory"], 2 * json.loads(self.expect(0, "check", "two.ini", "--json").stdout)["memory"]["predicted"])
        self.expect(0, "study", "run", study, "--quiet")
        self.expect(2, "run", study, "--case", "ranks=2", "--ranks", "3", says="edit the study instead")
        for ranks in (1, 2, 3):
            self.assertEqual(self.record(f"s/ranks={ranks}.h5")["environment"].get("ranks", "1"), str(ranks))
            self.expect(0, "diff", "two.h5", f"s/ranks={ranks}.h5", "--tolerance", "0")

    def test_error_on_one_rank_ends_all(self):
        deck = self.write("deck.ini", POISSON.format(cells="33 35 31"))
        # Rank 0 has 15 of the planes and rank 1 has 16, so that a little more than rank 0 needs is too little for rank 1.
        enough = json.loads(self.run_ranks(deck, 2, "enough.h5", "--json").stdout)["memory"]["peak"]
        done = self.run_ranks(deck, 2, "limited.h5", "--set", f"device.memory_limit={1.02 * enough / 2**20}")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("rank 1: out of memory", done.stderr)
        self.assertEqual(self.record("limited.h5")["exit_code"], 6)

    def test_the_limit_of_memory_is_a_rank_s(self):
        deck = self.write("deck.ini", POISSON.format(cells=24))
        held = self.expect(0, "compare", deck, "--preconditioners", "jacobi", "--ranks", "2", "--backend", "cpu", "--reps", "1",
                           "--json", "-")
        peak = max(row["memory"]["peak"] for row in json.loads(held.stdout)["candidates"])
        for share, code in ((1.5, 0), (0.5, 3)):
            limit = f"device.memory_limit={share * peak / 2**20}"
            self.expect(code, "compare", deck, "--preconditioners", "jacobi", "--ranks", "2", "--backend", "cpu", "--reps", "1",
                        "--set", limit)
            for verb in ("check", "run"):
                self.expect(6 if code else 0, verb, deck, "--ranks", "2", "--backend", "cpu", "--set", limit,
                            *(["--fresh"] if verb == "run" else []))

    def test_a_system_without_more_threads_is_an_error(self):
        deck = self.write("deck.ini", POISSON.format(cells="4 4 600"))
        done = self.run_program("run", deck, "--ranks", "500", "--backend", "cpu", limit=few_addresses(1_500_000_000))
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, "out of memory: the system starts no thread for rank [0-9]+ of 500 .*; ask for fewer ranks")

    def test_too_many_ranks_are_refused_before_any_thread_is_started(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        general = self.write("general.ini", (self.folder / deck).read_text() + "[matrix]\nformat = general\n")
        for words, told in ((("run", deck), "the grid has 9 planes along z, and each rank needs 1 or more; give 9 ranks or fewer"),
                            (("compare", deck, "--preconditioners", "jacobi"), "give 9 ranks or fewer"),
                            (("bench", "solve", deck), "give 9 ranks or fewer"),
                            (("run", general), "device.ranks = 65536: ranks that neither mpirun nor srun has started are threads")):
            done = self.run_program(*words, "--ranks", "65536", "--backend", "cpu", limit=few_addresses(1_500_000_000))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(told, done.stderr)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)

    def test_preempted_run_goes_on_with_another_number_of_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=4))
        whole = self.run_ranks(deck, 1, "whole.h5")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for first, then in ((1, 3), (3, 2), (2, 1)):
            with self.subTest(f"{first} ranks, then {then}"):
                name = f"{first}_{then}.h5"
                stopped = self.run_program("run", deck, "--ranks", str(first), "--backend", "cpu", "--quiet", "--set",
                                           f"output.file={name}", stop_at=f"17:{int(signal.SIGTERM)}")
                self.assertEqual(stopped.returncode, 75, stopped.stderr)
                done = self.run_ranks(deck, then, name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect(0, "diff", "whole.h5", name, "--tolerance", "0")

    def test_a_long_set_up_is_stopped_on_all_ranks_between_its_parts(self):
        deck = self.write("deck.ini", POISSON.format(cells="100 100 101") + "rtol = 1e-2\n[preconditioner]\nname = multigrid\n")
        self.assertEqual(self.run_ranks(deck, 1, "whole.h5").returncode, 0)
        for look, then in ((4, 2), (9, 1), (20, 3)):  # the assembly's end, the coarse grids, their smoothers
            stopped = self.run_program("run", deck, "--ranks", "3", "--backend", "cpu", "--quiet", "--fresh", "--set",
                                       "output.file=part.h5", stop_at=f"{look}:{int(signal.SIGTERM)}")
            self.assertEqual(stopped.returncode, 75, stopped.stderr)
            self.assertEqual(self.record("part.h5")["solves"], [])
            done = self.run_ranks(deck, then, "part.h5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")

    def test_checkpoints_within_a_solve_restart_on_another_number_of_ranks(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9") + "[output]\ncheckpoint_minutes = 1e-9\n")
        self.assertEqual(self.run_ranks(deck, 1, "whole.h5", "--set", "output.checkpoint_minutes=1e6").returncode, 0)
        for first, then in ((1, 3), (3, 2), (2, 1)):
            with self.subTest(f"{first} ranks, then {then}"):
                name = f"{first}_{then}.h5"
                killed = self.run_program("run", deck, "--ranks", str(first), "--backend", "cpu", "--quiet", "--set",
                                          f"output.file={name}", stop_at=f"9:{int(signal.SIGKILL)}")
                self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
                done = self.run_ranks(deck, then, name, "--restart")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect(0, "diff", "whole.h5", name, "--tolerance", "0")
                self.assertEqual((self.folder / f"{first}_{then}.vtkhdf").read_bytes(), (self.folder / "whole.vtkhdf").read_bytes())

    def test_checkpoints_restart_on_another_number_of_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=4) + "[output]\ncheckpoint_every = 1\n")
        self.assertEqual(self.run_ranks(deck, 1, "whole.h5").returncode, 0)
        stopped = self.run_program("run", deck, "--ranks", "3", "--backend", "cpu", "--quiet", "--set",
                                   "output.file=part.h5", stop_at=f"17:{int(signal.SIGTERM)}")
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        (self.folder / "part.h5").unlink()
        done = self.run_ranks(deck, 2, "part.h5", "--restart")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")


if __name__ == "__main__":
    unittest.main()
