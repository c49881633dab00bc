# SPDX-License-Identifier: BSD-3-Clause
"""tests/peers/compare.py prints its table, on a small system: beside PETSc and hypre where their programs are built, and
beside stand-ins for them, which print fixed figures, everywhere. The peers solve the program's own system. Run by ctest;
$BUILD is the build folder."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import compare as peers

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD"])
ROWS = ["SpMV, 1 thread, ms: PETSc", "ILU(0) / IC(0) apply, 1 thread, ms: PETSc",
        "CG + IC(0) iteration, 1 thread, ms: PETSc", "to 1e-8, 2 cores, set-up and solve, s: PETSc, CG + ICC(0)"]
HYPRES_ROW = "to 1e-8, 2 cores, set-up and solve, s: hypre, CG + PFMG"


def compare(build, **variables):
    return subprocess.run([sys.executable, HERE / "compare.py", build, "2", "--points", "16"],
                          env={**os.environ, **variables}, capture_output=True, text=True)


def program(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def needs(name, package):
    return unittest.skipUnless((BUILD / "tests/peers" / name).exists(), f"{name} is not built (needs {package})")


class Peers(unittest.TestCase):
    def solve(self, name, *words):
        done = subprocess.run([BUILD / "tests/peers" / name, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    @needs("petsc_poisson", "petsc-dev")
    def test_petsc_takes_the_programs_iterations(self):
        # The counts of inputs/paper/small_poisson_ic0.ini and small_poisson_ic0_tight.ini: 62 interior points a side.
        for rtol, iterations in (("1e-2", 22), ("1e-5", 53)):
            with self.subTest(rtol=rtol):
                found = self.solve("petsc_poisson", "-points", "64", "-repeats", "1", "-rtol", rtol, "-json")
                self.assertEqual(found["cg_icc0"]["iterations"], iterations)

    @needs("hypre_poisson", "libhypre-dev")
    def test_hypres_multigrid_converges(self):
        found = self.solve("hypre_poisson", "-points", "31", "-repeats", "1")["cg_pfmg"]
        self.assertLessEqual(found["true_residual"], 1e-8)
        self.assertLess(found["iterations"], 20)


class Compare(unittest.TestCase):
    def table_of(self, done, hypre):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()
                if line.startswith("|")]
        self.assertEqual([row[0] for row in rows[2:]], ROWS + [HYPRES_ROW] * hypre)
        for row in rows[2:]:
            for cell in row[1:3]:
                self.assertGreater(float(cell), 0.0)
            self.assertRegex(row[3], r"^\S+ \(\S+ to \S+\)$")
        return rows[2:], done.stdout.splitlines()[-1]

    @needs("petsc_poisson", "petsc-dev")
    def test_beside_petsc(self):
        _, iterations = self.table_of(compare(BUILD), (BUILD / "tests/peers/hypre_poisson").exists())
        counts = re.findall(r"\d+", iterations.split("hypre")[0]) + re.findall(r"\d+", iterations)[-1:]
        self.assertEqual(counts[0], counts[-1])

    def beside_stand_ins(self, hypre):
        figure = {"median": 2000.0, "best": 1000.0}
        printed = {"petsc_poisson": {"spmv_ms": figure, "ilu0_apply_ms": figure, "icc0_apply_ms": figure,
                                     "cg_icc0_iteration_ms": figure, "cg_icc0": {"iterations": 17, "total_s": 3.0}}}
        if hypre:
            printed["hypre_poisson"] = {"cg_pfmg": {"iterations": 5, "total_s": 1.5}}
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            for name, figures in printed.items():
                program(build / "tests/peers" / name,
                        f"#!/bin/sh\necho \"$@\" >>'{build}/asked'\ncat <<'END'\n{json.dumps(figures)}\nEND\n")
            program(build / "bin/mpirun", '#!/bin/sh\nshift 3\nexec "$@"\n')
            (build / "apps").mkdir()
            (build / "apps/hyperplane").symlink_to(BUILD / "apps/hyperplane")
            done = compare(build, PATH=f"{build}/bin:{os.environ['PATH']}")
            rows, iterations = self.table_of(done, hypre)
            asked = (build / "asked").read_text().split("\n")[:-1]
        self.assertEqual(asked.count("-system ones -json -points 16"), 4)
        self.assertEqual(asked.count("-points 16"), 4 * hypre)
        self.assertEqual([row[1] for row in rows], ["2e+03", "2e+03", "2e+03", "3"] + ["1.5"] * hypre)
        self.assertIn("PETSc 17 on one process, 17 on two", iterations)
        self.assertEqual("hypre 5 and 5" in iterations, hypre)

    def test_beside_stand_ins(self):
        for hypre in (False, True):
            with self.subTest(hypre=hypre):
                self.beside_stand_ins(hypre)

    def test_a_total_has_the_whole_set_up(self):
        times = {"whole_setup": {"least": 2.0}, "factorise": {"least": 1.0}, "solve": {"least": 4.0}}
        self.assertEqual(peers.total(times), 6.0)

    def test_a_peer_that_fails_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program(pathlib.Path(folder) / "tests/peers/petsc_poisson", "#!/bin/sh\necho no memory >&2\nexit 3\n")
            done = compare(folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ends with code 3", done.stderr)
        self.assertIn("no memory", done.stderr)


if __name__ == "__main__":
    unittest.main()
