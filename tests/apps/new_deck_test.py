# SPDX-License-Identifier: BSD-3-Clause
"""Decks for editors: the JSON Schema agrees with the deck reader, and the decks to start from run."""

import json
import re
import unittest

from json_schema import fits
from program import ProgramTest


class New(ProgramTest):
    def test_each_problem_has_a_deck_that_runs(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n8 8 8\n"
                   + "".join(f"{n} {n} {n}.0\n" for n in range(1, 9)))
        for problem in self.registered("problems"):
            with self.subTest(problem):
                deck = self.write(f"{problem}.ini", self.expect(0, "new", problem).stdout)
                cells = {"matrix": None, "matrix_market": "2"}.get(problem, "6")  # a general matrix has no grid
                small = ("--set", f"grid.cells={cells}") if cells else ()
                self.expect(0, "check", deck, *small)
                self.expect(0, "run", deck, "--quiet", *small)

    def test_each_line_can_be_set_by_itself_or_names_the_key_that_it_needs(self):
        size = 8
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n8 8 8\n"
                   + "".join(f"{n} {n} {n}.0\n" for n in range(1, size + 1)))
        for problem in self.registered("problems"):
            cells = "2" if problem == "matrix_market" else "6"
            lines = self.expect(0, "new", problem).stdout.replace("\ncells = 24\n", f"\ncells = {cells}\n").split("\n")
            comment = ""
            for number, line in enumerate(lines):
                if not (key := re.fullmatch(r";(\w+) =(.*)", line)):
                    comment = comment + line[1:] if line.startswith("; ") else ""
                    continue
                needs = re.search(r"It needs another key: (.*)", comment)
                comment = ""
                if not key[2]:  # no default: the user gives the value
                    continue
                deck = self.write("one.ini", "\n".join([*lines[:number], line[1:], *lines[number + 1:]]))
                with self.subTest(problem=problem, line=line):
                    if needs:
                        self.assertRegex(needs[1], r"\w+\.\w+|\w+ = \w+")
                    done = self.expect(2 if needs else 0, "check", deck)
                    self.assertNotIn("internal", done.stderr)

    def test_keys_that_a_problem_never_takes_are_left_out(self):
        text = self.expect(0, "new", "poisson").stdout
        for key in ("scheme", "steps", "end_time", "steady_rtol", "steady_atol", "fields_every", "checkpoint_every"):
            self.assertNotIn(f"\n;{key} =", text.split("[expect]")[0])
        self.assertIn("It needs another key: only right_hand_side = random", " ".join(text.replace("\n;", " ").split()))
        self.assertIn("\n;scheme =", self.expect(0, "new", "cahn_hilliard").stdout)
        self.assertIn("It needs another key: problem.regime = pseudo_transient.", self.expect(0, "new", "euler").stdout)

    def test_each_key_is_there_with_its_default(self):
        text = self.expect(0, "new", "poisson").stdout
        for line in ("name = poisson", ";rtol = 1e-8" if ";rtol" in text else "rtol = 1e-8", ";fill_level = 0",
                     ";backend = auto"):
            self.assertIn(f"\n{line}\n", text)
        self.assertNotIn("[newton]", text)
        self.assertIn("[newton]", self.expect(0, "new", "euler").stdout)

    def test_the_default_lengths_are_those_of_the_problem(self):
        for problem, line, says in (("poisson", ";lengths = 1", "1200 2200 170 with problem.coefficient = spe10like"),
                                    ("euler", ";lengths = 1", "10 with problem.case = vortex, 2 pi with problem.case = taylor_green"),
                                    ("cahn_hilliard", ";lengths =", "problem.spacing times grid.cells"),
                                    ("navier_stokes", ";lengths =", "along z of plane flows")):
            text = self.expect(0, "new", problem).stdout
            self.assertIn(f"\n{line}\n", text)
            for found in (text, self.expect(0, "help", problem).stdout, self.expect(0, "help", "grid.lengths").stdout):
                self.assertIn(says, " ".join(found.replace("\n;", " ").split()), problem)
        self.assertNotIn("lengths", self.expect(0, "help", "artificial_compressibility").stdout)

    def test_a_wrong_name_gets_the_right_one(self):
        self.expect(2, "new", "poison", says="did you mean poisson?")


