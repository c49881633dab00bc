# SPDX-License-Identifier: BSD-3-Clause
"""A bench of a deck that the memory cannot hold is refused with a table, before anything is allocated or printed."""

import re
import unittest

from program import MATRIX, POISSON, ProgramTest, chain, few_addresses

MULTIGRID = ("--set", "preconditioner.name=multigrid")
SWEEPS = ("--set", "preconditioner.name=jacobi_sweeps")
OF_KINDS = {"solve": (), "assembly": (), "products": (), "multigrid": MULTIGRID, "sweeps": SWEEPS, "preconditioners": ()}
LIMIT = few_addresses(8 << 30)  # where it is allocated after all, the machine keeps its memory


class Memory(ProgramTest):
    def bench_of(self, code, kind, deck, *words, says=()):
        repeats = () if kind == "sweeps" else ("--repeats", "1")
        return self.expect(code, "bench", kind, deck, *repeats, *OF_KINDS[kind], *words, says=says, limit=LIMIT)

    def test_a_deck_that_cannot_fit(self):
        deck = self.write("a.ini", POISSON.format(cells=3000))
        for kind in OF_KINDS:
            with self.subTest(kind):
                done = self.bench_of(6, kind, deck, says=f"error: a.ini: bench {kind} needs ")
                self.assertRegex(done.stderr, r"needs (at least )?[0-9.]+ GiB, and this machine has [0-9.]+ [MG]iB for it; it takes less with a smaller grid.cells")
                for label in ("matrix", "vectors", "total"):
                    self.assertRegex(done.stderr, rf"(?m)^  {label} +[0-9.]+ [MGT]iB$")
                self.assertEqual(done.stdout, "")
                self.assertEqual("  preconditioner multigrid" in done.stderr, kind == "multigrid")
                self.assertEqual("  Krylov vectors" in done.stderr, kind == "solve")

    def test_the_limit_of_the_deck_and_what_is_told_suffices(self):
        deck = self.write("a.ini", POISSON.format(cells=24))
        for kind in ("solve", "assembly", "products"):
            with self.subTest(kind):
                done = self.bench_of(6, kind, deck, "--set", "device.memory_limit=0.5", says="device.memory_limit allows 0.5 MiB")
                bytes_of = {name: float(mib) for name, mib in re.findall(r"(?m)^  (.+?) +([0-9.]+) MiB$", done.stderr)}
                total = bytes_of["total"] + 0.1  # which is rounded
                self.bench_of(0, kind, deck, "--set", f"device.memory_limit={total}")
                self.bench_of(6, kind, deck, "--set", f"device.memory_limit={total - 0.3}", says="device.memory_limit allows ")

    def test_of_ranks(self):
        deck = self.write("a.ini", POISSON.format(cells=3000))
        for kind in ("solve", "preconditioners"):
            done = self.bench_of(6, kind, deck, "--ranks", "2", says=[" for its ranks, and this machine has ", "; each rank holds"])
            self.assertEqual(done.stdout, "")

    def test_a_preconditioner_that_cannot_fit_is_a_row(self):
        deck = self.write("a.ini", POISSON.format(cells=24))
        rows = self.bench("preconditioners", deck, "--preconditioners", "struct_ilu:fill_level=3,none", "--set",
                          "device.memory_limit=2")["systems"][0]["preconditioners"]
        self.assertRegex(rows[0]["refused"], r"^out of memory: it needs [0-9.]+ MiB, and device.memory_limit allows 2.0 MiB$")
        self.assertNotIn("refused", rows[1])

    def test_what_the_problem_holds_counts_once(self):
        self.write("a.mtx", chain([4.0] * 40000))
        deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="40000 1 1", solver="cg"))
        needed = self.run_json(0, "check", deck)["memory"]["predicted"] / 2**20
        self.bench_of(0, "solve", deck, "--set", f"device.memory_limit={1.01 * needed}")


if __name__ == "__main__":
    unittest.main()
