# SPDX-License-Identifier: BSD-3-Clause
"""General matrices on ranks on GPUs: the records of one GPU."""

import json

import ranks_general_test as of_general
from device_ranks_test import OnGpuRanks, in_turn
from device_test import why_no_gpu
from program import main_unless


class GpuRanksOfGeneralMatrices(OnGpuRanks):
    """Their rows on ranks on GPUs, which ranks share where there are fewer."""

    def general_matrices(self, decks, several):
        """Runs decks with a general matrix on one and on several ranks: the same record."""
        for (name, text), several_ranks in in_turn(list(decks.items()), several):
            with self.subTest(name):
                deck = self.write("deck.ini", text)
                one = self.run_ranks(deck, 1, "one.h5", "--set", "output.fields=false")
                self.assertIn(one.returncode, (0, 3), one.stderr)
                for ranks in several_ranks:
                    done = self.run_ranks(deck, ranks, "several.h5", "--set", "output.fields=false")
                    self.assertEqual(done.returncode, one.returncode, done.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")

    def test_general_form_of_problems(self):
        named = ("poisson_none", "poisson_jacobi", "poisson_chebyshev", "poisson_l1", "poisson_periodic", "poisson_neumann",
                 "transport_bicgstab")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3))

    def test_sync_free_ilu_of_problems(self):
        named = ("poisson_ilu", "poisson_ilu_rcm", "poisson_random_order", "poisson_box27", "transport", "block", "cavity")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3))

    def test_general_matrices_of_files(self):
        self.matrices_of_files("gmres_rcm", "blocks", "scaled", "scaled_blocks", "bicgstab")

    def matrices_of_files(self, *named, several=(2, 3)):
        of_general.RanksOfGeneralMatrices.write_matrix(self)
        self.general_matrices({name: of_general.OF_A_FILE[name] for name in named}, several)

    def test_fill_of_general_matrices(self):
        named = ("poisson_filled", "poisson_filled_dissected", "filled_block")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3, 4))
        self.matrices_of_files("filled", "filled_blocks", "filled_scaled_rcm")

    def test_sweeps_of_general_matrices(self):
        named = ("poisson_sweeps", "poisson_par_ilu")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3, 4))
        self.matrices_of_files("scaled_sweeps", "filled_par_ilu", "par_ilu", "swept_par_ilu")

    def test_parts_of_general_matrices(self):
        named = ("poisson_parts", "transport_parts")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3, 4))
        self.matrices_of_files("parts", "parts_of_blocks", "swept_parts")

    def test_reduced_factors_of_general_matrices(self):
        named = ("poisson_ilu_half", "poisson_par_ilu_single")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3, 4))
        self.matrices_of_files("filled_blocks_single", "parts_half", "scaled_half")

    def test_par_ilut(self):
        named = ("poisson_par_ilut", "transport_par_ilut")
        self.general_matrices({name: of_general.ON_A_GRID[name] for name in named}, (2, 3, 4))
        self.matrices_of_files("par_ilut", "par_ilut_of_blocks")

    def test_memory_of_a_rank_with_a_general_matrix_is_predicted(self):
        base = of_general.POISSON.replace("21 23 19", "40 40 64")  # of groups of rows every rank has as many
        for name in ("jacobi", "sync_free_ilu", "sync_free_ilu\nfill_level = 1", "par_ilu", "par_ilu\ntriangular_solve = jacobi",
                     "jacobi_sweeps", "jacobi_sweeps\nfill_level = 1", "subdomain_ildu0", "subdomain_ildu0\npart_rows = 999",
                     "subdomain_ildu0\ntriangular_solve = jacobi", "par_ilut\nrounds = 0", "sync_free_ilu\nstorage = half_scaled",
                     "sync_free_ilu\nfill_level = 1\nstorage = single", "par_ilu\nstorage = single",
                     "subdomain_ildu0\npart_rows = 999\nstorage = half_scaled"):
            deck = self.write("deck.ini", base + f"[preconditioner]\nname = {name}\n")
            with self.subTest(name=name):
                plan = json.loads(self.expect(0, "check", deck, "--ranks", "2", "--backend", "cuda", "--json").stdout)["memory"]
                memory = json.loads(self.run_ranks(deck, 2, "two.h5", "--json", "--set", "output.fields=false").stdout)["memory"]
                self.assertLessEqual(memory["predicted"], plan["predicted"])
                self.assertGreaterEqual(memory["predicted"], 0.9 * plan["predicted"])
                self.assertLessEqual(abs(memory["peak"] - memory["predicted"]), 0.05 * memory["peak"])

    def test_general_matrices_are_cut_between_groups_of_rows(self):
        of_general.RanksOfGeneralMatrices.write_matrix(self)
        deck = self.write("deck.ini", of_general.OF_A_FILE["blocks_of_10"])
        self.general_matrices({"ten unknowns": of_general.OF_A_FILE["blocks_of_10"]}, (2,))
        refused = self.run_ranks(deck, 3, "refused.h5")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("900 block rows in 2 blocks of 512", refused.stderr)
        self.assertIn("give 2 ranks or fewer", refused.stderr)

    def test_scope_of_general_matrices(self):
        deck = self.write("deck.ini", of_general.ON_A_GRID["poisson_ilu"])
        counts = {}
        for storage in ("double", "single", "half_scaled"):
            for ranks in (1, 3):
                done = self.run_ranks(deck, ranks, "rank.h5", "--json", "--set", "preconditioner.scope=rank", "--set",
                                      f"preconditioner.storage={storage}")
                self.assertEqual(done.returncode, 0, done.stderr)
                counts[storage, ranks] = json.loads(done.stdout)["solves"][0]["iterations"]
                self.assertLessEqual(abs(counts[storage, ranks] - counts["double", ranks]), 1, (storage, ranks))
            self.assertGreater(counts[storage, 3], counts[storage, 1], storage)


if __name__ == "__main__":
    main_unless(why_no_gpu())
