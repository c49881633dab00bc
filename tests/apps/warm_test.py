# SPDX-License-Identifier: BSD-3-Clause
"""Kernels compiled in advance by `hyperplane warm`, without a GPU."""

import json
import os
import re
import subprocess
import unittest

from program import POISSON, PROGRAM, ProgramTest


class Warm(ProgramTest):
    def setUp(self):
        super().setUp()
        built = json.loads(self.expect(0, "info", "build", "--json").stdout)
        if "cuda" not in built["backends"]:
            self.skipTest("the program was built without CUDA")
        os.environ["HYPERPLANE_KERNEL_CACHE"] = str(self.folder / "kernels")
        self.addCleanup(os.environ.pop, "HYPERPLANE_KERNEL_CACHE")

    def counts(self, *words):
        """(compiled, kept) for each architecture."""
        text = self.expect(0, "warm", *words).stdout
        return {name: (int(compiled), int(kept))
                for name, compiled, kept in re.findall(r"(sm_\d+): (\d+) programs? compiled in .*, (\d+) kept", text)}

    def test_what_was_compiled_is_kept(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = jacobi\n[device]\nbackend = cuda\n")
        first = self.counts(deck, "--arch", "90")
        self.assertEqual(first["sm_90"][1], 0)
        self.assertEqual(len(list((self.folder / "kernels").glob("*.cubin"))), first["sm_90"][0])
        self.assertEqual(self.counts(deck, "--arch", "80,90"),
                         {"sm_80": first["sm_90"], "sm_90": first["sm_90"][::-1]})

    def test_processes_at_the_same_time_divide_the_work(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = struct_ilu\n[device]\nbackend = cuda\n")
        several = [subprocess.Popen([PROGRAM, "warm", deck, "--arch", "80,90"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
                   for _ in range(3)]
        found = [re.findall(r"(\d+) programs? compiled in .*, (\d+) kept from earlier(?:, (\d+) compiled by other processes)?",
                            one.communicate()[0]) for one in several]
        self.assertEqual([one.returncode for one in several], [0, 0, 0])
        files = len(list((self.folder / "kernels").glob("*.cubin")))
        self.assertGreater(files, 4)
        self.assertEqual(sum(int(compiled) for one in found for compiled, _, _ in one), files)
        self.assertEqual(sum(int(kept) + int(others or 0) for one in found for _, kept, others in one), 2 * files)

    def test_locks_that_a_killed_process_has_left_hold_nobody_up(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = jacobi\n[device]\nbackend = cuda\n")
        first = self.counts(deck, "--arch", "90")
        (self.folder / "kernels/locks").mkdir(exist_ok=True)
        for file in (self.folder / "kernels").glob("*.cubin"):
            (self.folder / "kernels/locks" / file.name[:2]).touch()  # as kill -9 leaves them
            file.unlink()
        self.assertEqual(self.counts(deck, "--arch", "90"), first)

    def test_lines_for_profilers_are_kept_apart(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[preconditioner]\nname = jacobi\n[device]\nbackend = cuda\n")

        def holding_lines():
            return sum(b".nv_debug_line" in file.read_bytes() for file in (self.folder / "kernels").glob("*.cubin"))

        programs = self.counts(deck, "--arch", "90")["sm_90"][0]
        self.assertEqual(holding_lines(), 0)
        os.environ["HYPERPLANE_KERNEL_LINES"] = "1"
        self.addCleanup(os.environ.pop, "HYPERPLANE_KERNEL_LINES")
        self.assertEqual(self.counts(deck, "--arch", "90")["sm_90"], (programs, 0))
        self.assertEqual(holding_lines(), programs)

    def test_a_study_has_the_kernels_of_its_cases(self):
        text = POISSON.format(cells=8) + "[preconditioner]\nname = jacobi\n[device]\nlayout = natural\n"
        alone = self.counts(self.write("a.ini", text), "--arch", "90")["sm_90"][0]
        study = self.write("s.ini", text + "[sweep]\ngrid.cells = 8, 9\nproblem.name = poisson, block_laplacian\n")
        self.assertEqual(self.counts(study, "--arch", "90")["sm_90"], (alone, alone))

    def test_refusals(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(2, "warm", deck, "--arch", "hopper", says=["--arch 'hopper'", "80,90,100"])
        self.expect(2, "warm", deck, "--arch", "90,", says="--arch '90,'")
        for wrong in ("35", "75", "91", "12", "999"):
            for words in (wrong, f"80,{wrong}"):
                self.expect(2, "warm", deck, "--arch", words,
                            says=[f"--arch {wrong}: kernels cannot be compiled for it; they need compute capability 8.0 or newer, of which NVRTC ",
                                  " compiles for 80, 86, "])
        self.assertEqual(list(self.folder.glob("kernels/*")), [])
        self.expect(7, "warm", "none.ini", "--arch", "90", says="none.ini")
        os.environ["HYPERPLANE_KERNEL_CACHE"] = "/proc/kernels"
        self.expect(7, "warm", deck, "--arch", "90", says=["/proc/kernels", "HYPERPLANE_KERNEL_CACHE"])


if __name__ == "__main__":
    unittest.main()
