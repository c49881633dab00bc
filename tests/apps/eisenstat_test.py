# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients in Eisenstat's form: the iterations of the plain form, memory as predicted, the same bits after an
interruption, and refusals where the form does not hold."""

import unittest

from program import INPUTS, POISSON, TRANSPORT, ProgramTest

DECK = POISSON.format(cells="19 17 13") + "rtol = 1e-10\n"
EISENSTAT = DECK + "eisenstat = true\n"


class Eisenstat(ProgramTest):
    def run_to(self, record, deck, *words, **options):
        self.expect(0, "run", deck, "--set", f"output.file={record}", *words, **options)
        return self.record(record)

    def test_has_the_iterations_of_the_plain_form(self):
        plain = self.run_to("plain.h5", self.write("plain.ini", DECK))
        actual = self.run_to("a.h5", self.write("a.ini", EISENSTAT))
        self.assertEqual(actual["solves"][0]["iterations"], plain["solves"][0]["iterations"])
        self.assertEqual(actual["solves"][0]["stop_reason"], "converged_rtol")
        one, other = (made["solves"][0]["relative_residual"] for made in (plain, actual))
        # b - A x of 1e-10 of b is rounded to about 1e-16 / 1e-10 of itself, and each form rounds in its own way.
        self.assertAlmostEqual(other / one, 1.0, delta=1e-5)

    def test_needs_the_memory_that_check_predicts(self):
        for more in ("0", "3"):
            made = self.expect(0, "run", self.write("a.ini", EISENSTAT), "--fresh",
                               "--set", f"solver.true_residual_every={more}")
            line = next(line for line in made.stdout.splitlines() if line.startswith("memory"))
            held, predicted = line.replace(" at the peak", "").replace(" predicted", "").split(",")
            self.assertEqual(held.split()[1:], predicted.split(), line)

    def test_goes_on_with_the_same_bits(self):
        deck = self.write("a.ini", EISENSTAT)
        self.run_to("whole.h5", deck)
        self.expect(75, "run", deck, stop_at=9)
        self.expect(0, "run", deck)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")

    def test_same_bits_for_any_number_of_threads(self):
        deck = self.write("a.ini", EISENSTAT)
        for threads in (1, 2):
            self.run_to(f"t{threads}.h5", deck, "--threads", str(threads), "--set", "grid.cells=48 48 48")
        self.expect(0, "diff", "t1.h5", "t2.h5", "--tolerance", "0")

    def test_refuses_what_has_no_such_form(self):
        deck = self.write("a.ini", EISENSTAT)
        for change in ("preconditioner.name=jacobi", "preconditioner.name=par_ilu", "preconditioner.fill_level=1",
                       "preconditioner.storage=single", "preconditioner.name=multigrid", "device.ranks=2",
                       "grid.periodic=x"):
            with self.subTest(change):
                self.expect(2, "check", deck, "--set", change, says="solver.eisenstat = true")
        singular = str(INPUTS / "cells_neumann.ini")
        self.expect(0, "check", singular, "--set", "solver.name=cg", "--set", "preconditioner.name=struct_ilu")
        self.expect(2, "check", singular, "--set", "solver.name=cg", "--set", "preconditioner.name=struct_ilu",
                    "--set", "solver.eisenstat=true", says="constants are in the null space")
        self.expect(2, "check", deck, "--set", "device.layout=hyperplane", says="device.layout")
        self.expect(2, "check", deck, "--set", "solver.name=gmres", says="solver.eisenstat belongs to solver cg")
        self.expect(2, "check", self.write("b.ini", TRANSPORT.format(cells=9, steps=1).replace("gmres", "cg") +
                                           "eisenstat = true\n"), says="symmetric")


if __name__ == "__main__":
    unittest.main()
