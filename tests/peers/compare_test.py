# SPDX-License-Identifier: BSD-3-Clause
"""tests/peers/compare.py prints its table, on a small system: beside PETSc where petsc_poisson is built, and beside a
stand-in for it, which prints fixed figures, everywhere. PETSc's program solves the program's own system. Run by ctest;
$BUILD is the build folder."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD"])
ROWS = ["SpMV, 1 thread, ms", "ILU(0) / IC(0) apply, 1 thread, ms", "CG + IC(0) iteration, 1 thread, ms",
        "CG + IC(0) to 1e-8, 2 cores, set-up and solve, s"]


def compare(build, **variables):
    return subprocess.run([sys.executable, HERE / "compare.py", build, "2", "--points", "16"],
                          env={**os.environ, **variables}, capture_output=True, text=True)


def program(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


NEEDS_PETSC = unittest.skipUnless((BUILD / "tests/peers/petsc_poisson").exists(),
                                  "petsc_poisson is not built (needs petsc-dev)")


class Petsc(unittest.TestCase):
    @NEEDS_PETSC
    def test_takes_the_programs_iterations(self):
        # The counts of inputs/paper/small_poisson_ic0.ini and small_poisson_ic0_tight.ini: 62 interior points a side.
        for rtol, iterations in (("1e-2", 22), ("1e-5", 53)):
            with self.subTest(rtol=rtol):
                done = subprocess.run([BUILD / "tests/peers/petsc_poisson", "-points", "64", "-repeats", "1", "-rtol", rtol,
                                       "-json"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(json.loads(done.stdout)["cg_icc0"]["iterations"], iterations)


class Compare(unittest.TestCase):
    def table_of(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()
                if line.startswith("|")]
        self.assertEqual([row[0] for row in rows[2:]], ROWS)
        for row in rows[2:]:
            for cell in row[1:3]:
                self.assertGreater(float(cell), 0.0)
            self.assertRegex(row[3], r"^\S+ \(\S+ to \S+\)$")
        return rows[2:], re.search(r"PETSc (\d+) on one process, (\d+) on two; Hyperplane (\d+)", done.stdout).groups()

    @NEEDS_PETSC
    def test_beside_petsc(self):
        _, iterations = self.table_of(compare(BUILD))
        self.assertEqual(iterations[0], iterations[2])

    def test_beside_a_stand_in(self):
        figure = {"median": 2000.0, "best": 1000.0}
        figures = {"spmv_ms": figure, "ilu0_apply_ms": figure, "icc0_apply_ms": figure, "cg_icc0_iteration_ms": figure,
                   "cg_icc0": {"iterations": 17, "setup_s": 1.0, "total_s": 3.0}}
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            program(build / "tests/peers/petsc_poisson",
                    f"#!/bin/sh\necho \"$@\" >>'{build}/asked'\ncat <<'END'\n{json.dumps(figures)}\nEND\n")
            program(build / "bin/mpirun", '#!/bin/sh\nshift 3\nexec "$@"\n')
            (build / "apps").mkdir()
            (build / "apps/hyperplane").symlink_to(BUILD / "apps/hyperplane")
            rows, iterations = self.table_of(compare(build, PATH=f"{build}/bin:{os.environ['PATH']}"))
            self.assertEqual((build / "asked").read_text().split("\n")[:-1], ["-system ones -json -points 16"] * 4)
        self.assertEqual([row[1] for row in rows], ["2e+03", "2e+03", "2e+03", "3"])
        self.assertEqual(iterations[:2], ("17", "17"))
        self.assertGreater(int(iterations[2]), 5)

    def test_a_peer_that_fails_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program(pathlib.Path(folder) / "tests/peers/petsc_poisson", "#!/bin/sh\necho no memory >&2\nexit 3\n")
            done = compare(folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ends with code 3", done.stderr)
        self.assertIn("no memory", done.stderr)


if __name__ == "__main__":
    unittest.main()
