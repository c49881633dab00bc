# SPDX-License-Identifier: BSD-3-Clause
"""General matrices: defaults that follow from them, and what is said where a method or a key does not suit them."""

import json
import os
import struct
import unittest

from matrices import DECK, MatrixTest, coordinate, tridiagonal
from program import POISSON

MINIMAL = "[problem]\nname = matrix\nfile = a.mtx\n"
INDEFINITE = [(i, j, 0.9 if i == j else v) for i, j, v in tridiagonal(60)]


def with_blocks(block, count=12):
    """Block rows with this diagonal block, coupled with their neighbours by the identity."""
    size = len(block)
    entries = [(size * at + i + 1, size * at + j + 1, block[i][j])
               for at in range(count) for i in range(size) for j in range(size)]
    for at in range(count - 1):
        for i in range(size):
            for j in range(size):
                v = 0.25 if i == j else 0
                entries += [(size * at + i + 1, size * (at + 1) + j + 1, v), (size * (at + 1) + i + 1, size * at + j + 1, v)]
    return coordinate(size * count, entries)


class DefaultPreconditioner(MatrixTest):
    def settings(self, *words):
        """The line of preconditioner.name in the resolved deck that `check` prints."""
        text = self.expect(0, "check", *words, "--backend", "cpu", "--verbose").stdout
        section = text[text.index("[preconditioner]"):]
        return next(line for line in section.splitlines() if line.startswith("name "))

    def test_it_follows_the_matrix(self):
        self.write("a.mtx", coordinate(40, tridiagonal(40)))
        general, grid = "name ?= sync_free_ilu  ; default", "name ?= struct_ilu  ; default"
        minimal = self.write("a.ini", MINIMAL)
        poisson = self.write("p.ini", POISSON.format(cells=5))
        self.assertEqual(self.settings(minimal), general)
        self.assertEqual(self.settings(poisson), grid)
        self.assertEqual(self.settings(poisson, "--set", "matrix.format=general"), general)
        formed = self.write("f.ini", POISSON.format(cells=5) + "[matrix]\nformat = general\n")
        self.assertEqual(self.settings(formed), general)
        self.assertEqual(self.settings(formed, "--set", "matrix.format="), grid)
        for name, on_grid, in_general in (("struct_ilu", grid, general), ("sync_free_ilu", grid, general),
                                          ("jacobi", "name ?= jacobi  ; default", "name ?= jacobi  ; default")):  # as docs/deck.md says
            deck = self.write("d.ini", POISSON.format(cells=5) + f"[preconditioner]\nname ?= {name}\n")
            self.assertEqual((self.settings(deck), self.settings(deck, "--set", "matrix.format=general")), (on_grid, in_general), name)
        self.assertEqual(self.settings(formed, "--set", "matrix.format=structured"), grid)
        keyed = self.write("k.ini", MINIMAL + "[preconditioner]\nindefinite = true\n")  # a key of sync_free_ilu
        self.assertEqual(self.settings(keyed), general)
        self.expect(0, "check", minimal, "--header", "--backend", "cpu")

    def test_the_smallest_deck_runs_again_from_its_record(self):
        self.write("a.mtx", coordinate(40, tridiagonal(40)))
        deck = self.write("a.ini", MINIMAL)
        first = self.run_json(0, "run", deck, "--backend", "cpu")
        self.assertEqual(first["iterations"], 1)  # ILU(0) of a tridiagonal matrix is exact
        again = self.run_json(0, "run", "a.h5", "--set", "output.file=b.h5")
        self.assertEqual(again["solves"][0]["true_residual"], first["solves"][0]["true_residual"])
        done = self.expect(0, "compare", deck, "--solvers", "gmres,bicgstab", "--reps", "1", "--backend", "cpu")
        self.assertIn("bicgstab+sync_free_ilu", done.stdout)
        self.assertEqual(self.settings("a.h5"), "name ?= sync_free_ilu  ; default")

    def test_a_record_that_runs_again_in_another_form_takes_that_forms_default(self):
        for form, other, preconditioner in (("structured", "general", "sync_free_ilu"), ("general", "structured", "struct_ilu")):
            deck = self.write(f"{form}.ini", POISSON.format(cells=5) + f"[matrix]\nformat = {form}\n")
            self.expect(0, "run", deck, "--quiet")
            words = ("--set", f"matrix.format={other}")
            self.assertEqual(self.settings(f"{form}.h5", *words), f"name ?= {preconditioner}  ; default")
            self.expect(0, "run", f"{form}.h5", *words, "--set", "output.file=again.h5", "--fresh", "--quiet")

    def test_a_study_takes_it_for_each_case(self):
        study = self.write("s.ini", POISSON.format(cells=5) + "[sweep]\nmatrix.format = structured, general\n")
        self.expect(0, "study", "run", study)
        self.expect(0, "study", "collect", study)
        self.assertIn("2: 2 done", self.expect(0, "info", "s.h5").stdout)


