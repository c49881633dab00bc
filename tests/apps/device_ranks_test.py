# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on GPUs, which they share where there are fewer: the records and the fields of one GPU."""

import json

from device_test import BLOCKS, why_no_gpu
from program import POISSON, TRANSPORT, ProgramTest, main_unless
from ranks_test import DECKS as RANKS_DECKS

# What the tests below run on ranks: the decks that ranks on CPUs run, with other preconditioners.
BASES = {name: text.split("[preconditioner]")[0] for name, text in RANKS_DECKS.items()}
POISSONS = ("poisson", "poisson_box27", "poisson_neumann", "poisson_random")
POISSONS_BY_OTHERS = ("poisson_pipelined", "poisson_richardson", "poisson_sweeps", "poisson_multigrid_weak")
OTHERS = ("transport", "transport_bicgstab", "block")
MIXTURES = ("cahn_hilliard", "cahn_hilliard_1", "cahn_hilliard_long_range", "cahn_hilliard_long_range_1")
FLOWS = ("navier_stokes", "euler")
REUSED = ("cahn_hilliard_multigrid_reused", "euler_multigrid_reused")
CAVITIES = ("cavity", "cavity_coupled", "cavity_multicolor")
PERIODIC = ("poisson_periodic", "poisson_periodic_z", "poisson_cells_periodic", "poisson_neumann_periodic", "transport_periodic",
            "block_periodic", "euler_periodic", "cahn_hilliard_periodic")
# Sums follow the planes of the natural layout, which one GPU must be told to take.
STRUCT_ILU = "name = struct_ilu\n[device]\nlayout = natural"
FGBILU = "name = fgbilu\n[device]\nlayout = natural"
# Small enough grids that several are cut into the parts of ranks.
MULTIGRID = "name = multigrid\ncoarsest_points = 12\nreplicated_points = 0\n[device]\nlayout = natural"


def in_turn(cases, several=(2, 3)):
    """(case, numbers of ranks to run it on): each case on one of `several` in turn, or on all where the cases are fewer. A
    start of the program on a GPU that others use takes seconds; tests of precond have every preconditioner on all of them."""
    return [(case, several if len(cases) < len(several) else several[at % len(several):][:1]) for at, case in enumerate(cases)]


class OnGpuRanks(ProgramTest):
    """A test that runs decks on ranks."""

    def run_ranks(self, deck, ranks, output, *words, backend="cuda"):
        return self.run_program("run", deck, "--ranks", str(ranks), "--backend", backend, "--quiet", "--force", "--set",
                                f"output.file={output}", "--set", "output.fields=true", *words)


