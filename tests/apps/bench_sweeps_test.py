# SPDX-License-Identifier: BSD-3-Clause
"""`hyperplane bench sweeps`: how Jacobi sweeps come near to exact triangular solves."""

import json
import unittest

from program import POISSON, ProgramTest


class BenchSweeps(ProgramTest):
    def sweeps(self, deck, *settings, most=60):
        """What bench sweeps finds with these settings of a deck."""
        words = [word for setting in settings for word in ("--set", setting)]
        found = json.loads(self.expect(0, "bench", "sweeps", deck, *words, "--sweeps", str(most), "--json", "-").stdout)
        return found["decks"][0]

    def assert_same_sweeps(self, one, other, error=1e-12):
        for triangle in ("lower", "upper"):
            self.assertEqual(one[triangle]["levels"], other[triangle]["levels"])
            for key in ("residual", "error"):
                shared = list(zip(one[triangle][key], other[triangle][key]))
                self.assertGreater(len(shared), 1)
                for here, there in shared:
                    self.assertAlmostEqual(here, there, delta=error)

    def test_sweeps(self):
        """On a grid and as a general matrix the same triangles have the same record, in each family."""
        general = ("matrix.format=general", "preconditioner.name=sync_free_ilu")
        for text in (POISSON.format(cells=9), POISSON.format(cells=7).replace("poisson", "block_laplacian")):
            deck = self.write("a.ini", text)
            expected = self.sweeps(deck, *general)
            self.assertEqual(expected["sweeps"], "synchronous")
            for triangle in ("lower", "upper"):
                found = expected[triangle]
                self.assertEqual(found["levels"], 3 * 7 - 2)
                self.assertEqual(found["residual"][0], 1.0)
                self.assertGreater(found["error"][8], 1e-6)
                self.assertLess(found["error"][found["levels"]], 1e-15)
                self.assertLessEqual(len(found["error"]), found["levels"] + 2)
            for keys in (("struct_ilu",), ("jacobi_sweeps", "lower_sweeps=40", "upper_sweeps=40"), ("par_ilu", "sweeps=30"),
                         ("fgbilu", "triangular_solve=jacobi")):
                with self.subTest(keys):
                    name, *others = keys
                    found = self.sweeps(deck, f"preconditioner.name={name}", *(f"preconditioner.{key}" for key in others))
                    self.assertEqual(found["preconditioner"], name)
                    self.assert_same_sweeps(found, expected)
            parts = self.sweeps(deck, "preconditioner.name=subdomain_ildu0", "preconditioner.triangular_solve=jacobi")
            self.assertLessEqual(parts["lower"]["levels"], expected["lower"]["levels"])
            self.assertLess(parts["lower"]["error"][parts["lower"]["levels"]], 1e-15)
            reduced = self.sweeps(deck, "preconditioner.name=jacobi_sweeps", "preconditioner.storage=single")
            self.assert_same_sweeps(reduced, expected, 1e-5)
            # Red and black points: the first colour is exact after one sweep, the second after two.
            coloured = self.sweeps(deck, "preconditioner.name=multicolor", "preconditioner.triangular_solve=jacobi")
            self.assertEqual((coloured["lower"]["levels"], coloured["upper"]["levels"]), (2, 2))
            self.assertLess(coloured["upper"]["error"][2], 1e-15)
            self.assert_same_sweeps(coloured, self.sweeps(deck, *general, "ordering.name=multicolor"))

    def test_sweeps_of_orders_and_modes(self):
        deck = self.write("a.ini", POISSON.format(cells=9))
        general = ("matrix.format=general", "preconditioner.name=jacobi_sweeps", "device.threads=1")
        natural, ordered = self.sweeps(deck, *general), self.sweeps(deck, *general, "ordering.name=rcm")
        self.assertEqual((natural["order"], ordered["order"]), ("natural", "rcm"))
        self.assertEqual(ordered["lower"]["levels"], 19)  # the levels of star7 are those of reverse Cuthill-McKee
        general += ("solver.name=fgmres",)
        blocks = self.sweeps(deck, *general, "preconditioner.mode=block_async")
        self.assertEqual(blocks["sweeps"], "block-asynchronous (dependency)")
        for triangle in ("lower", "upper"):
            for here, there in list(zip(blocks[triangle]["error"], natural[triangle]["error"]))[1:10]:
                self.assertLess(here, there)
        against = self.sweeps(deck, *general, "preconditioner.mode=block_async", "preconditioner.block_order=backward")
        self.assertGreater(against["lower"]["error"][4], 1.5 * blocks["lower"]["error"][4])
        shown = self.expect(0, "bench", "sweeps", deck, "--set", "preconditioner.name=struct_ilu", "--sweeps", "3").stdout
        self.assertIn("levels: 19 and 19; with as many synchronous sweeps a solve is exact", shown)
        self.assertLessEqual(len(self.sweeps(deck, *general)["lower"]["error"]), 21)
        self.assertEqual(len(self.sweeps(deck, *general, most=4)["lower"]["error"]), 5)

    def test_sweeps_without_triangles(self):
        deck = self.write("a.ini", POISSON.format(cells=6))
        for name, says in (("jacobi", "has no triangular factors that can be read; set preconditioner.name = jacobi_sweeps"),
                           ("multicolor", "set preconditioner.triangular_solve = jacobi")):
            self.expect(2, "bench", "sweeps", deck, "--set", f"preconditioner.name={name}", says=says)
        self.expect(2, "bench", "sweeps", says="name one or more decks")
        self.expect(2, "bench", "sweeps", deck, "--repeats", "3", says="--repeats is an option of bench")
        self.expect(2, "bench", "solve", deck, "--sweeps", "3", says="--sweeps is an option of bench sweeps alone")


if __name__ == "__main__":
    unittest.main()
