#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of sync_free_ilu beside cuSPARSE in docs/results/general.md.

    docs/results/general_bars.py docs/results/general

The folder holds the files general-SYSTEM-ORDER.json of docs/results/measure.sh. Times are medians, in milliseconds.
"auto" is what sync_free_ilu chooses by itself. cuSPARSE's numeric part, its solves, and its analysis with the numeric
part are each those of the candidate that is best at it. Files variants-SYSTEM-ORDER.json have the variants that Freire,
Dufrechou and Ezzatti publish, one by one, beside csrilu02; parts-SYSTEM.json those of subdomain_ildu0 on METIS parts;
structure-*.json one system on the grid and as compressed rows. tests/docs/general_bars_test.py compares the page with
what this prints.
"""

import json
import math
import pathlib
import sys

ORDERS = ("natural", "rcm", "random")
PUBLISHED = ("shared", "vect", "adapt", "levs")


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


def place(path, kind):
    """The system's name and order, of a file KIND-SYSTEM-ORDER.json."""
    name = path.stem.removeprefix(kind + "-")
    order = next((order for order in ORDERS if name.endswith("-" + order)), "given")
    return name.removesuffix("-" + order), order


def candidates(data):
    """Rows of cuSPARSE, and those of sync_free_ilu."""
    rows = [row for row in data["systems"][0]["preconditioners"] if "refused" not in row]
    cusparse = [row for row in rows if row["preconditioner"].startswith("cusparse_ilu")]
    return cusparse, [row for row in rows if row not in cusparse]


class System:
    """One file: `ours` are the times of auto, `cusparse` the candidate and its time, by what was timed."""

    def __init__(self, path, data):
        self.name, self.order = place(path, "general")
        cusparse, variants = candidates(data)
        auto = next(row for row in variants if ":" not in row["preconditioner"])
        timed = {"numeric": numeric, "whole": whole, "solve": solve}
        self.ours = {what: seconds(auto) for what, seconds in timed.items()}
        self.cusparse = {what: least(cusparse, seconds) for what, seconds in timed.items()}
        self.best = least(variants, numeric)
        self.worst_error = max(row["error"] for row in cusparse + variants)

    def ratio(self, what):
        return self.cusparse[what][1] / self.ours[what]

    def over_best(self):
        """How much longer auto's numeric part takes than that of the best variant."""
        return self.ours["numeric"] / self.best[1]


class Published:
    """One file with the published variants: numeric parts by variant, and those of csrilu02 without and with levels."""

    def __init__(self, path, data):
        self.name, self.order = place(path, "variants")
        cusparse, variants = candidates(data)
        times = {"no levels" in keys(row["preconditioner"]): numeric(row) for row in cusparse}
        self.without, self.with_levels = times[True], times[False]
        self.ours = {row["preconditioner"].partition("variant=")[2] or "auto": numeric(row) for row in variants}

    def ratio(self, variant):
        """As the paper compares: ILU_levs with cuSPARSE with levels, the others without; auto with the faster one."""
        base = {"levs": self.with_levels, "auto": min(self.without, self.with_levels)}.get(variant, self.without)
        return base / self.ours[variant]

    def cell(self, variant):
        return f"{ms(self.ours[variant])} ({self.ratio(variant):.2f})" if variant in self.ours else "-"

    def fastest(self, cusparse, variants):
        """Which of these and cuSPARSE, with its time, has the fastest numeric part."""
        times = {"cuSPARSE": cusparse, **{one: self.ours[one] for one in variants if one in self.ours}}
        return min(times, key=times.get)


