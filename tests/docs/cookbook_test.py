# SPDX-License-Identifier: BSD-3-Clause
"""The iterations, bytes and exit codes in docs/cookbook.md, checked by running its commands."""

import json
import shutil
import unittest

from document import DocumentTest, blocks, read, rows

TEXT = read("cookbook.md")
METHODS = ("preconditioner.name=none", "preconditioner.name=jacobi",
           *(f"preconditioner.name=struct_ilu preconditioner.fill_level={level}" for level in (0, 1, 2)))
HAS_GPU = shutil.which("nvidia-smi") is not None


class Cookbook(DocumentTest):
    def setUp(self):
        (self.folder / "case.ini").write_text("[problem]\nname = poisson\n")

    def ask(self, verb, *settings):
        """(exit code, JSON) of a run of the deck with these settings."""
        sets = " ".join(f"--set '{setting}'" for setting in settings)
        done = self.shell(f"hyperplane {verb} case.ini --json --quiet {sets}")
        return done.returncode, json.loads(done.stdout)

    def test_iterations(self):
        for case, *claimed in rows(TEXT, "case"):
            for method, claim in zip(METHODS, claimed, strict=True):
                with self.subTest(case=case, method=method):
                    code, answer = self.ask("run", "output.file=case.h5", *case.strip("`").split(), *method.split())
                    if claim.startswith("exit"):
                        self.assertEqual(code, int(claim.split()[1]))
                        continue
                    self.assertEqual(code, 0)
                    # Other processors round differently, by a few iterations in a hundred.
                    self.assertAlmostEqual(answer["iterations"], int(claim), delta=max(2, 0.05 * int(claim)))

    def test_bytes(self):
        moved, held = (row[1:] for row in rows(TEXT, "|"))
        for method, traffic, memory in zip(METHODS, moved, held, strict=True):
            _, answer = self.ask("check", "solver.name=cg", *method.split())
            self.assertAlmostEqual(answer["estimate"]["iteration_bytes"] / 2**20, float(traffic), delta=0.006)
            self.assertAlmostEqual(answer["memory"]["predicted"] / 2**20, float(memory), delta=0.006)

    def test_restarts(self):
        case = next(row[0] for row in rows(TEXT, "case") if "viscosity=1e-2" in row[0]).strip("`").split()
        for restart, claim in ((10, 1196), (30, 554), (100, 300), (1200, 187)):
            self.assertIn(str(claim), TEXT)
            _, answer = self.ask("run", "output.file=case.h5", *case, METHODS[1], f"solver.restart={restart}")
            self.assertAlmostEqual(answer["iterations"], claim, delta=0.05 * claim)

    def test_exit_codes(self):
        for language, _, content in blocks(TEXT):
            self.assertEqual(language, "bash")
            done = self.shell(content)
            self.assertEqual(done.returncode, 0, done.stderr)
        for code, meaning, command, *_ in rows(TEXT, "code"):
            if not command or (code == "9" and HAS_GPU):
                continue
            with self.subTest(command=command):
                self.assertEqual(self.shell(command.strip("`")).returncode, int(code), meaning)


if __name__ == "__main__":
    unittest.main()