class Blocks(MatrixTest):
    SAYS = "block of 2 unknowns there is regular, but blocks are inverted without row exchanges"

    def test_a_regular_block_that_needs_row_exchanges_is_told(self):
        for block in ([[0, 2], [2, 4]], [[0, 1], [1, 0]]):
            self.write("a.mtx", with_blocks(block))
            deck = self.write("a.ini", DECK.format(file="a.mtx"))
            for name in ("jacobi", "sync_free_ilu", "par_ilut"):
                self.expect(5, "run", deck, "--force", "--backend", "cpu", "--set", f"preconditioner.name={name}",
                            "--set", "problem.block=2", says=[f"{name}: the pivot at row 1 is zero", self.SAYS,
                                                              "number the 2 unknowns, or the 2 equations, in another order"])
        self.write("a.mtx", with_blocks([[4, 2], [2, 0]]))
        self.expect(0, "run", deck, "--force", "--set", "problem.block=2", "--set", "preconditioner.name=jacobi")

    def test_it_is_not_said_of_a_singular_block(self):
        for block in ([[0, 0], [2, 4]], [[1, 2], [2, 4]]):
            self.write("a.mtx", with_blocks(block))
            deck = self.write("a.ini", DECK.format(file="a.mtx"))
            done = self.run_program("run", deck, "--force", "--backend", "cpu", "--set", "preconditioner.name=jacobi", "--set",
                                    "problem.block=2")
            self.assertEqual(done.returncode, 5)
            self.assertNotIn("row exchanges", done.stderr)


class Chebyshev(MatrixTest):
    def test_a_scaling_that_takes_the_symmetry_is_named(self):
        self.write("a.mtx", coordinate(30, tridiagonal(30)))
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        words = ("run", deck, "--force", "--backend", "cpu", "--set", "preconditioner.name=chebyshev", "--set")
        self.expect(2, *words, "scaling.name=row",
                    says=["preconditioner.name = chebyshev needs a symmetric matrix, and with scaling.name = row this one is not",
                          "use scaling.name = symmetric, "])
        self.expect(0, *words, "scaling.name=symmetric")
        self.write("a.mtx", coordinate(30, tridiagonal(30)[:-2] + [(30, 30, 4.0)]))
        done = self.expect(2, *words, "scaling.name=row", says="needs a symmetric matrix, and this one is not; use ")
        self.assertNotIn("scaling.name", done.stderr)

    def test_advice_on_an_indefinite_matrix_names_what_takes_it(self):
        done = self.refused_by("chebyshev", INDEFINITE, "sync_free_ilu with indefinite = true and gmres")
        self.assertNotIn("struct_ilu", done.stderr)

    def test_a_shift_ends_where_it_cannot_help(self):
        """A pivot whose row has no diagonal coefficient and no fill is zero under every shift, so the second one is the last."""
        entries = [(i, j, 1.0) for i, j, _ in tridiagonal(60) if i != j]
        self.write("a.mtx", coordinate(60, entries))
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        self.expect(5, "run", deck, "--force", "--backend", "cpu", "--set", "preconditioner.pivot_policy=shift",
                    says=["the pivot at row 1 is zero", "No shift changes it: its diagonal coefficient and its fill are zero."])

    def test_a_zero_pivot_is_its_own(self):
        entries = [(i, j, 0.0 if i == j == 7 else v) for i, j, v in tridiagonal(60)]
        done = self.refused_by("chebyshev", entries, "chebyshev: the pivot at row 7 is zero")
        self.assertNotIn("jacobi: ", done.stderr)
        self.refused_by("jacobi", entries, "jacobi: the pivot at row 7 is zero")

    def refused_by(self, name, entries, says):
        self.write("a.mtx", coordinate(60, entries))
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        return self.expect(5, "run", deck, "--force", "--backend", "cpu", "--set", f"preconditioner.name={name}", says=says)


