# SPDX-License-Identifier: BSD-3-Clause
"""Calls of hyperplane.run, compare, study and load that cannot work: which error they raise, and what it says."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]

try:
    import h5py  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing} ({sys.executable})")
    sys.exit(77)

sys.path[:0] = [str(ROOT / "python")]

import hyperplane  # noqa: E402

POISSON = {"problem": {"name": "poisson"}, "grid": {"cells": 6}, "solver": {"name": "cg"}}


class Calls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def refusal(self, code, call, *arguments, **options):
        with self.assertRaises(hyperplane.RunError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.exit_code, code)
        return str(caught.exception)


class Program(Calls):
    def test_a_program_that_cannot_be_one(self):
        Path("text").write_text("text")
        Path("script").write_text("text")
        os.chmod("script", 0o755)
        for named, words in (("none", "names none, which does not exist"), (".", "names ., which is no file"),
                             ("text", "names text, which is not executable"),
                             ("script", "script, which the environment variable HYPERPLANE names, cannot be started: Exec")):
            with mock.patch.dict(os.environ, HYPERPLANE=named):
                self.assertRegex(self.refusal(7, hyperplane.run, POISSON), words)

    def test_another_program(self):
        calls = ((hyperplane.run, POISSON), (hyperplane.compare, POISSON),
                 (hyperplane.study, {**POISSON, "sweep": {"grid.cells": [4, 5]}}))
        for call, deck in calls:
            with mock.patch.dict(os.environ, HYPERPLANE="/bin/true"):
                self.assertIn("the program /bin/true, which the environment variable HYPERPLANE names, ended with exit "
                              "code 0 and wrote no record", self.refusal(7, call, deck))
            with mock.patch.dict(os.environ, HYPERPLANE="/bin/false"):
                self.assertIn("HYPERPLANE names, ended with exit code 1 and said nothing", self.refusal(1, call, deck))

    def test_a_relative_name(self):
        os.symlink(os.environ["HYPERPLANE"], "mine")
        with mock.patch.dict(os.environ, HYPERPLANE="mine"):
            self.assertEqual(hyperplane.run(POISSON).status, "ok")


class Arguments(Calls):
    def test_of_another_type(self):
        jacobi = {"preconditioners": "jacobi"}
        for call, options, words in (
                (hyperplane.compare, {"preconditioners": 3}, 'preconditioners: expected names, such as .*; got 3'),
                (hyperplane.compare, {"solvers": ["cg", None]}, r"solvers: expected names, .*; got \['cg', None\]"),
                (hyperplane.compare, {"auto": "setup"}, "auto: expected True or False; got 'setup'"),
                (hyperplane.compare, {"reps": 0}, r"reps: expected integer >= 1, got 0 \(--reps\)"),
                (hyperplane.compare, {"reps": True}, r"reps: expected integer >= 1, got True \(--reps\)"),
                (hyperplane.compare, {"reps": "many", **jacobi}, "reps: expected integer >= 1, got 'many'"),
                (hyperplane.compare, {"output": 3, **jacobi}, "output: expected the name of a file; got 3"),
                (hyperplane.study, {"jobs": 0}, "jobs: expected integer >= 1, got 0"),
                (hyperplane.study, {"output": 3}, "output: expected the name of a file; got 3"),
                (hyperplane.run, {"output": 3}, "output: expected the name of a file; got 3"),
                (hyperplane.run, {"restart": "yes"}, "restart: expected True or False; got 'yes'"),
                (hyperplane.run, {"set": "solver.rtol"}, 'set: expected texts such as "solver.rtol=1e-10"; got'),
                (hyperplane.run, {"set": [3]}, 'set: expected texts such as "solver.rtol=1e-10"; got 3')):
            with self.subTest(options):
                self.assertRegex(self.refusal(2, call, POISSON, **options), words)
        self.assertEqual(os.listdir(), [])

    def test_of_load(self):
        for path in (None, 3, ["x.h5"]):
            with self.assertRaisesRegex(hyperplane.RecordError, "load: expected the name of a file"):
                hyperplane.load(path)
        with self.assertRaisesRegex(hyperplane.RecordError, "load_all: expected names of files; got None"):
            hyperplane.load_all(None)
        hyperplane.run(POISSON, output="x.h5")
        for one in ("x.h5", b"x.h5", Path("x.h5")):
            self.assertEqual([record.path for record in hyperplane.load_all(one)], ["x.h5"])


class Dictionaries(Calls):
    """The file that a dictionary becomes for a while is named nowhere."""

    def test_in_messages(self):
        wrong = self.refusal(2, hyperplane.run, {**POISSON, "solver": {"rtol": "x"}})
        self.assertIn("error: deck: solver.rtol: expected a finite number, got 'x'", wrong)
        varied = self.refusal(2, hyperplane.run, {**POISSON, "sweep": {"grid.cells": [4, 5]}})
        self.assertIn("deck: with a section [sweep] this is a study: hyperplane.study(deck) runs its cases", varied)
        self.assertNotIn(".ini", wrong + varied)

    def test_in_results(self):
        compared = hyperplane.compare(POISSON, preconditioners="jacobi,none", reps=1, output="c.h5")
        self.assertEqual(repr(compared), f"<Comparison of 2 candidates for deck, fastest: {compared.best}>")
        cases = hyperplane.study({**POISSON, "sweep": {"grid.cells": [4, 5]}})
        self.assertEqual(repr(cases), "<Study deck: 2 of 2 cases have a result>")
        for record in (*compared.records.values(), *cases.records.values(), hyperplane.run(POISSON)):
            self.assertEqual(record.deck["problem.name"].provenance, "deck")
        self.assertEqual(hyperplane.load("c.h5").deck, "deck")

    def test_line_breaks(self):
        for deck in ({**POISSON, "solver": {"rtol = 1e-3\nname": "cg"}}, {**POISSON, "grid]\n[solver": {"name": "cg"}}):
            self.assertIn("has a line break", self.refusal(2, hyperplane.run, deck))


if __name__ == "__main__":
    unittest.main()
