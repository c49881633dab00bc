# SPDX-License-Identifier: BSD-3-Clause
"""What `check` says of the time: a range around what twenty decks took, with its assumptions.

estimate_rates.json holds, for each deck, what a quiet core took an iteration (the lower quartile of the differences in
/history/seconds, so that other processes do not count) and the rate of a copy of as much memory as the run holds.
"""

import json
import math
import os
import pathlib
import re
import subprocess
import unittest

from program import INPUTS, POISSON, PROGRAM, ProgramTest

RATES = json.loads((pathlib.Path(__file__).parent / "estimate_rates.json").read_text())


class Estimate(ProgramTest):
    def test_twenty_decks_within_a_factor_of_three(self):
        self.assertGreaterEqual(len(RATES), 20)
        for row in RATES:
            with self.subTest(row["deck"]):
                estimate = self.run_json(0, "check", str(INPUTS / (row["deck"] + ".ini")), "--set",
                                         "device.backend=cpu")["estimate"]
                low, high = (end / estimate["seconds_per_iteration"] for end in estimate["seconds_per_iteration_range"])
                middle = math.sqrt(low * high) * estimate["iteration_bytes"] / row["copy_rate"]
                self.assertLess(max(middle / row["seconds"], row["seconds"] / middle), 3.0)
                self.assertLess(low * estimate["iteration_bytes"] / row["copy_rate"], row["seconds"])
                self.assertGreater(high * estimate["iteration_bytes"] / row["copy_rate"], row["seconds"])

    def test_threads_wait_for_each_other_as_in_a_run(self):
        """Copies by threads that spin for milliseconds are a hundred times as slow beside another program."""
        deck = self.write("a.ini", POISSON.format(cells=24))
        waiting = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY")
        environment = {name: value for name, value in os.environ.items() if name not in waiting}
        spins = [re.findall(r"GOMP_SPINCOUNT = '(\d+)'",
                            subprocess.run([PROGRAM, verb, deck, "-b", "cpu"], cwd=self.folder, capture_output=True, text=True, check=True,
                                           env={**environment, "OMP_DISPLAY_ENV": "verbose"}).stderr)
                 for verb in ("check", "run")]
        if not spins[1]:
            self.skipTest("this OpenMP library is not GCC's")
        self.assertEqual(spins[0][-1], spins[1][-1])
        self.assertLess(int(spins[0][-1]), 1000)


if __name__ == "__main__":
    unittest.main()