class ConstantRowSums(MatrixTest):
    def test_an_eigenvector_as_right_hand_side_is_warned_of(self):
        """b = A 1 of a graph's shifted Laplacian is 0.001 everywhere: solvers without a preconditioner need one iteration."""
        says = "warning: b = A 1 is 0.001 to eight digits in every row, so b is an eigenvector of the matrix"
        ring = [(i, j, 2.001 if i == j else -1.0) for i in range(1, 61) for j in (i, i % 60 + 1, (i - 2) % 60 + 1)]
        self.write("a.mtx", coordinate(60, ring))
        general = self.write("a.ini", DECK.format(file="a.mtx"))
        grid = self.write("g.ini", "[problem]\nname = matrix_market\nmatrix = b.mtx\n[grid]\ncells = 60 1 1\n")
        chain = [(i, j, 2.001 - (i in (1, 60)) if i == j else -1.0) for i in range(1, 61) for j in (i - 1, i, i + 1) if 0 < j < 61]
        self.write("b.mtx", coordinate(60, chain))
        for deck in (general, grid):
            alone = ("run", deck, "--force", "--backend", "cpu", "--set", "preconditioner.name=none")
            done = self.expect(0, *alone, says=[says, "problem.right_hand_side gives another b"])
            self.assertRegex(done.stdout, r"(?m)^iterations +1 iteration$")
        done = self.expect(0, "run", general, "--force", "--backend", "cpu", "--set", "problem.right_hand_side=random")
        self.assertNotIn("eigenvector", done.stderr)
        self.write("a.mtx", coordinate(60, tridiagonal(60)))
        self.assertNotIn("eigenvector", self.expect(0, "run", general, "--force", "--backend", "cpu").stderr)


class Keys(MatrixTest):
    def test_repeated_entries_of_a_petsc_file_are_refused(self):
        rows = [[(j, v) for i, j, v in tridiagonal(20) if i == row] for row in range(1, 21)]
        count = sum(map(len, rows))
        data = struct.pack(">4i", 1211216, 20, 20, count) + struct.pack(">20i", *map(len, rows))
        data += struct.pack(f">{count}i", *(j - 1 for row in rows for j, _ in row))
        (self.folder / "a.petsc").write_bytes(data + struct.pack(f">{count}d", *(v for row in rows for _, v in row)))
        deck = self.write("a.ini", DECK.format(file="a.petsc").replace("[solver]", "repeated_entries = add\n[solver]"))
        for words in (("run",), ("check",), ("check", "--header", "--backend", "cpu")):
            self.expect(2, words[0], deck, *words[1:], says=["a.ini:5: problem.repeated_entries: a PETSc file gives no entry twice",
                                                             "leave the key out"])
        self.expect(0, "check", deck, "--set", "problem.repeated_entries=refuse")

    def test_help_says_that_a_banner_counts(self):
        self.assertIn("must not contradict it", " ".join(self.expect(0, "help", "problem.symmetry").stdout.split()))

    def test_conjugate_gradients_are_not_called_by_anothers_name(self):
        self.write("a.mtx", coordinate(60, INDEFINITE))
        deck = self.write("a.ini", DECK.format(file="a.mtx").replace("restart = 200\n", ""))
        for solver in ("cg", "pipelined_cg"):
            self.expect(4, "run", deck, "--force", "--backend", "cpu", "--set", f"solver.name={solver}", "--set",
                        "preconditioner.name=none", says="conjugate gradients met a direction p with p^T A p <= 0")


