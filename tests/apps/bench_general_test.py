# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane bench with general matrices: facts of the pattern, what comes before a solve, and what pays off."""

import json
import math
import re
import unittest

from program import POISSON, ProgramTest


class BenchOfGeneralMatrices(ProgramTest):
    def test_preconditioners_of_a_general_matrix(self):
        """In the order of [ordering], checked against the factors, and what takes grids alone is a refused row."""
        deck = self.write("a.ini", POISSON.format(cells=12) + "[matrix]\nformat = general\n[ordering]\nname = random\n")
        found = self.bench("preconditioners", deck)["systems"][0]
        rows = {row["preconditioner"]: row for row in found["preconditioners"]}
        registered = set(json.loads(self.expect(0, "list", "preconditioners", "--json").stdout)["preconditioners"])
        self.assertEqual((found["unknowns"], set(rows)), (12**3, registered))
        self.assertIn("sync_free_ilu", rows["struct_ilu"]["refused"])
        for name in ("sync_free_ilu", "par_ilu", "par_ilut", "subdomain_ildu0"):
            row = rows[name]
            self.assertLess(row["error"], 1e-14, name)
            self.assertEqual(row["layout"], "rows")
            self.assertGreater(min(row["setup"]["median"], row["whole_setup"]["median"], row["apply"]["median"]), 0.0)
        self.assertEqual(rows["none"]["error"], 0.0)
        for name in ("jacobi", "jacobi_sweeps"):
            self.assertLess(rows[name]["error"], 1e-14, name)
        swept = self.bench("preconditioners", deck, "--preconditioners", "jacobi:l1=true,jacobi_sweeps:mode=block_async")
        l1, asynchronous = swept["systems"][0]["preconditioners"]
        self.assertLess(l1["error"], 1e-14)
        self.assertIn("asynchronous", asynchronous["unchecked"])
        blocks = self.bench("preconditioners", deck, "--preconditioners", "sync_free_ilu,sync_free_ilu:fill_level=1,jacobi,jacobi_sweeps",
                            "--set", "problem.name=block_laplacian")
        for row in blocks["systems"][0]["preconditioners"]:
            self.assertLess(row["error"], 1e-14)
        shown = self.expect(0, "bench", "preconditioners", deck, "--preconditioners", "sync_free_ilu", "--repeats", "1").stdout
        self.assertRegex(shown, r"a set-up with everything: \S+ ms \(symbolic \S+ ms, numeric \S+ ms\)")
        stored = self.bench("preconditioners", deck, "--preconditioners",
                            ",".join(f"sync_free_ilu:storage={storage}" for storage in ("double", "single", "half_scaled")))
        held = [row["bytes_held"] for row in stored["systems"][0]["preconditioners"]]
        self.assertEqual(held, sorted(set(held), reverse=True))
        for row in stored["systems"][0]["preconditioners"]:
            self.assertLess(row["error"], 1e-14)

    def test_facts_of_a_general_matrix(self):
        """Those that `run` tells of it, also if the first preconditioner is refused; none on a grid."""
        deck = self.write("a.ini", POISSON.format(cells=12) + "[matrix]\nformat = general\n[ordering]\nname = rcm\n"
                                   "[preconditioner]\nname = sync_free_ilu\n")
        plain = self.write("b.ini", POISSON.format(cells=12))
        names = ("--preconditioners", "struct_ilu,sync_free_ilu,jacobi")
        found, on_grid = self.bench("preconditioners", deck, plain, *names)["systems"]
        run = self.run_json(0, "run", deck)
        for key in ("pattern", "given_pattern"):
            self.assertEqual(found[key], run[key])
        self.assertEqual((found["pattern"]["rows"], found["symmetric"]), (12**3, True))
        self.assertLess(found["pattern"]["lower_levels"], 12**3)
        self.assertEqual(list(found["preparation"]), ["ordering"])
        self.assertGreater(found["preparation"]["ordering"], 0.0)
        _, exact, jacobi = found["preconditioners"]
        self.assertGreater(min(exact["symbolic_seconds"], exact["numeric_seconds"]), 0.0)
        self.assertLess(exact["symbolic_seconds"], exact["whole_setup"]["most"])
        self.assertNotIn("symbolic_seconds", jacobi)
        self.assertFalse({"pattern", "preparation", "symmetric"} & set(on_grid))
        matrix = self.write("c.ini", "[problem]\nname = matrix\nfile = c/A.mtx\n[solver]\nname = cg\n[preconditioner]\nname = jacobi\n")
        self.expect(0, "export", deck, "--output", "c")
        shown = self.expect(0, "bench", "preconditioners", matrix, "--set", "ordering.name=rcm", *names, "--repeats", "1").stdout
        for words in (r"general, 1728 rows, 11232 entries .* rows a level\), symmetric\n", r"in the given order bandwidth 144 below",
                      r"before the set-up: reading \S+ s, .*ordering \S+ s"):
            self.assertEqual(len(re.findall(words, shown)), 1, (words, shown))

    def test_applications_after_which_a_set_up_pays_off(self):
        """Beside the first row that was timed. A refused row is passed over."""
        deck = self.write("a.ini", POISSON.format(cells=12) + "[matrix]\nformat = general\n[ordering]\nname = random\n")
        names = "struct_ilu,sync_free_ilu:fill_level=2,jacobi,sync_free_ilu,subdomain_ildu0"
        refused, first, *others = self.bench("preconditioners", deck, "--preconditioners", names)["systems"][0]["preconditioners"]
        self.assertIn("refused", refused)
        self.assertNotIn("pays_off_from_applications", first)
        for row in others:
            gained = first["apply"]["median"] - row["apply"]["median"]
            spent = row["whole_setup"]["median"] - first["whole_setup"]["median"]
            expected = max(1, math.floor(spent / gained) + 1) if gained > 0.0 else None
            self.assertEqual(row.get("pays_off_from_applications"), expected, row["preconditioner"])
        self.assertEqual(others[0]["pays_off_from_applications"], 1)  # jacobi beside ILU(2)
        costly = self.expect(0, "bench", "preconditioners", deck, "--preconditioners", "par_ilu:sweeps=40,jacobi").stdout
        self.assertNotIn("pays off", costly)  # from the first application on, which needs no words

    def general(self, name, words=""):
        return self.write(name, POISSON.format(cells=24) + "[matrix]\nformat = general\n" + words)

    def test_parts_before_a_solve_and_solves_that_pay_off(self):
        """A general matrix's reading, ordering, symbolic and numeric set-up apart; the first deck of a system is what others
        of the same system are compared with, in whichever order their rows are."""
        decks = [self.general("a.ini", "[preconditioner]\nname = jacobi\n"),
                 self.write("other.ini", POISSON.format(cells=9)),
                 self.general("b.ini", "[ordering]\nname = rcm\n[preconditioner]\nname = sync_free_ilu\nfill_level = 1\n")]
        first, other, ilu = self.bench("solve", *decks)["solves"]
        self.assertEqual(set(ilu["before"]), {"preparation/ordering", "setup", "setup/symbolic", "setup/numeric"})
        self.assertEqual(set(other["before"]), {"setup"})
        self.assertNotIn("preparation_in_iterations", other)
        seconds = ilu["before"]
        self.assertGreater(min(seconds.values()), 0.0)
        self.assertEqual(seconds["setup"], ilu["whole_setup"]["median"])
        prepared = (seconds["preparation/ordering"] + seconds["setup"]) / (ilu["solve"]["median"] / ilu["iterations"])
        self.assertAlmostEqual(ilu["preparation_in_iterations"] / prepared, 1.0)
        costs = [(sum(row["before"].get(name, 0.0) for name in ("preparation/ordering", "setup")), row["solve"]["median"])
                 for row in (first, ilu)]
        gained, spent = costs[0][1] - costs[1][1], costs[1][0] - costs[0][0]
        expected = max(1, math.floor(spent / gained) + 1) if gained > 0.0 else None
        self.assertEqual(ilu.get("pays_off_from_solves"), expected)
        for row in (first, other):
            self.assertNotIn("pays_off_from_solves", row)

    def test_preparation_in_words(self):
        """Two solves that are so different that the words do not depend on the machine."""
        slow = self.general("slow.ini", "[preconditioner]\nname = none\n")
        fast = self.general("fast.ini", "[ordering]\nname = nested_dissection\n[preconditioner]\nname = sync_free_ilu\nfill_level = 2\n")
        words = ("--set", "solver.rtol=1e-12", "--threads", "1", "--repeats", "1")
        shown = self.expect(0, "bench", "solve", slow, fast, *words).stdout
        self.assertRegex(shown, r"before the solve: ordering [\d.e-]+ s; set-up: symbolic [\d.e-]+ s, numeric [\d.e-]+ s\n")
        self.assertRegex(shown, r"ordering and set-up \(symbolic .* s, numeric .* s\) took as long as \d+ iterations\n")
        alone = self.expect(0, "bench", "solve", fast, *words).stdout
        self.assertNotIn("pays off", alone)


if __name__ == "__main__":
    unittest.main()