class Schema(ProgramTest):
    """The schema says of a value what `check` says of it."""

    @classmethod
    def setUpClass(cls):
        cls.schema = None

    def setUp(self):
        super().setUp()
        type(self).schema = self.schema or json.loads(self.expect(0, "help", "--schema").stdout)
        self.deck = self.write("a.ini", "[problem]\nname = poisson\n[grid]\ncells = 4\n")

    def key(self, section, key, name=None):
        found = self.schema["properties"][section]
        for rule in found.get("allOf", []):
            if name in rule["if"].get("properties", {}).get("name", {"enum": ()})["enum"]:
                return rule["then"]["properties"][key]
        return found["properties"][key]

    def test_names_of_components_are_those_that_list_prints(self):
        for section, topic in (("problem", "problems"), ("solver", "solvers"), ("preconditioner", "preconditioners")):
            self.assertLessEqual(set(self.registered(topic)), set(self.key(section, "name")["enum"]))

    def test_ranges_and_types(self):
        threads = self.key("device", "threads")
        self.assertEqual((threads["type"], threads["minimum"], threads["maximum"]), (["integer", "string"], 0, 4096))
        self.expect(2, "check", self.deck, "--set", "device.threads=4097")
        rtol = self.key("solver", "rtol")
        self.assertEqual(rtol["type"], ["number", "string"])
        self.assertIn("description", rtol)
        self.assertEqual(self.key("device", "layout")["enum"], ["auto", "natural", "hyperplane"])
        self.assertEqual(self.key("device", "backend")["default"], "auto")
        self.assertIs(self.key("output", "fields")["default"], False)

    def test_keys_of_components(self):
        level = self.key("preconditioner", "fill_level", "struct_ilu")
        self.assertEqual(level["minimum"], 0)
        with self.assertRaises(KeyError):
            self.key("preconditioner", "fill_level", "jacobi")
        self.assertIn("matrix", next(rule["then"]["required"] for rule in self.schema["properties"]["problem"]["allOf"]
                                     if "matrix_market" in rule["if"]["properties"]["name"]["enum"]))

    def test_what_check_accepts_is_in_the_schema(self):
        for more in ({"solver": {"restart": 5}}, {"preconditioner": {"fill_level": 1}},
                     {"preconditioner": {"pivot_policy": "boost", "pivot_boost": "1e-2"}},
                     {"preconditioner": {"solve": "levels"}, "matrix": {"format": "general"}},
                     {"solver": {"rtol": "1e-6"}}, {"solver": {"name": "cg", "eisenstat": "yes"}},
                     {"grid": {"cells": "8"}}, {"grid": {"cells": "8, 9 10"}}, {"grid": {"cells": [8]}},
                     {"grid": {"cells": [8, "9", 10]}}, {"grid": {"lengths": [1, 2.5, 3]}},
                     {"grid": {"periodic": ["x", "y"]}}, {"grid": {"periodic": "x, y"}}, {"grid": {"periodic": "none"}},
                     {"preconditioner": {"name": "subdomain_ildu0", "subdomain": [4, 4, 2]}},
                     {"preconditioner": {"name": "subdomain_ildu0", "subdomain": "4 4 2"}},
                     {"preconditioner": {"name": "subdomain_ildu0", "subdomain": "auto"}},
                     {"expect": {"exit_code": 3}}, {"device": {"threads": "2"}, "output": {"fields": "off"}}):
            with self.subTest(more):
                self.assertTrue(fits(self.schema, self.with_poisson(more)))
                self.expect(0, "check", self.deck_of(more))

    def test_what_check_refuses_is_not_in_the_schema(self):
        for more in ({"grid": {"cells": [8, 8]}}, {"grid": {"cells": [8] * 4}}, {"grid": {"lengths": [1, 2]}},
                     {"grid": {"cells": "8 8"}}, {"grid": {"cells": "8x8x8"}}, {"grid": {"periodic": "q"}},
                     {"grid": {"periodic": "x x"}}, {"grid": {"periodic": ["x", "x"]}},
                     {"preconditioner": {"name": "subdomain_ildu0", "subdomain": "4"}},
                     {"preconditioner": {"name": "subdomain_ildu0", "subdomain": [4, 4]}},
                     {"solver": {"rtol": "small"}}, {"solver": {"sweeps": 1}}, {"preconditioner": {"omega": 1}},
                     {"output": {"fields": "perhaps"}}):
            with self.subTest(more):
                self.assertFalse(fits(self.schema, self.with_poisson(more)))
                self.expect(2, "check", self.deck_of(more))

    def test_sections_of_studies(self):
        for sweep, good in (({"solver.rtol": [1e-4, 1e-6]}, True), ({"solver.rtol": "1e-4, 1e-6"}, True),
                            ({"grid.cells": [[8, 8, 4], 16], "combine": "zip"}, True),
                            ({"solver.rtoll": "1e-4, 1e-6"}, False), ({"solver.rtol": {}}, False),
                            ({"output.fields": "true, false"}, False), ({"combin": "zip"}, False),
                            ({"combine": "zap"}, False)):
            with self.subTest(sweep):
                self.assertEqual(fits(self.schema, self.with_poisson({"sweep": sweep})), good)
        study = "[problem]\nname = poisson\n[sweep]\n"
        self.expect(0, "study", "plan", self.write("good.ini", study + "solver.rtol = 1e-4, 1e-6\n"))
        self.expect(2, "study", "plan", self.write("wrong.ini", study + "solver.rtoll = 1e-4, 1e-6\n"))

    @staticmethod
    def with_poisson(more):
        return {"problem": {"name": "poisson"}, **more}

    def deck_of(self, sections):
        """The deck that the Python module makes of these sections."""
        def text(value):
            return " ".join(map(text, value)) if isinstance(value, list) else str(value)
        return self.write("of_sections.ini", "".join(
            f"[{section}]\n" + "".join(f"{key} = {text(value)}\n" for key, value in keys.items())
            for section, keys in self.with_poisson(sections).items()))

    def test_conditions(self):
        rules = [rule["then"] for rule in self.schema["properties"]["preconditioner"]["allOf"]
                 if "multicolor" in rule["if"].get("properties", {}).get("name", {"enum": ()})["enum"]]
        condition = rules[0]["dependentSchemas"]["lower_sweeps"]
        self.assertEqual(condition, {"properties": {"triangular_solve": {"const": "jacobi"}},
                                     "required": ["triangular_solve"]})
        self.expect(2, "check", self.deck, "--set", "preconditioner.name=multicolor", "--set",
                    "preconditioner.lower_sweeps=3")


if __name__ == "__main__":
    unittest.main()
