# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane bench vectors, assembly and products: the numbers of what a solve consists of beside its preconditioner."""

import unittest

from program import POISSON, ProgramTest, chain


class BenchVectors(ProgramTest):
    def test_vectors(self):
        found = self.bench("vectors", "--unknowns", "1000,40000")
        sizes = [row["unknowns"] for row in found["operations"]]
        self.assertEqual(sizes, [1000] * 9 + [40000] * 9)
        for row in found["operations"]:
            self.assertGreater(row["seconds"]["median"], 0.0)
            self.assertNotIn("cublas_seconds", row)  # only on a GPU
        widths = [row["bytes"] / row["unknowns"] / 8 for row in found["operations"][:9]]
        self.assertEqual(widths, [2, 1, 2, 2, 3, 3, 5, 17, 18])
        self.expect(2, "bench", "vectors", "--unknowns", "many", says="--unknowns")
        self.expect(2, "bench", "vectors", "a.ini", says="--unknowns")

    def test_assembly(self):
        poisson = self.write("a.ini", POISSON.format(cells=12))
        gas = self.write("b.ini", "[problem]\nname = euler\ncase = pulse\n[grid]\ncells = 9 8 7\n[solver]\nname = gmres\n")
        found = self.bench("assembly", poisson, gas)
        parts = [[part["name"] for part in deck["parts"]] for deck in found["decks"]]
        self.assertEqual(parts, [["residual", "matrix"], ["residual", "matrix", "preconditioner matrix"]])
        for deck in found["decks"]:
            self.assertLess(deck["against_differences"], 1e-6)
            for part in deck["parts"]:
                seconds = part["seconds"]["median"]
                self.assertAlmostEqual(part["time_over_limit"] * part["bytes"] / found["copy_rate"] / seconds, 1.0)
        self.assertEqual(found["decks"][0]["parts"][1]["bytes"], 4 * 12**3 * 8)  # half of star7
        self.assertEqual(found["decks"][1]["parts"][1]["bytes"], 13 * 25 * 9 * 8 * 7 * 8)
        another = self.bench("assembly", gas, "--set", "problem.jacobian=first")["decks"][0]
        self.assertGreater(another["against_differences"], 1e-4)
        self.expect(2, "bench", "assembly", says="name one or more decks")

    def test_assembly_of_general_matrices(self):
        poisson = self.write("a.ini", POISSON.format(cells=5))
        gas = self.write("b.ini", "[problem]\nname = euler\ncase = pulse\n[grid]\ncells = 9 8 7\n[solver]\nname = gmres\n")
        general = ("--set", "matrix.format=general", "--set", "preconditioner.name=none")
        for deck in self.bench("assembly", poisson, gas, *general)["decks"]:
            self.assertEqual(deck["format"], "general")
            self.assertLess(deck["against_differences"], 1e-6)
        # The coefficients of the 5^3 rows of star7 whose neighbours exist, of both triangles.
        poisson_parts = {part["name"]: part for part in self.bench("assembly", poisson, *general)["decks"][0]["parts"]}
        self.assertEqual(poisson_parts["matrix"]["bytes"], 8 * (7 * 5**3 - 6 * 5**2))
        self.assertEqual(poisson_parts["residual"]["bytes"], 8 * 2 * 5**3)

    def test_assembly_of_a_matrix_from_a_file(self):
        """Its matrix is a copy of the file's, and its F = A x - b takes a product with it."""
        self.write("chain.mtx", chain([4.0] * 5))
        deck = self.write("c.ini", "[problem]\nname = matrix\nfile = chain.mtx\n[solver]\nname = gmres\n")
        found, = self.bench("assembly", deck)["decks"]
        self.assertEqual((found["format"], found["points"]), ("general", 5))
        self.assertLess(found["against_differences"], 1e-6)
        residual, matrix = found["parts"]
        self.assertEqual(residual["bytes"], 13 * (8 + 4) + 6 * 8 + 3 * 5 * 8)
        self.assertEqual(matrix["bytes"], 2 * 13 * 8)

    def test_products(self):
        deck = self.write("a.ini", "[problem]\nname = block_laplacian\n[grid]\ncells = 9 8 7\n[solver]\nname = gmres\n")
        on_grid, = self.bench("products", deck)["decks"]
        found = self.bench("products", deck, deck, "--set", "matrix.format=general", "--set", "preconditioner.name=none")
        self.assertEqual((on_grid["format"], on_grid["rows"]), ("structured", 504))
        for deck in found["decks"]:
            self.assertEqual((deck["format"], deck["rows"], deck["entries"]), ("general", 504, 3146 * deck["dof"]**2))
            unknowns = 504 * deck["dof"]
            for way, vectors in zip(deck["ways"], (2, 3), strict=True):
                self.assertEqual(way["bytes"], 8 * deck["entries"] + 4 * 3146 + 8 * 505 + 8 * vectors * unknowns)
                self.assertLess(way["error"], 1e-15)
                self.assertAlmostEqual(way["time_over_limit"] * way["bytes"] / found["copy_rate"] / way["seconds"]["median"], 1.0)
            self.assertEqual([way["name"] for way in deck["ways"]], ["product", "residual"])
            self.assertGreater(deck["copy"]["median"], 0.0)
        self.expect(2, "bench", "products", says="name one or more decks")


if __name__ == "__main__":
    unittest.main()
