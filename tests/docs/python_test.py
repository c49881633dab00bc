# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of docs/notebook.ipynb, and builds and imports the module's wheel as docs/python.md says."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

try:
    import h5py  # noqa: F401
    import matplotlib

    matplotlib.use("Agg")
except ImportError as missing:
    print(f"skipped: the module and its notebook, {missing} ({sys.executable})")
    sys.exit(77)

sys.path[:0] = [str(ROOT / "python")]

import backend  # noqa: E402
from document import blocks  # noqa: E402
import hyperplane  # noqa: E402

POISSON = {"problem": {"name": "poisson"}, "grid": {"cells": 6}, "solver": {"name": "cg"}}


class Python(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_notebook(self):
        notebook = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
        names = {}
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                self.assertEqual(cell["outputs"], [])
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)  # noqa: S102
        for name, words in (("run", "cg + struct_ilu"), ("compared", "multicolor"), ("sizes", "done")):
            self.assertIn(words, names[name]._repr_html_())
            self.assertLess(len(repr(names[name])), 120)
        self.assertEqual(os.listdir(), [])  # nothing is left behind

    def test_decks_settings_and_names_in_other_words(self):
        plain = hyperplane.run(POISSON, set={"solver.rtol": 1e-6})
        flat = {"problem.name": "poisson", "grid.cells": 6, "solver": {"name": "cg"}}
        for deck, changes in ((flat, ["solver.rtol=1e-6"]), (POISSON, "solver.rtol=1e-6")):
            self.assertEqual(hyperplane.run(deck, set=changes).relative_residual, plain.relative_residual)
        names = [hyperplane.compare(flat, preconditioners=names, solvers=solvers, reps=1).table.name.tolist()
                 for names, solvers in ((["jacobi", "none"], ["cg"]), ("jacobi, none", "cg"))]
        self.assertEqual(*map(sorted, names))
        for wrong in ({"problem": "poisson"}, {"problem": {"name": "poisson"}, "cells": 6}, 3):
            with self.subTest(deck=wrong), self.assertRaises(hyperplane.RunError) as caught:
                hyperplane.run(wrong)
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertIn('{"problem": {"name": "poisson"}', str(caught.exception))

    def test_values_of_a_dictionary_stay_values(self):
        import numpy as np

        (Path("a #1; b.mtx")).write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 4\n")
        read = {"problem": {"name": "matrix", "file": "a #1; b.mtx"}, "preconditioner.name": "none"}
        self.assertEqual(hyperplane.run(read).unknowns, 2)
        os.link("a #1; b.mtx", "a,b.mtx")
        files = ["a #1; b.mtx", "a,b.mtx"]
        varied = hyperplane.study({**read, "sweep": {"problem.file": files, "solver.name": "gmres, fgmres"}}).cases
        self.assertEqual(list(varied["problem.file"]), [files[0], files[0], files[1], files[1]])
        self.assertEqual(list(varied["solver.name"]), 2 * ["gmres", "fgmres"])
        written = {"problem.file": 'a #1; b.mtx, "a,b.mtx"'}  # as one text, where # and ; begin no comment
        self.assertEqual(list(hyperplane.study({**read, "sweep": written}).cases["problem.file"]), files)
        self.assertEqual(hyperplane.run({**POISSON, "grid": {"cells": np.array([3, 4, 5])}}).extents, (3, 4, 5))
        for deck, words, settings in (({**POISSON, "problem": {"name": "poisson\n[grid]\ncells = 4"}}, "has a line break", {}),
                                      ({**POISSON, "grid.cells": 7}, "grid.cells is given twice", {}),
                                      (POISSON, "set: expected", {"set": 5})):
            with self.subTest(words), self.assertRaisesRegex(hyperplane.RunError, words) as caught:
                hyperplane.run(deck, **settings)
            self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaisesRegex(hyperplane.RunError, "--reps"):
            hyperplane.compare(POISSON, preconditioners="jacobi", reps=0)

    def test_it_installs_as_documented(self):
        """The commands of docs/python.md but apt-get, without a network, then a record is read by what was installed."""
        if subprocess.run([sys.executable, "-c", "import ensurepip, pip"], capture_output=True).returncode:
            self.skipTest("python3-venv or python3-pip is not installed")
        os.symlink(ROOT / "python", "python")
        record = hyperplane.run(POISSON, output="kept.h5")
        commands = [line.replace("python3 ", sys.executable + " ", 1) if line.startswith("python3") else line
                    for language, _, text in blocks((ROOT / "docs/python.md").read_text(encoding="utf-8"))
                    if language == "sh" for line in text.splitlines() if "apt-get" not in line]
        self.assertEqual(len(commands), 4)
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ""}
        look = ("import hyperplane\n"
                "try: import hyperplane._library as compiled\n"
                "except ImportError: compiled = None\n"
                "print(hyperplane.__file__, compiled is not None, hyperplane.load('kept.h5').iterations)")
        for commands in (commands[:2], commands[2:]):  # from the folder, then from the wheel
            for command in commands:
                done = subprocess.run(command, shell=True, text=True, capture_output=True, env=environment)
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
            done = subprocess.run(["venv/bin/python", "-I", "-c", look], text=True, capture_output=True, env=environment)
            self.assertEqual(done.stdout.split()[-2:], [str(bool(backend.compiled_part())), str(record.iterations)],
                             done.stderr)
            self.assertIn("/venv/", done.stdout)
            subprocess.run(["venv/bin/pip", "uninstall", "--quiet", "--yes", "hyperplane"], check=True, env=environment)

    def test_what_leaves_no_record_is_an_error(self):
        with self.assertRaises(hyperplane.RunError) as caught:
            hyperplane.run({**POISSON, "problem": {"name": "poison"}})
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("did you mean poisson", str(caught.exception))

    def test_a_run_that_does_not_converge_has_a_record(self):
        record = hyperplane.run(POISSON, set={"solver.max_iterations": 2})
        self.assertEqual((record.exit_code, record.iterations), (3, 2))

    def test_a_record_is_kept_where_output_says(self):
        hyperplane.run(POISSON, output="kept.h5")
        self.assertEqual(hyperplane.load("kept.h5").status, "ok")

    def test_wheel(self):
        wheel = backend.build_wheel(".")
        done = subprocess.run([sys.executable, "-c", "import hyperplane; print(hyperplane.__file__)"], text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": os.path.abspath(wheel)})
        self.assertIn(wheel, done.stdout, done.stderr)
        version = next(line for line in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").splitlines()
                       if "VERSION 0." in line or "VERSION 1." in line)
        self.assertIn(wheel.split("-")[1], version)


if __name__ == "__main__":
    unittest.main()
