# SPDX-License-Identifier: BSD-3-Clause
"""General matrices on several ranks: the record of one rank, and what is refused."""

import json
import os
import random
import re
import signal
import unittest

from program import ProgramTest

GENERAL = "[matrix]\nformat = general\n"
POISSON = "[problem]\nname = poisson\n[grid]\ncells = 21 23 19\n[solver]\nname = cg\n" + GENERAL
TRANSPORT = ("[problem]\nname = convection_diffusion\nregime = transient\n[grid]\ncells = 21 19 23\n[time]\nsteps = {steps}\n"
             "[solver]\nname = gmres\n") + GENERAL

# Each has at least five blocks of rows, and rows whose values lie on several ranks.
ON_A_GRID = {
    "poisson_none": POISSON + "[preconditioner]\nname = none\n",
    "poisson_jacobi": POISSON.replace("name = cg", "name = pipelined_cg") + "[preconditioner]\nname = jacobi\n",
    "poisson_chebyshev": POISSON + "[preconditioner]\nname = chebyshev\n",
    "poisson_l1": POISSON.replace("name = cg", "name = richardson\nmax_iterations = 20")
    + "[preconditioner]\nname = jacobi\nl1 = true\n",
    "poisson_ilu": POISSON + "[preconditioner]\nname = sync_free_ilu\n",
    "poisson_ilu_rcm": POISSON + "[preconditioner]\nname = sync_free_ilu\n[ordering]\nname = rcm\n",
    "poisson_random_order": POISSON + "[preconditioner]\nname = sync_free_ilu\n[ordering]\nname = random\n",
    "poisson_ilu_half": POISSON + "[preconditioner]\nname = sync_free_ilu\nstorage = half_scaled\n",
    "poisson_sweeps": POISSON.replace("name = cg", "name = fgmres") + "[preconditioner]\nname = jacobi_sweeps\n",
    "poisson_par_ilu": POISSON + "[preconditioner]\nname = par_ilu\n[ordering]\nname = multicolor\n",
    "poisson_par_ilu_single": POISSON + "[preconditioner]\nname = par_ilu\nstorage = single\n[ordering]\nname = multicolor\n",
    "poisson_filled": POISSON + "[preconditioner]\nname = sync_free_ilu\nfill_level = 2\n",
    "poisson_filled_dissected": POISSON + "[preconditioner]\nname = sync_free_ilu\nfill_level = 1\n[ordering]\nname = nested_dissection\n",
    "poisson_parts": POISSON + "[preconditioner]\nname = subdomain_ildu0\npart_rows = 900\n",
    "poisson_par_ilut": POISSON + "[preconditioner]\nname = par_ilut\nrounds = 2\n",
    "poisson_box27": POISSON.replace("name = poisson", "name = poisson\nstencil = box27").replace("21 23 19", "21 23 19\nlengths = 20 22 18")
    + "[preconditioner]\nname = sync_free_ilu\n",
    "poisson_periodic": POISSON.replace("21 23 19", "21 23 19\nperiodic = x z").replace("name = poisson", "name = poisson\nright_hand_side = random")
    + "[preconditioner]\nname = sync_free_ilu\n",
    "poisson_neumann": POISSON.replace("name = poisson", "name = poisson\ndiscretisation = cell\nboundary_condition = neumann")
    + "[preconditioner]\nname = jacobi\n",
    "transport": TRANSPORT.format(steps=2) + "[preconditioner]\nname = sync_free_ilu\n",
    "transport_bicgstab": TRANSPORT.format(steps=1).replace("gmres", "bicgstab") + "[preconditioner]\nname = jacobi\n",
    "block": "[problem]\nname = block_laplacian\n[grid]\ncells = 14 15 16\n[solver]\nname = fgmres\n" + GENERAL
    + "[preconditioner]\nname = sync_free_ilu\n",
    "filled_block": "[problem]\nname = block_laplacian\n[grid]\ncells = 14 15 16\n[solver]\nname = fgmres\n" + GENERAL
    + "[preconditioner]\nname = sync_free_ilu\nfill_level = 1\n",
    "transport_parts": TRANSPORT.format(steps=2) + "[preconditioner]\nname = subdomain_ildu0\n[ordering]\nname = rcm\n",
    "transport_par_ilut": TRANSPORT.format(steps=2) + "[preconditioner]\nname = par_ilut\nrounds = 1\n",
    "cavity": "[problem]\nname = artificial_compressibility\n[grid]\ncells = 13 14 15\n[time]\nsteps = 2\n" + GENERAL
    + "[preconditioner]\nname = sync_free_ilu\n",
    "euler": "[problem]\nname = euler\n[grid]\ncells = 13 14 12\n[time]\nsteps = 2\n" + GENERAL
    + "[preconditioner]\nname = sync_free_ilu\n",
}
FILE = "[problem]\nname = matrix\nfile = a.mtx\n[solver]\nname = gmres\n"
OF_A_FILE = {
    "gmres_ilu": FILE + "[preconditioner]\nname = sync_free_ilu\n",
    "gmres_rcm": FILE + "[preconditioner]\nname = sync_free_ilu\n[ordering]\nname = rcm\n",
    "blocks": FILE.replace("a.mtx", "a.mtx\nblock = 3") + "[preconditioner]\nname = sync_free_ilu\npivot_policy = boost\n",
    "blocks_of_10": FILE.replace("a.mtx", "a.mtx\nblock = 10") + "[preconditioner]\nname = jacobi\n",
    "scaled": FILE + "[preconditioner]\nname = sync_free_ilu\n[scaling]\nname = row\n",
    "scaled_sweeps": FILE.replace("gmres", "fgmres") + "[preconditioner]\nname = jacobi_sweeps\n[scaling]\nname = symmetric\n",
    "scaled_blocks": FILE.replace("a.mtx", "a.mtx\nblock = 5") + "[preconditioner]\nname = none\n[scaling]\nname = symmetric\n",
    "scaled_by_matching": FILE + "[preconditioner]\nname = none\n[scaling]\nname = matching\n[ordering]\nname = rcm\nrows = matching\n",
    "blocks_scaled_by_matching": FILE.replace("a.mtx", "a.mtx\nblock = 3") + "[preconditioner]\nname = par_ilut\n[scaling]\nname = matching\n",
    "filled": FILE + "[preconditioner]\nname = sync_free_ilu\nfill_level = 3\n",
    "filled_blocks": FILE.replace("a.mtx", "a.mtx\nblock = 3") + "[preconditioner]\nname = sync_free_ilu\nfill_level = 1\npivot_policy = boost\n",
    "filled_scaled_rcm": FILE + "[preconditioner]\nname = sync_free_ilu\nfill_level = 1\n[scaling]\nname = row\n[ordering]\nname = rcm\n",
    "filled_par_ilu": FILE + "[preconditioner]\nname = par_ilu\nfill_level = 1\n",
    "filled_blocks_single": FILE.replace("a.mtx", "a.mtx\nblock = 3") + "[preconditioner]\nname = sync_free_ilu\nfill_level = 1\nstorage = single\n",
    "parts_half": FILE + "[preconditioner]\nname = subdomain_ildu0\npart_rows = 500\nstorage = half_scaled\n",
    "scaled_half": FILE + "[preconditioner]\nname = sync_free_ilu\nstorage = half_scaled\n[scaling]\nname = symmetric\n",
    "parts": FILE + "[preconditioner]\nname = subdomain_ildu0\npart_rows = 500\n",
    "parts_of_blocks": FILE.replace("a.mtx", "a.mtx\nblock = 4") + "[preconditioner]\nname = subdomain_ildu0\nparts = consecutive\npart_rows = 333\npivot_policy = boost\n",
    "swept_parts": FILE.replace("a.mtx", "a.mtx\nblock = 2") + "[preconditioner]\nname = subdomain_ildu0\ntriangular_solve = jacobi\npivot_policy = boost\n",
    "par_ilut": FILE + "[preconditioner]\nname = par_ilut\n",
    "par_ilut_of_blocks": FILE.replace("a.mtx", "a.mtx\nblock = 3") + "[preconditioner]\nname = par_ilut\nrounds = 2\nsweeps = 3\npivot_policy = boost\n",
    "par_ilu": FILE + "[preconditioner]\nname = par_ilu\n",
    "swept_par_ilu": FILE.replace("a.mtx", "a.mtx\nblock = 2") + "[preconditioner]\nname = par_ilu\ntriangular_solve = jacobi\n",
    "bicgstab": FILE.replace("gmres", "bicgstab").replace("a.mtx", "a.mtx\nright_hand_side = random")
    + "[preconditioner]\nname = jacobi\n",
}