class Auto(MatrixTest):
    def names(self, entries, rows=60):
        self.write("a.mtx", coordinate(rows, entries))
        deck = self.write("a.ini", DECK.format(file="a.mtx"))
        self.run_program("compare", deck, "--auto", "--solvers", "gmres", "--reps", "1", "--backend", "cpu", "--force", "--json",
                         "c.json", "--quiet")
        answer = json.loads((self.folder / "c.json").read_text())
        (self.folder / "c.json").unlink()
        return {row["name"]: row for row in answer["candidates"]}, {row["name"]: row["reason"] for row in answer["left_out"]}

    def test_it_tries_what_a_symmetric_indefinite_matrix_needs(self):
        variant = "gmres+sync_free_ilu:indefinite=true"
        tried, _ = self.names(INDEFINITE)
        self.assertFalse(tried["gmres+sync_free_ilu"]["converged"])
        self.assertTrue(tried[variant]["converged"])
        for entries in (tridiagonal(60), [(i, j, v - 0.1 * (j > i)) for i, j, v in tridiagonal(60)]):
            tried, left_out = self.names(entries)
            self.assertNotIn(variant, tried)
            self.assertIn("for which the set-up of sync_free_ilu fails", left_out[variant])

    def test_it_tries_more_where_nothing_converges(self):
        """The cheapest first: what comes behind one that converges is left out, and so is all of it where others do."""
        fill, ordered, threshold = ("sync_free_ilu:fill_level=2:pivot_policy=shift", "sync_free_ilu:fill_level=2:pivot_policy=shift:ordering.name=rcm",
                                    "par_ilut:fill_limit=5:pivot_policy=boost")
        for iterations, fails, best, spared in ((11, [fill], ordered, [threshold]), (8, [fill, ordered], threshold, []),
                                                (60, [], "", [fill, ordered, threshold])):
            with self.subTest(iterations=iterations):
                deck = self.write("a.ini", POISSON.format(cells=16).replace("cg", "gmres") + "[matrix]\nformat = general\n")
                done = self.expect(0, "compare", deck, "--auto", "--solvers", "gmres:restart=90", "--reps", "1", "--backend", "cpu", "--force",
                                   "--fresh", "--quiet", "--json", "-", "--set", f"solver.max_iterations={iterations}")
                answer = json.loads(done.stdout)
                rows = {row["preconditioner"]: row["outcome"] for row in answer["candidates"]}
                self.assertEqual({rows[name] for name in fails} - {"max_iterations"}, set(), rows)
                if best:
                    self.assertEqual([name for name in rows if rows[name] == "converged_rtol"], [best])
                    self.assertIn(f"solver gmres:restart=90, preconditioner {best}", answer["recommendation"])
                for name in spared:
                    self.assertNotIn(name, rows)
                    self.assertIn("nothing that is tried before it converges",
                                  next(pair["reason"] for pair in answer["left_out"] if pair["name"].endswith("+" + name)))

    def test_a_last_resort_needs_no_memory_for_what_the_others_have_left(self):
        """At 2.7 MiB there is room for the first of them and its system, at 3.15 MiB for the second, which converges."""
        fill = "sync_free_ilu:fill_level=2:pivot_policy=shift"
        deck = self.write("a.ini", POISSON.format(cells=16).replace("cg", "gmres") + "[matrix]\nformat = general\n")
        for limit, name, outcome in ((2.7, fill, "max_iterations"), (3.15, fill + ":ordering.name=rcm", "converged_rtol")):
            with self.subTest(limit=limit):
                self.run_program("compare", deck, "--auto", "--solvers", "gmres:restart=60", "--reps", "1", "--backend", "cpu", "--force",
                                 "--fresh", "--quiet", "--json", "c.json", "--set", "solver.max_iterations=11", "--set",
                                 f"device.memory_limit={limit}")
                rows = {row["preconditioner"]: row for row in json.loads((self.folder / "c.json").read_text())["candidates"]}
                (self.folder / "c.json").unlink()
                self.assertEqual(rows[name]["outcome"], outcome, rows[name])

    def test_a_list_of_preconditioners_is_all_that_is_tried(self):
        deck = self.write("a.ini", POISSON.format(cells=8).replace("cg", "gmres") + "max_iterations = 1\n[matrix]\nformat = general\n")
        self.run_program("compare", deck, "--auto", "--preconditioners", "jacobi", "--solvers", "gmres", "--reps", "1", "--backend", "cpu",
                         "--force", "--quiet", "--json", "c.json")
        answer = json.loads((self.folder / "c.json").read_text())
        self.assertEqual([row["name"] for row in answer["candidates"] + answer["left_out"]], ["gmres+jacobi"])

    def test_what_is_only_for_failures_takes_no_memory(self):
        deck = self.write("a.ini", POISSON.format(cells=32) + "max_iterations = 1\n[matrix]\nformat = general\n")

        def compare(*words):
            self.run_program("compare", deck, "--solvers", "gmres", "--reps", "1", "--backend", "cpu", "--quiet", "--force", "--fresh",
                             "--json", "c.json", *words)
            return json.loads((self.folder / "c.json").read_text())

        whole = compare("--auto")
        rows = [row for row in whole["candidates"] if "pivot_policy" not in row["preconditioner"]]  # which come after all others
        names = [row["preconditioner"] for row in rows]
        self.assertNotIn("sync_free_ilu:indefinite=true", names)
        needs = [row["memory"]["predicted"] for row in rows]
        least, enough = max(needs) // 2**20 + 1, sum(needs) // 2**20 + 1  # MiB, of which the first is less than all need together

        def holds_all(limit, *words):
            return "all candidates at once" in compare(*words, "--set", f"device.memory_limit={limit}")["system"]["memory"]

        while enough - least > 1:
            middle = (least + enough) // 2
            least, enough = (least, middle) if holds_all(middle, "--preconditioners", ",".join(names)) else (middle, enough)
        self.assertTrue(holds_all(enough, "--auto"))

    def test_a_long_set_up_is_told_once_for_all_solvers_and_when_quiet(self):
        rows = 7500
        arrow = [(i, j, rows if i == j else -1) for i in range(1, rows + 1) for j in {1, i}] + [(1, j, -0.5) for j in range(2, rows + 1)]
        self.write("a.mtx", coordinate(rows, arrow))
        deck = self.write("a.ini", DECK.format(file="a.mtx").replace("restart = 200\n", ""))
        for quiet in ((), ("--quiet",)):
            said = self.expect(0, "compare", deck, "--solvers", "gmres,bicgstab", "--preconditioners", "par_ilut:rounds=1", "--reps", "1",
                               "--backend", "cpu", "--force", *quiet).stderr
            self.assertEqual(said.count("warning: par_ilut:rounds=1: a round looks for candidates in at least 5.6e+07 products"), 1, said)


