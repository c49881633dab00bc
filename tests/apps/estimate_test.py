# SPDX-License-Identifier: BSD-3-Clause
"""What `check` says of the time: a range around what twenty decks took, with its assumptions.

estimate_rates.json holds, for each deck, what a quiet core took an iteration (the lower quartile of the differences in
/history/seconds, so that other processes do not count) and the rate of a copy of as much memory as the run holds.
"""

import json
import math
import pathlib
import unittest

from program import INPUTS, ProgramTest

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


if __name__ == "__main__":
    unittest.main()
