# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command of docs/tutorial.md, docs/slurm.md and docs/own_matrix.md in order, and compares the output with what they say."""

import subprocess
import unittest

from document import DocumentTest, blocks, read

PYTHON = "/usr/bin/python3"


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


class Tutorial(DocumentTest):
    def run_commands(self, page, can_report=True):
        """Runs the blocks marked bash; those marked sh need what a test does not have. Returns how many were run."""
        ran = 0
        printed = None  # output of the block before; None if it was not run
        for language, options, content in blocks(read(page)):
            if language == "text":
                for line in content.splitlines() if printed is not None else ():
                    self.assertIn(line, printed)
                continue
            printed = None
            if language != "bash" or ("needs" in options and not has(options["needs"])):
                continue
            if not can_report:
                content = "".join(line for line in content.splitlines(True) if not line.startswith("hyperplane report"))
            done = self.shell(content)
            printed = done.stdout + done.stderr
            self.assertEqual(done.returncode, int(options.get("exit", 0)), f"{content}\n{printed}")
            ran += 1
        return ran

    def test_slurm(self):
        self.assertEqual(self.run_commands("slurm.md"), 5)

    def test_own_matrix(self):
        self.assertEqual(self.run_commands("own_matrix.md"), 9)

    def test_every_command(self):
        """The first block, marked sh, installs and builds the program, which has already been done."""
        can_report = has("h5py, matplotlib")
        self.assertGreater(self.run_commands("tutorial.md", can_report), 10)
        if can_report:
            for page in ("rock.html", "rock.pdf", "compared.html", "sizes.html"):
                self.assertGreater((self.folder / page).stat().st_size, 10000)
        else:
            self.skipTest("the reports of the tutorial: Python with h5py and matplotlib is missing")


if __name__ == "__main__":
    unittest.main()