def read(folder, kind="general", make=System):
    paths = sorted(pathlib.Path(folder).glob(kind + "-*.json"))
    systems = [make(path, json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    return sorted(systems, key=lambda one: (one.name, ("given", *ORDERS).index(one.order)))


def read_published(folder):
    return read(folder, "variants", Published)


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


def published_tables(systems):
    """The published variants one by one, and how often each is the fastest, as the paper's Tables II and III."""
    variants = (*PUBLISHED, "auto")
    times = [[one.name, one.order, ms(one.without), ms(one.with_levels), *map(one.cell, variants)] for one in systems]
    timed = {variant: [one.ratio(variant) for one in systems if variant in one.ours] for variant in variants}
    times.append(["geometric mean", "", "", "", *(f"**{mean(timed[variant]):.2f}**" for variant in variants)])

    def count(cusparse, group):
        won = [one.fastest(cusparse(one), group) for one in systems]
        return [str(won.count(name)) if name in ("cuSPARSE", *group) else "" for name in ("cuSPARSE", *variants)]

    def either(one):
        return min(one.without, one.with_levels)

    of_the_four = ["", *count(lambda _: math.inf, PUBLISHED)[1:]]
    figures = [
        ["fastest of the four variants", *of_the_four],
        ["fastest of cuSPARSE without levels, shared, vect and adapt", *count(lambda one: one.without, PUBLISHED[:3])],
        ["the paper, Table II", "236", "32", "37", "84", "", ""],
        ["fastest of cuSPARSE both ways and the four variants", *count(either, PUBLISHED)],
        ["fastest of all", *count(either, variants)],
        ["faster than cuSPARSE", "", *(str(sum(ratio > 1 for ratio in timed[one])) for one in variants)],
        ["the paper, Table III", "", "49", "76", "113", "", ""],
        ["average of cuSPARSE's time over it", "", *(f"{sum(timed[one]) / len(timed[one]):.2f}" for one in variants)],
        ["the paper, Table III", "", "0.74", "0.90", "1.01", "", ""],
    ]
    head = ["system", "order", "cuSPARSE without levels, ms", "with levels, ms", *variants]
    return {"published variants": table(head, times),
            "published figures": table([f"{len(systems)} systems, the paper's of 400", "cuSPARSE", *variants], figures)}


def parts_tables(folder):
    """subdomain_ildu0's variants on METIS parts, beside cuSPARSE's pair of solves and its set-ups."""
    made = {}
    for path in sorted(pathlib.Path(folder).glob("parts-*.json")):
        cusparse, ours = candidates(json.loads(path.read_text(encoding="utf-8")))
        best = {seconds: least(cusparse, seconds)[1] for seconds in (solve, numeric, whole)}
        rows = [[f"`{row['preconditioner']}`", *(cell for seconds in best for cell in
                                                 (ms(seconds(row)), f"{best[seconds] / seconds(row):.2f}"))]
                for row in ours + cusparse]
        made[path.stem] = table(["", "a solve with both triangles, ms", "cuSPARSE's best over it", "numeric part, ms",
                                 "cuSPARSE's best over it", "with everything, ms", "cuSPARSE's best over it"], rows)
    return made


STRUCTURE = {"structure-grid": "on the grid", "structure-general": "general",
             "structure-grid-jacobi": "on the grid", "structure-general-jacobi": "general"}


def structure_table(folder):
    """Solves of one system on the grid and as compressed rows; empty where a file is missing."""
    rows = []
    for name, form in STRUCTURE.items():
        path = pathlib.Path(folder) / f"{name}.json"
        if not path.exists():
            return {}
        for one in json.loads(path.read_text(encoding="utf-8"))["solves"]:
            shown = form
            if one["preconditioner"] == "cusparse_ilu":
                if form == "general":
                    continue  # as beside the grid
                shown = "compressed rows" if one["format"] == "csr" else "compressed blocks"
            rows.append([f"`{one['preconditioner']}`, {shown}", str(one["iterations"]), ms(one["factorise"]["median"]),
                         ms(one["spmv"]), ms(one["preconditioner_apply"]), ms(one["total"])])
    return {"structure": table(["", "iterations", "numeric set-up, ms", "all products, ms", "all applications, ms",
                                "numeric set-up and solve, ms"], rows)}


def main(words):
    if len(words) != 1:
        sys.exit(__doc__)
    systems = read(words[0])
    if not systems:
        sys.exit(f"{words[0]} holds no general-*.json")
    published = read_published(words[0])
    made = {**tables(systems), **(published_tables(published) if published else {}), **parts_tables(words[0]),
            **structure_table(words[0])}
    for name, text in made.items():
        print(f"{name}\n\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
