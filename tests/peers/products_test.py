# SPDX-License-Identifier: BSD-3-Clause
"""tests/peers/compare_products.py on small systems: every peer makes the same product, a missing one is named, the same
command goes on, and a peer with another product is an error. Run by ctest; $BUILD is the build folder."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD"])

try:
    import scipy
except ImportError:
    scipy = None


class Products(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "products.json"

    def compare(self, *words):
        return subprocess.run([sys.executable, HERE / "compare_products.py", BUILD, "-o", self.output, "--turns", "2",
                               "--products", "2", *words], capture_output=True, text=True)

    def rows(self, *words):
        done = self.compare(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(self.output.read_text())["rows"], done.stdout

    def test_peers_take_turns(self):
        systems = ("star7-7", "box27-random-6", "reservoir-5", "circuit-60", "tetrahedra-6")
        rows, _ = self.rows("--systems", *systems)
        self.assertEqual([(row["system"], row["threads"]) for row in rows], [(one, n) for one in systems for n in (1, 2)])
        for row in rows:
            named = {**row["ms"], **row["missing"]}
            wanted = {"hyperplane", "PETSc AIJ"} | ({"SciPy CSR"} if row["threads"] == 1 else set())
            if row["block"] == 3:
                wanted |= {name.replace("CSR", "BSR").replace("AIJ", "BAIJ") for name in wanted}
            self.assertEqual(set(named), wanted)
            self.assertGreater(min(row["ms"].values()), 0.0)
            if scipy and row["threads"] == 1:
                self.assertIn("SciPy CSR", row["ms"])
        table = subprocess.run([sys.executable, HERE / "compare_products.py", "--markdown", self.output], capture_output=True, text=True)
        self.assertEqual(len(table.stdout.splitlines()), 2 + len(rows))

    def test_a_missing_peer_is_named_and_the_command_goes_on(self):
        rows, said = self.rows("--systems", "star7-5", "--threads", "1", "--petsc", "nowhere/petsc_products")
        self.assertIn("star7-5: PETSc AIJ is left out: petsc_products is not built", said)
        again, said = self.rows("--systems", "star7-5", "star7-6", "--threads", "1", "--petsc", "nowhere/petsc_products")
        self.assertEqual(again[0], rows[0])
        self.assertEqual([row["system"] for row in again], ["star7-5", "star7-6"])
        self.assertNotIn("| star7-5 ", said)

    def test_another_product_is_an_error(self):
        wrong = self.folder / "petsc_products"
        wrong.write_text("#!/bin/sh\necho 125 725 1.0\n")
        wrong.chmod(0o755)
        done = self.compare("--systems", "star7-5", "--threads", "1", "--petsc", wrong)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("||A x|| is 1.0 with PETSc AIJ", done.stderr)
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main()