class LongWork(MatrixTest):
    def test_a_long_set_up_says_what_it_is_doing(self):
        deck = self.write("g.ini", "[problem]\nname = poisson\n[grid]\ncells = 47\n[matrix]\nformat = general\n[solver]\nname = cg\n"
                          "rtol = 0.1\n[ordering]\nname = rcm\n")
        os.environ["HYPERPLANE_TELL_AFTER"] = "5"  # milliseconds
        self.addCleanup(os.environ.pop, "HYPERPLANE_TELL_AFTER")
        for name, keys, part in (("sync_free_ilu", ["fill_level=2"], ""), ("par_ilut", [], "/(sweep|candidates|selection)")):
            words = [word for key in ["name=" + name, *keys] for word in ("--set", "preconditioner." + key)]
            said = self.expect(0, "run", deck, "--fresh", "--backend", "cpu", *words).stderr
            self.assertRegex(said, rf"(?m)^info: ordering rows and planning {name}, with the symbolic part of the set-up, [0-9.]+ s so far$")
            self.assertRegex(said, rf"(?m)^info: assembling the matrix and setting up {name} \(setup/factorisation{part}\), [0-9.]+ s so far$")
            self.assertEqual(self.expect(0, "run", deck, "--fresh", "--quiet", "--backend", "cpu", *words).stderr, "")


if __name__ == "__main__":
    unittest.main()
