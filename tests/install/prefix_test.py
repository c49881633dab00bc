# SPDX-License-Identifier: BSD-3-Clause
"""Installs the build to a prefix, moves that elsewhere, and uses what is there: the program, what surrounds it, and the
library, which examples/consumer finds by find_package and links."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ["CMAKE"]


def run(*words, **options):
    """What the command prints; its whole output is the failure where it fails."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Prefix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        first, cls.prefix = cls.scratch / "first", cls.scratch / "a prefix"
        run(CMAKE, "--install", os.environ["HYPERPLANE_BUILD"], "--prefix", first)
        first.rename(cls.prefix)  # nothing may depend on where it was installed first
        cls.program = cls.prefix / "bin" / "hyperplane"

    def one(self, pattern):
        """The one installed file of this pattern."""
        found = list(self.prefix.glob(pattern))
        self.assertEqual(len(found), 1, f"{pattern}: {found}")
        return found[0]

    def test_what_is_installed(self):
        for name in ("bin/hyperplane", "share/man/man1/hyperplane.1", "share/bash-completion/completions/hyperplane",
                     "share/hyperplane/inputs/poisson.ini", "share/hyperplane/inputs/studies/storage.ini",
                     "share/hyperplane/reporting/report.py", "share/hyperplane/reporting/page.css",
                     "share/hyperplane/hyperplane/__init__.py", "share/doc/hyperplane/copyright",
                     "share/doc/hyperplane/docs/deck.md", "lib*/**/hyperplaneConfig.cmake"):
            self.one(name)
        headers = sorted(path.name for path in (self.prefix / "include").rglob("*") if path.is_file())
        self.assertEqual(headers, ["error.hpp", "linear_solver.hpp", "sparse_matrix.hpp", "stencil_matrix.hpp"])
        self.assertEqual([path for path in self.prefix.rglob("__pycache__")], [])

    def test_public_headers_need_nothing_else(self):
        for header in (self.prefix / "include").rglob("*.hpp"):
            for name in re.findall(r"#include [<\"](.*)[>\"]", header.read_text()):
                self.assertTrue("/" not in name or name.startswith("hyperplane/"), f"{header.name} includes {name}")

    def test_program(self):
        self.assertRegex(run(self.program, "--version"), r"^hyperplane \d+\.\d+\.\d+")
        deck = self.prefix / "share/hyperplane/inputs/poisson.ini"
        folder = self.scratch / "run"
        folder.mkdir()
        run(self.program, "run", deck, cwd=folder)
        self.assertTrue((folder / "poisson.h5").is_file())

    def test_man_page_and_completion_are_what_the_program_prints(self):
        page = self.one("share/man/man1/hyperplane.1").read_text()
        self.assertEqual(page, run(self.program, "help", "--man"))
        script = self.one("share/bash-completion/completions/hyperplane")
        self.assertEqual(script.read_text(), run(self.program, "help", "--completion", "bash"))
        run("bash", "-n", script)

    def test_library_is_found_linked_and_solves(self):
        folder = self.scratch / "consumer"
        source = shutil.copytree(ROOT / "examples/consumer", self.scratch / "source of consumer")
        flags = ["-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"]
        run(CMAKE, "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release", *flags)
        run(CMAKE, "--build", folder)
        errors = {}
        for cells in (16, 32):
            told = run(folder / "seven_point", cells)
            self.assertRegex(told, rf"^hyperplane \d+\.\d+\.\d+: cg with struct_ilu, {cells}\^3 cells\n")
            self.assertEqual(len(re.findall(r"converged_rtol after \d+ iterations", told)), 2, told)
            errors[cells] = float(re.search(r"largest error: (\S+)", told)[1])
        self.assertAlmostEqual(errors[16] / errors[32], 4.0, delta=0.1)  # second order
        told = run(folder / "seven_point", 16, "gmres", "multicolor")
        self.assertIn("gmres with multicolor", told)
        wrong = subprocess.run([str(folder / "seven_point"), "16", "cgs"], capture_output=True, text=True, check=False)
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("no solver is called 'cgs'; there are cg,", wrong.stderr)

        told = run(folder / "resistor_tree", 14)
        self.assertRegex(told, r"^cg with sync_free_ilu, 16383 nodes\n")
        self.assertEqual(len(re.findall(r"converged_rtol after \d+ iterations", told)), 2, told)
        self.assertIn("resistance: 0.9999389648 ohm, 0.9999389648 milliohm; exact: 0.9999389648", told)
        wrong = subprocess.run([str(folder / "resistor_tree"), "4", "cg", "struct_ilu"], capture_output=True, text=True,
                               check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("takes matrices on a grid alone", wrong.stderr)

    def test_python_module_solves(self):
        if not list((self.prefix / "share/hyperplane/hyperplane").glob("_library*.so")):
            self.skipTest("this build has no compiled part of the Python module (pybind11-dev)")
        code = ("import hyperplane, numpy, scipy.sparse as s\n"
                "print(hyperplane.solve(s.identity(5, format='csr') * 2.0, numpy.ones(5), solver='cg').x)")
        told = run(sys.executable, "-B", "-c", code, env={**os.environ, "PYTHONPATH": str(self.prefix / "share/hyperplane")})
        self.assertEqual(told, "[0.5 0.5 0.5 0.5 0.5]\n")

    def test_a_pde_of_ones_own(self):
        folder = self.scratch / "advection"
        source = shutil.copytree(ROOT / "examples/advection", self.scratch / "source of advection")
        self.assertLess(len((source / "advection.cpp").read_text().splitlines()), 150)
        run(CMAKE, "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run(CMAKE, "--build", folder)
        errors = [float(run(folder / "advection", cells).split()[-1]) for cells in (12, 24)]
        self.assertAlmostEqual(errors[0] / errors[1], 4.0, delta=0.3)  # second order
        wrong = subprocess.run([str(folder / "advection"), "12", "cg"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("needs a symmetric matrix", wrong.stderr)

    def test_the_lines_of_the_documents_build_without_a_standard_of_ones_own(self):
        for document in ("library.md", "own_pde.md"):
            with self.subTest(document):
                lines = re.search(r"```cmake\n(.*?)```", (ROOT / "docs" / document).read_text(), re.DOTALL)[1]
                source = self.scratch / f"project of {document}"
                source.mkdir()
                (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\n"
                                                       "project(documented LANGUAGES CXX)\n" + lines)
                name = re.search(r"add_executable\((\w+) (\w+\.cpp)\)", lines)
                shutil.copy(ROOT / "examples/advection/advection.cpp", source / name[2])
                run(CMAKE, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
                run(CMAKE, "--build", source / "build")
                run(source / "build" / name[1], 12)

    def test_another_minor_version_is_refused(self):
        folder = self.scratch / "newer"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES CXX)\n"
                                               "find_package(hyperplane 0.1 REQUIRED)\n")
        done = subprocess.run([CMAKE, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hyperplaneConfig.cmake, version: 0.2", done.stderr)


if __name__ == "__main__":
    unittest.main()