class GpuRanks(OnGpuRanks):
    """Ranks on GPUs, which they share where there are fewer."""

    def has_the_bits_of_one(self, choice, *problems):
        """Runs problems with a [preconditioner] on one, and on two or three ranks: same records and fields."""
        for name, several_ranks in in_turn(problems):
            with self.subTest(name=name, choice=choice):
                deck = self.write("deck.ini", BASES[name].format(cells="7 5 9") + f"[preconditioner]\n{choice}\n")
                one = self.run_ranks(deck, 1, "one.h5")
                self.assertIn(one.returncode, (0, 3), one.stderr)
                fields = (self.folder / "one.vtkhdf").read_bytes()
                for ranks in several_ranks:
                    several = self.run_ranks(deck, ranks, "several.h5")
                    self.assertEqual(several.returncode, one.returncode, several.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")
                    self.assertEqual((self.folder / "several.vtkhdf").read_bytes(), fields)

    # Each test runs few problems, so that it ends within a minute beside fifteen others, kernels compiled.
    def test_jacobi_of_poisson(self):
        self.has_the_bits_of_one("name = jacobi", *POISSONS)

    def test_jacobi_of_poisson_with_other_solvers(self):
        self.has_the_bits_of_one("name = jacobi", *POISSONS_BY_OTHERS)

    def test_jacobi_of_other_problems(self):
        self.has_the_bits_of_one("name = jacobi", *OTHERS)

    def test_jacobi_of_flows(self):
        self.has_the_bits_of_one("name = jacobi", *FLOWS)

    def test_jacobi_of_cavities(self):
        self.has_the_bits_of_one("name = jacobi", *CAVITIES)

    def test_jacobi_of_mixtures(self):
        self.has_the_bits_of_one("name = jacobi", *MIXTURES)

    def test_struct_ilu_of_poisson(self):
        self.has_the_bits_of_one(STRUCT_ILU, *POISSONS)

    def test_struct_ilu_of_poisson_with_other_solvers(self):
        self.has_the_bits_of_one(STRUCT_ILU, *POISSONS_BY_OTHERS)

    def test_struct_ilu_of_other_problems(self):
        self.has_the_bits_of_one(STRUCT_ILU, *OTHERS)

    def test_struct_ilu_of_flows(self):
        self.has_the_bits_of_one(STRUCT_ILU, *FLOWS)

    def test_struct_ilu_of_cavities(self):
        self.has_the_bits_of_one(STRUCT_ILU, *CAVITIES)

    def test_struct_ilu_of_mixtures(self):
        self.has_the_bits_of_one(STRUCT_ILU, *MIXTURES)

    def test_struct_ilu_with_fill(self):
        self.has_the_bits_of_one("fill_level = 1\n" + STRUCT_ILU, "transport")

    def test_fgbilu_of_poisson(self):
        self.has_the_bits_of_one(FGBILU, "poisson", "poisson_box27", "poisson_periodic_z")

    def test_fgbilu_of_other_problems(self):
        self.has_the_bits_of_one(FGBILU, "transport", "block", "cahn_hilliard_1", "cavity")

    def test_fixed_point_sweeps(self):
        self.has_the_bits_of_one("name = par_ilu\n[device]\nlayout = natural", "poisson", "poisson_box27", "block")
        self.has_the_bits_of_one("name = par_ilu\ntriangular_solve = jacobi", "poisson_periodic", "transport")

    def test_jacobi_sweeps(self):
        self.has_the_bits_of_one("name = jacobi_sweeps", "poisson", "transport", "cavity")

    def test_subdomains_and_none(self):
        for choice in ("name = subdomain_ildu0\nsubdomain = 7 5 2", "name = none"):
            self.has_the_bits_of_one(choice, "poisson", "transport")

    def test_factors_in_reduced_precision(self):
        self.has_the_bits_of_one("storage = single\n" + STRUCT_ILU, "poisson", "block")
        self.has_the_bits_of_one("storage = half_scaled\n" + FGBILU, "poisson", "block")
        self.has_the_bits_of_one("name = multicolor\nstorage = half_scaled", "cahn_hilliard")
        self.has_the_bits_of_one("name = subdomain_ildu0\nsubdomain = 7 5 2\nstorage = single", "poisson")

    def test_multigrid_in_reduced_precision(self):
        for storage in ("single", "half_scaled"):
            self.has_the_bits_of_one(MULTIGRID.replace("\n", f"\nstorage = {storage}\n", 1), "poisson", "poisson_neumann")

    def test_multicolor_of_poisson(self):
        self.has_the_bits_of_one("name = multicolor", "poisson", "poisson_box27", "poisson_pipelined")

    def test_multicolor_of_other_problems(self):
        self.has_the_bits_of_one("name = multicolor", "transport", "block", "cahn_hilliard_1", "cavity")

    def test_colours_that_are_looked_up(self):
        self.has_the_bits_of_one("name = multicolor\ncolours = greedy", "poisson", "transport", "cahn_hilliard_1")
        self.has_the_bits_of_one("name = multicolor\ncolours = hashed", "poisson_box27", "poisson_pipelined", "block")

    def test_sweeps_over_colours_and_subdomains(self):
        self.has_the_bits_of_one("name = multicolor\ntriangular_solve = jacobi", "poisson", "transport", "block")
        self.has_the_bits_of_one("name = multicolor\ncolours = greedy\ntriangular_solve = jacobi\nstorage = single", "poisson")
        self.has_the_bits_of_one("name = subdomain_ildu0\nsubdomain = 7 5 2\ntriangular_solve = jacobi", "poisson", "transport")

    def test_multigrid_of_poisson(self):
        self.has_the_bits_of_one(MULTIGRID, *POISSONS)

    def test_multigrid_of_poisson_with_other_solvers(self):
        self.has_the_bits_of_one(MULTIGRID, *POISSONS_BY_OTHERS)

    def test_multigrid_of_other_problems(self):
        self.has_the_bits_of_one("cycle = f\n" + MULTIGRID, "transport")
        self.has_the_bits_of_one(MULTIGRID, "block", "navier_stokes")

    def test_multigrid_with_other_smoothers(self):
        for smoother in ("chebyshev", "multicolor", "jacobi", "jacobi_sweeps", "fgbilu"):
            self.has_the_bits_of_one(f"cycle = w\n{MULTIGRID}\n[smoother]\nname = {smoother}", "poisson", "poisson_periodic")

    def test_multigrid_with_subdomains(self):
        subdomains = f"{MULTIGRID}\n[smoother]\nname = subdomain_ildu0\nsubdomain = 7 5 2"
        self.has_the_bits_of_one(subdomains, "poisson", "poisson_box27", "block")
        self.has_the_bits_of_one("coarse_smoother = subdomain_ildu0\n" + MULTIGRID, "transport")
        self.has_the_bits_of_one(subdomains.replace("\n", "\nstorage = single\n", 1), "poisson")

    def test_chebyshev_and_periodic_axes(self):
        self.has_the_bits_of_one("name = chebyshev", "poisson", "poisson_periodic_z")
        self.has_the_bits_of_one("name = jacobi", "poisson_periodic")

    def test_set_ups_of_multigrid_that_serve_several_steps(self):
        self.has_the_bits_of_one(f"{MULTIGRID}\n[smoother]\nname = jacobi", *REUSED)

    def test_jacobi_around_z(self):
        self.has_the_bits_of_one("name = jacobi", *PERIODIC)

    def test_struct_ilu_around_z(self):
        self.has_the_bits_of_one(STRUCT_ILU, "poisson_cells_periodic", "transport_periodic", "euler_periodic", "cahn_hilliard_periodic")

    def test_colours_and_subdomains_around_z(self):
        for choice in ("name = multicolor", "name = subdomain_ildu0\nsubdomain = 7 5 2"):
            self.has_the_bits_of_one(choice, "poisson_periodic_z", "transport_periodic", "block_periodic")

    def test_jacobi_sweeps_around_z(self):
        for choice in ("name = jacobi_sweeps", "name = par_ilu\ntriangular_solve = jacobi", "name = multicolor\ntriangular_solve = jacobi"):
            self.has_the_bits_of_one(choice, "poisson_periodic_z", "transport_periodic", "block_periodic")
        self.has_the_bits_of_one("name = multicolor\ncolours = greedy", "poisson_periodic_z")

    def test_sweeps_and_multigrid_around_z(self):
        self.has_the_bits_of_one("name = par_ilu\n[device]\nlayout = natural", "poisson_periodic_z", "block_periodic")
        self.has_the_bits_of_one(MULTIGRID, "poisson_periodic_z", "poisson_cells_periodic")
        self.has_the_bits_of_one(f"{MULTIGRID}\n[smoother]\nname = multicolor", "poisson_periodic_z")

    def larger_grids(self, *names):
        for cells in ("64 64 64", "65 63 61"):  # even and odd planes
            for name in names:
                deck = self.write("deck.ini", POISSON.format(cells=cells) + f"[preconditioner]\nname = {name}\n"
                                  "[device]\nlayout = natural\n")
                self.assertEqual(self.run_ranks(deck, 1, "one.h5").returncode, 0)
                for turn in range(3):
                    several = self.run_ranks(deck, 2, "several.h5")
                    self.assertEqual(several.returncode, 0, several.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")

    def test_jacobi_and_subdomains_on_larger_grids(self):
        self.larger_grids("jacobi", "subdomain_ildu0")

    def test_multicolor_and_struct_ilu_on_larger_grids(self):
        self.larger_grids("multicolor", "struct_ilu")

    def test_sweeps_on_larger_grids(self):
        self.larger_grids("par_ilu", "jacobi_sweeps")

    def test_multigrid_on_larger_grids(self):
        self.larger_grids("multigrid", "multigrid\n[smoother]\nname = multicolor")

    def test_multigrid_with_subdomains_on_larger_grids(self):
        self.larger_grids("multigrid\n[smoother]\nname = subdomain_ildu0", "multigrid\nreplicated_points = 0\n[smoother]\nname = subdomain_ildu0")

    def test_scope_rank_drops_the_couplings_that_a_cpu_drops(self):
        self.drops_the_couplings_that_a_cpu_drops("[preconditioner]\nname = struct_ilu\nscope = rank\n")

    def test_smoothers_drop_the_couplings_that_a_cpu_drops(self):
        self.drops_the_couplings_that_a_cpu_drops(f"[preconditioner]\n{MULTIGRID}\n[smoother]\nscope = rank\n")

    def drops_the_couplings_that_a_cpu_drops(self, choice):
        for text in (POISSON.format(cells="15 13 16"), TRANSPORT.format(cells="15 13 16", steps=1), BLOCKS):
            deck = self.write("deck.ini", text + choice)
            counts = {}
            for backend in ("cpu", "cuda"):
                done = self.run_ranks(deck, 2, f"{backend}.h5", "--json", backend=backend)
                self.assertEqual(done.returncode, 0, done.stderr)
                counts[backend] = json.loads(done.stdout)["solves"][0]["iterations"]
            self.assertLessEqual(abs(counts["cpu"] - counts["cuda"]), 1)

    def test_record_and_verdict_name_ranks_and_gpus(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + "[preconditioner]\nname = jacobi\n")
        done = self.run_ranks(deck, 3, "three.h5")
        self.assertRegex(done.stdout, r"cuda, 3 ranks on \d GPUs?, ")
        environment = self.record("three.h5")["environment"]
        self.assertEqual(environment["ranks"], "3")
        self.assertEqual(len(environment["gpus"].split(", ")), 3)

    def memory_is_predicted(self, deck, name):
        with self.subTest(name=name):
            plan = json.loads(self.expect(0, "check", deck, "--ranks", "2", "--backend", "cuda", "--json").stdout)
            memory = json.loads(self.run_ranks(deck, 2, "two.h5", "--json").stdout)["memory"]
            self.assertEqual(plan["memory"]["predicted"], memory["predicted"])
            self.assertLessEqual(abs(memory["peak"] - memory["predicted"]), 0.05 * memory["peak"])

    def test_memory_of_a_rank_is_predicted(self):
        for name in ("none", "jacobi", "chebyshev", "subdomain_ildu0", "multicolor", "struct_ilu",
                     "struct_ilu\nscope = rank", "struct_ilu\nfill_level = 1", "fgbilu", "fgbilu\nstorage = single",
                     "fgbilu\ntriangular_solve = jacobi", "par_ilu", "par_ilu\nfill_level = 1",
                     "multicolor\ncolours = greedy", "multicolor\ntriangular_solve = jacobi",
                     "subdomain_ildu0\ntriangular_solve = jacobi\nstorage = single",
                     "par_ilu\ntriangular_solve = jacobi", "jacobi_sweeps", "jacobi_sweeps\nfill_level = 1", "multigrid",
                     "struct_ilu\nstorage = single", "struct_ilu\nfill_level = 1\nstorage = half_scaled", "multicolor\nstorage = single",
                     "multigrid\nreplicated_points = 0\n[smoother]\nname = multicolor", "multigrid\nreplicated_points = 0\n[smoother]\nscope = rank",
                     "multigrid\nreplicated_points = 0\n[smoother]\nname = subdomain_ildu0"):
            deck = self.write("deck.ini", POISSON.format(cells="65 63 64") + f"[preconditioner]\nname = {name}\n")
            self.memory_is_predicted(deck, name)

    def test_memory_of_sweeps_around_z_is_predicted(self):
        text = POISSON.format(cells="65 63 64").replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = z")
        for name in ("jacobi_sweeps", "par_ilu\ntriangular_solve = jacobi"):
            self.memory_is_predicted(self.write("deck.ini", f"{text}[preconditioner]\nname = {name}\n"), name)

    def test_refusals_name_key_and_remedy(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        for setting, expected in (("matrix.format=general --set preconditioner.name=cusparse_ilu",
                                   "cusparse_ilu does not work on several ranks that share the rows of a general matrix"),
                                  ("matrix.format=general --set grid.cells=16 --set preconditioner.name=subdomain_ildu0 --set "
                                   "preconditioner.variant=spin", "spin does not work on several ranks that share"),
                                  ("preconditioner.name=cusparse_ilu", "does not work on several ranks")):
            refused = self.run_ranks(deck, 2, "refused.h5", "--set", *setting.split())
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(expected, refused.stderr)
            self.assertFalse((self.folder / "refused.h5").exists())

    def test_compare_gives_the_iterations_and_the_system_of_one_gpu(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 19") + "[device]\nlayout = natural\n")
        tables = []
        for ranks in ("1", "2", "3"):
            words = ("--preconditioners", "struct_ilu,jacobi,multicolor,multigrid:replicated_points=0", "--ranks", ranks,
                     "--backend", "cuda", "--reps", "2", "--quiet", "--force", "--json", "-")
            tables.append(json.loads(self.expect(0, "compare", deck, *words).stdout))
        found = [{row["name"]: row for row in table["candidates"]} for table in tables]
        self.assertEqual(len(found[0]), 4)
        for table, rows in zip(tables[1:], found[1:]):
            for name, row in found[0].items():
                for key in ("outcome", "iterations", "relative_residual"):
                    self.assertEqual(rows[name][key], row[key], (name, key))
            self.assertEqual(table["system"]["fingerprint"], tables[0]["system"]["fingerprint"])
        self.assertRegex(tables[1]["system"]["device"], r"cuda, 2 ranks on \d GPUs?, ")

    def test_bench_solve_gives_the_iterations_of_one_gpu(self):
        for name in ("jacobi", "struct_ilu"):
            deck = self.write("deck.ini", POISSON.format(cells="33 31 29") + f"[preconditioner]\nname = {name}\n[device]\nlayout = natural\n")
            rows = [json.loads(self.expect(0, "bench", "solve", deck, "--backend", "cuda", "--ranks", ranks, "--repeats", "2", "--json",
                                           "-").stdout)["solves"][0] for ranks in ("1", "2", "3")]
            for ranks, row in zip((2, 3), rows[1:]):
                self.assertEqual((row["iterations"], row["relative_residual"]), (rows[0]["iterations"], rows[0]["relative_residual"]))
                self.assertEqual((row["ranks"], len(row["copy_rates_of_ranks"])), (ranks, ranks))
                self.assertGreater(row["spmv"], 0.0)
                self.assertGreater(row["preconditioner_apply"], 0.0)

    def test_a_signal_stops_all_ranks_and_the_run_goes_on(self):
        deck = self.write("deck.ini", POISSON.format(cells="33 31 29") + "[preconditioner]\nname = jacobi\n")
        words = ("run", deck, "--backend", "cuda", "--quiet", "--set", "output.file=two.h5", "--ranks")
        self.run_ranks(deck, 1, "one.h5")
        stopped = self.run_program(*words, "2", "--force", stop_at=25)
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        self.assertEqual(self.run_program(*words, "3").returncode, 0)
        self.expect(0, "diff", "one.h5", "two.h5", "--tolerance", "0")


if __name__ == "__main__":
    main_unless(why_no_gpu())
