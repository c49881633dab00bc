#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of sync_free_ilu beside cuSPARSE in docs/results/general.md.

    docs/results/general_bars.py docs/results/general

The folder holds the files general-SYSTEM-ORDER.json of docs/results/measure.sh. Times are medians, in milliseconds.
"auto" is what sync_free_ilu chooses by itself. cuSPARSE's numeric part, its solves, and its analysis with the numeric
part are each those of the candidate that is best at it. tests/docs/general_bars_test.py compares the page with what
this prints.
"""

import json
import math
import pathlib
import sys

ORDERS = ("natural", "rcm", "random")


def ms(seconds):
    value = 1e3 * seconds
    return f"{value:.{max(0, 2 - max(0, math.floor(math.log10(value))))}f}" if value >= 1 else f"{value:.2f}"


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def least(rows, seconds):
    """The name of the fastest row, and its time."""
    row = min(rows, key=seconds)
    return row["preconditioner"], seconds(row)


def numeric(row):
    return row["setup"]["median"]


def solve(row):
    return row["apply"]["median"]


def whole(row):
    """A set-up with everything; of cuSPARSE, its own routines alone."""
    return row["analysis"] + numeric(row) if "analysis" in row else row["whole_setup"]["median"]


def keys(name):
    """What distinguishes a candidate of cuSPARSE, in short: cholesky=false is LU of a symmetric matrix."""
    words = name.split(":")[1:]
    return ", ".join([{"format=bsr": "BSR", "cholesky=false": "LU", "level_information=false": "no levels"}[word]
                      for word in words]) or "CSR"


class System:
    """One file: `ours` are the times of auto, `cusparse` the candidate and its time, by what was timed."""

    def __init__(self, path, data):
        name = path.stem.removeprefix("general-")
        self.order = next((order for order in ORDERS if name.endswith("-" + order)), "given")
        self.name = name.removesuffix("-" + self.order)
        rows = [row for row in data["systems"][0]["preconditioners"] if "refused" not in row]
        cusparse = [row for row in rows if row["preconditioner"].startswith("cusparse_ilu")]
        variants = [row for row in rows if row not in cusparse]
        auto = next(row for row in variants if ":" not in row["preconditioner"])
        timed = {"numeric": numeric, "whole": whole, "solve": solve}
        self.ours = {what: seconds(auto) for what, seconds in timed.items()}
        self.cusparse = {what: least(cusparse, seconds) for what, seconds in timed.items()}
        self.best = least(variants, numeric)
        self.worst_error = max(row["error"] for row in rows)

    def ratio(self, what):
        return self.cusparse[what][1] / self.ours[what]

    def over_best(self):
        """How much longer auto's numeric part takes than that of the best variant."""
        return self.ours["numeric"] / self.best[1]


def read(folder):
    paths = sorted(pathlib.Path(folder).glob("general-*.json"))
    systems = [System(path, json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    return sorted(systems, key=lambda one: (one.name, ("given", *ORDERS).index(one.order)))


def table(head, rows):
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def tables(systems):
    """By name, in the order of the page."""
    made = {}
    for what, title in (("numeric", "numeric part"), ("whole", "with analysis"), ("solve", "solve")):
        rows = [[one.name, one.order, ms(one.ours[what]), f"{ms(one.cusparse[what][1])} ({keys(one.cusparse[what][0])})",
                 f"{one.ratio(what):.2f}"] for one in systems]
        rows.append(["geometric mean", "", "", "", f"**{mean([one.ratio(what) for one in systems]):.2f}**"])
        made[title] = table(["system", "order", f"{title}, ms", "cuSPARSE's best", "ratio"], rows)
    made["variants"] = table(
        ["system", "order", "auto, ms", "best variant", "its ms", "auto over it"],
        [[one.name, one.order, ms(one.ours["numeric"]), one.best[0].partition(":")[2] or "auto", ms(one.best[1]),
          f"{one.over_best():.2f}"] for one in systems])
    return made


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    systems = read(words[0])
    if not systems:
        sys.exit(f"{words[0]} holds no general-*.json")
    for name, text in tables(systems).items():
        print(f"{name}\n\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