class RanksOfGeneralMatrices(ProgramTest):
    def run_ranks(self, deck, ranks, output, *words, threads=1):
        return self.run_program("run", deck, "--ranks", str(ranks), "--backend", "cpu", "--threads", str(threads), "--quiet",
                                "--set", f"output.file={output}", *words)

    def write_matrix(self, rows=9000, missing=frozenset()):
        """An unsymmetric matrix whose rows have entries near and far. Rows without a diagonal entry get a pivot by elimination,
        except the first one."""
        draw = random.Random(5)
        entries = []
        for i in range(rows):
            near = {j for j in (i - 7, i - 1, i + 1, i + 11) if 0 <= j < rows and draw.random() < 0.8}
            if {i, i + 1} & missing:
                near |= {i - 1 if i in missing and i else i + 1, min(i + 1, rows - 1)}
            columns = near | {draw.randrange(rows) for _ in range(draw.randrange(3))}
            entries += [(i + 1, j + 1, draw.uniform(-1.0, 1.0)) for j in sorted(columns - {i})]
            if i not in missing:
                entries.append((i + 1, i + 1, 9.0 + draw.random()))
        lines = ["%%MatrixMarket matrix coordinate real general", f"{rows} {rows} {len(entries)}"]
        return self.write("a.mtx", "\n".join(lines + [f"{i} {j} {v!r}" for i, j, v in entries]) + "\n")

    def expect_the_record_of_one_rank(self, decks, fields):
        words = ("--force", "--set", f"output.fields={fields}")
        for name, text in decks.items():
            deck = self.write("deck.ini", text)
            one = self.run_ranks(deck, 1, "one.h5", *words)
            self.assertIn(one.returncode, (0, 3), name + one.stderr)
            for ranks in (2, 3, 4):
                with self.subTest(f"{name} on {ranks}"):
                    several = self.run_ranks(deck, ranks, "several.h5", *words)
                    self.assertEqual(several.returncode, one.returncode, several.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")
                    if fields == "true":
                        self.assertEqual((self.folder / "several.vtkhdf").read_bytes(), (self.folder / "one.vtkhdf").read_bytes())

    def test_problems_on_a_grid_in_general_form(self):
        self.expect_the_record_of_one_rank(ON_A_GRID, "true")

    def test_matrices_of_files(self):
        self.write_matrix()
        self.expect_the_record_of_one_rank(OF_A_FILE, "false")

    def test_rows_without_a_diagonal_entry(self):
        self.write_matrix(missing={17, 2000, 4096, 5000, 8999})
        text = FILE + "[preconditioner]\nname = sync_free_ilu\npivot_policy = boost\n"
        self.expect_the_record_of_one_rank({"boosted": text, "shifted": text.replace("boost", "shift")}, "false")
        # The row that fails is named as on one rank.
        self.write_matrix(missing={0, 17})
        deck = self.write("deck.ini", text.replace("boost", "fail"))
        reasons = [self.run_ranks(deck, ranks, "failed.h5", "--force") for ranks in (1, 3)]
        self.assertEqual(reasons[0].returncode, 5, reasons[0].stderr)
        self.assertEqual(reasons[1].stderr, reasons[0].stderr)

    def test_threads_do_not_matter(self):
        deck = self.write("deck.ini", POISSON.replace("21 23 19", "33 35 37") + "[preconditioner]\nname = jacobi\n")
        for ranks, threads in ((1, 1), (1, 2), (2, 2)):
            self.assertEqual(self.run_ranks(deck, ranks, f"{ranks}_{threads}.h5", threads=threads).returncode, 0)
        self.expect(0, "diff", "1_1.h5", "1_2.h5", "--tolerance", "0")
        self.expect(0, "diff", "1_1.h5", "2_2.h5", "--tolerance", "0")

    def test_rank_scope_takes_more_iterations_and_the_verdict_says_why(self):
        deck = self.write("deck.ini", POISSON + "[preconditioner]\nname = sync_free_ilu\n")
        count = {}
        for scope in ("global", "rank"):
            for ranks in (1, 4):
                done = self.run_ranks(deck, ranks, f"{scope}.h5", "--force", "--set", f"preconditioner.scope={scope}")
                self.assertEqual(done.returncode, 0, done.stderr)
                count[scope, ranks] = int(re.search(r"^iterations +(\d+)", done.stdout, re.M).group(1))
                self.assertEqual("couplings between ranks are dropped" in done.stdout, (scope, ranks) == ("rank", 4))
                if (scope, ranks) == ("rank", 4):
                    # The rows of star7 on 21 x 23 x 19 points have 61601 entries.
                    dropped = re.search(r"dropped \(scope = rank\), (\d+) of the matrix's 61601 entries", done.stdout)
                    self.assertTrue(3 * 2 * 21 * 23 <= int(dropped.group(1)) <= 3 * 2 * (21 * 23 + 21 + 1), done.stdout)
        # A cut divides the entries around an axis, too, and this matrix has those between its first and its last plane.
        done = self.run_ranks(deck, 2, "periodic.h5", "--set", "preconditioner.scope=rank", "--set", "grid.periodic=z", "--set",
                              "problem.right_hand_side=random", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        plain = self.run_ranks(deck, 2, "plain.h5", "--set", "preconditioner.scope=rank", "--json")
        counts = [[int(word) for word in re.findall(r"\d+", json.loads(one.stdout)["dropped_couplings"])] for one in (done, plain)]
        self.assertEqual([a - b for a, b in zip(*counts)], 2 * [2 * 21 * 23])
        self.assertEqual(count["rank", 1], count["global", 1])
        self.assertEqual(count["global", 4], count["global", 1])
        self.assertGreater(count["rank", 4], count["global", 4])
        for level in ("1", "2"):
            filled = self.run_ranks(deck, 3, "filled.h5", "--force", "--set", "preconditioner.scope=rank", "--set",
                                    f"preconditioner.fill_level={level}")
            self.assertEqual(filled.returncode, 0, filled.stderr)

    def test_check_predicts_the_memory_of_a_rank(self):
        # Of four blocks of rows each rank has two.
        self.write_matrix(rows=8192, missing={17})
        poisson, transport = (text.replace(" 21 23 19", " 16 16 32").replace(" 21 19 23", " 16 16 32") for text in (POISSON, TRANSPORT))
        for name, text in (("file", FILE + "[preconditioner]\nname = sync_free_ilu\npivot_policy = boost\n"),
                           ("dropped", FILE + "[preconditioner]\nname = sync_free_ilu\npivot_policy = boost\nscope = rank\n"),
                           ("filled", FILE + "[preconditioner]\nname = sync_free_ilu\npivot_policy = boost\nfill_level = 2\n"),
                           ("parts", FILE + "[preconditioner]\nname = subdomain_ildu0\npivot_policy = boost\npart_rows = 700\n"),
                           ("par_ilut", FILE + "[preconditioner]\nname = par_ilut\npivot_policy = boost\n"),
                           ("jacobi", poisson + "[preconditioner]\nname = jacobi\n"),
                           ("grid", transport.format(steps=1) + "[preconditioner]\nname = sync_free_ilu\n")):
            with self.subTest(name):
                deck = self.write("deck.ini", text)
                plan = self.run_json(0, "check", deck, "--ranks", "2", "--threads", "1", "--backend", "cpu")["memory"]
                done = self.run_ranks(deck, 2, "two.h5", "--json", "--force")
                self.assertEqual(done.returncode, 0, done.stderr)
                memory = json.loads(done.stdout)["memory"]
                self.assertLessEqual(memory["predicted"], plan["predicted"])
                # The first rank's rows may have other fill than those of the rank that check has found to need the most.
                self.assertGreaterEqual(memory["predicted"], (0.8 if name == "filled" else 0.95) * plan["predicted"])
                bound = plan["most"] if plan["most"] > plan["predicted"] else memory["predicted"]
                self.assertLess(memory["peak"] - bound, 1300)  # a few scalars

    def test_refusals_name_key_reason_and_remedy(self):
        deck = self.write("deck.ini", POISSON + "[preconditioner]\nname = jacobi\n")
        for words, expected in (
            (("--ranks", "6", "--set", "preconditioner.name=jacobi"), ("device.ranks = 6", "give 5 ranks or fewer")),
            (("--ranks", "2", "--set", "preconditioner.name=jacobi", "--set", "grid.cells=9"), ("run it on one rank",)),
            (("--ranks", "2", "--set", "preconditioner.name=struct_ilu"), ("preconditioner.name", "jacobi")),
            (("--ranks", "2", "--set", "preconditioner.name=cusparse_ilu"), ("preconditioner.name", "par_ilut")),
            (("--ranks", "2", "--set", "preconditioner.name=jacobi_sweeps", "--set", "preconditioner.mode=block_async"),
             ("preconditioner.mode", "block_async does not work on several ranks", "set preconditioner.mode = sync")),
            (("--ranks", "2", "--set", "preconditioner.name=subdomain_ildu0", "--set", "preconditioner.variant=spin"),
             ("preconditioner.variant", "a CPU has one thread a subdomain. Set variant = level, which gives the same M")),
        ):
            with self.subTest(words):
                self.expect(2, "run", deck, "--backend", "cpu", *words, says=expected)
                self.assertFalse((self.folder / "deck.h5").exists())

    def test_file_that_not_all_ranks_can_read_is_refused(self):
        entries = 40 * 10**9  # the file has a hole in place of them
        self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 {entries}\n" + 200000 * "1 1 1\n")
        os.truncate(self.folder / "a.mtx", 6 * entries + 100)
        done = self.run_ranks(self.write("deck.ini", FILE + "[preconditioner]\nname = jacobi\n"), 2, "none.h5")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("on each of 2 ranks", done.stderr)

    def test_advice_is_that_of_one_rank(self):
        rows = 3000
        entries = [(i, j, 4 if i == j else -1) for i in range(1, rows + 1) for j in (i - 1, i, i + 1) if 0 < j <= rows and 700 not in (i, j)]
        lines = "".join(f"{i} {j} {v}\n" for i, j, v in entries + [(700, 700, 0)])
        self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries) + 1}\n{lines}")
        for name in ("sync_free_ilu", "par_ilut", "jacobi"):
            told = []
            for ranks in (1, 2):
                done = self.run_ranks(self.write("deck.ini", FILE + f"[preconditioner]\nname = {name}\n"), ranks, f"{ranks}.h5")
                self.assertEqual(done.returncode, 5, done.stderr)
                told.append(done.stderr[done.stderr.index("the pivot at row 700"):])
            self.assertIn("Try preconditioner.name = none.", told[0])
            self.assertEqual(told[0], told[1])

    def test_preempted_run_goes_on_with_another_number_of_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(steps=3) + "[preconditioner]\nname = sync_free_ilu\n[ordering]\nname = rcm\n")
        self.assertEqual(self.run_ranks(deck, 1, "whole.h5").returncode, 0)
        for first, then in ((1, 3), (3, 2), (2, 1)):
            with self.subTest(f"{first} ranks, then {then}"):
                name = f"{first}_{then}.h5"
                stopped = self.run_program("run", deck, "--ranks", str(first), "--threads", "1", "--backend", "cpu", "--quiet", "--set",
                                           f"output.file={name}", stop_at=f"9:{int(signal.SIGTERM)}")
                self.assertEqual(stopped.returncode, 75, stopped.stderr)
                done = self.run_ranks(deck, then, name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect(0, "diff", "whole.h5", name, "--tolerance", "0")

    def test_a_long_set_up_is_stopped_on_all_ranks_between_its_parts(self):
        """Before the linear solve has begun; so large a matrix has a set-up that may take long."""
        grid = "cells = 50 50 41"
        for name in ("par_ilut\nrounds = 1", "sync_free_ilu\nscope = global"):
            deck = self.write("deck.ini", TRANSPORT.format(steps=1).replace("cells = 21 19 23", grid) + f"[preconditioner]\nname = {name}\n")
            self.assertEqual(self.run_ranks(deck, 1, "whole.h5").returncode, 0)
            for look, ranks, then in ((3, 3, 2), (5, 2, 1)):
                with self.subTest(f"{name}, {ranks} ranks, look {look}"):
                    stopped = self.run_program("run", deck, "--ranks", str(ranks), "--threads", "1", "--backend", "cpu", "--quiet", "--fresh",
                                               "--set", "output.file=part.h5", stop_at=f"{look}:{int(signal.SIGTERM)}")
                    self.assertEqual(stopped.returncode, 75, stopped.stderr)
                    self.assertIn("stopped by SIGTERM in step 1 after 0 iterations", stopped.stderr)
                    self.assertEqual(self.record("part.h5")["solves"], [])
                    done = self.run_ranks(deck, then, "part.h5")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")

    def test_checkpoints_within_a_solve_restart_on_another_number_of_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(steps=3) + "[preconditioner]\nname = sync_free_ilu\n[ordering]\nname = rcm\n"
                          "[output]\nfields = true\ncheckpoint_minutes = 1e-9\n")
        self.assertEqual(self.run_ranks(deck, 1, "whole.h5", "--set", "output.checkpoint_minutes=1e6").returncode, 0)
        killed = self.run_program("run", deck, "--ranks", "3", "--threads", "1", "--backend", "cpu", "--quiet", "--set",
                                  "output.file=part.h5", stop_at=f"9:{int(signal.SIGKILL)}")
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
        done = self.run_ranks(deck, 2, "part.h5", "--restart")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")
        self.assertEqual((self.folder / "part.vtkhdf").read_bytes(), (self.folder / "whole.vtkhdf").read_bytes())

    def test_compare_gives_the_iterations_and_the_system_of_one_rank(self):
        deck = self.write("deck.ini", POISSON + "[preconditioner]\nname = jacobi\n[ordering]\nname = rcm\n")
        self.compared_on_one_and_three_ranks(deck, "sync_free_ilu,jacobi,none")


if __name__ == "__main__":
    unittest.main()
