# SPDX-License-Identifier: BSD-3-Clause
"""What the files of docs/results hold, for tests that compute the figures of documents anew (paper_figures.py)."""

import functools
import json
import math
import pathlib
import re
import statistics

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results"


@functools.lru_cache(maxsize=None)
def data(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def of(name):
    return data(f"h200/{name}.json")


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def average(values):
    return statistics.mean(list(values))


def least_and_most(values):
    values = list(values)
    return [min(values), max(values)]


def cases(name, where=lambda one: True):
    return [one for one in of(name)["cases"] if where(one)]


def case(name, system):
    (found,) = cases(name, lambda one: f"{one['stencil']}:{one['dof']}:{one['n']}" == system and not one["symmetric"])
    return found


def median(kernel):
    return kernel["seconds"]["median"]


def overs(name, kernel, where=lambda one: True):
    """cuSPARSE's better format over this, of the cases that have one."""
    return [one["kernels"][kernel]["cusparse_over_this"] for one in cases(name, where)
            if "cusparse_over_this" in one["kernels"][kernel]]


def variant(one, name, kernel):
    (found,) = [each for each in one["variants"] if each["name"] == name]
    return median(found["kernels"][kernel])


def without(piece, kernel, where=lambda one: True):
    """Time without a piece over the time with all, of each case of ablation.json that has both."""
    return [variant(one, piece, kernel) / median(one["kernels"][kernel]) for one in cases("ablation", where)
            if any(each["name"] == piece and kernel in each["kernels"] for each in one["variants"])]


def left_out(system, piece, kernel, of_all=None):
    """Time without a piece over that of the default, or of the variant that has all."""
    one = case("ablation", system)
    return variant(one, piece, kernel) / (variant(one, of_all, kernel) if of_all else median(one["kernels"][kernel]))


def build_up(kernel, position):
    """The steps of a case of figure8.json in ms, the default last."""
    one = of("figure8")["cases"][position]
    steps = {step["name"]: median(step["kernels"][kernel]) for step in one["built_up"] if kernel in step["kernels"]}
    return {**steps, "the default": median(one["kernels"][kernel])}


def added(kernel, piece):
    """How many times as fast a piece makes a kernel, of each case of figure8.json."""
    found = []
    for position in range(len(of("figure8")["cases"])):
        steps = build_up(kernel, position)
        names = list(steps)
        if piece in names:
            found.append(steps[names[names.index(piece) - 1]] / steps[piece])
    return found


def columns(kernel, pieces):
    """Milliseconds of figure8.json, piece by piece and there case by case."""
    return [1e3 * build_up(kernel, position)[piece] for piece in pieces for position in range(len(of("figure8")["cases"]))]


def figure8():
    pieces, names = ["a launch a level", "tiles", "layout by levels"], ("registers", "tensor cores", "tensor cores")
    last = [1e3 * build_up("factorise", at)[piece] for at, piece in enumerate(names)]
    return [*columns("lower", [*pieces, "pipelined dot product", "the default"]), *columns("factorise", pieces), *last,
            *columns("factorise", ["the default"])]


def mean_and_range(name, kernel, where=lambda one: True):
    values = overs(name, kernel, where)
    return [mean(values), *least_and_most(values)]


def gigaflops(kernel):
    return kernel["flops"] / median(kernel) / 1e9


def rates_of_lower_solves(name):
    """Least and most Gflop/s, average GB/s, and per cent of the copy rate."""
    timed = [one["kernels"]["lower"] for one in cases(name)]
    moved = average(one["own_bytes"] / median(one) for one in timed)
    return [*least_and_most(map(gigaflops, timed)), moved / 1e9, 100 * moved / of(name)["copy_rate"]]


def row(name, system, preconditioner):
    (found,) = [each for one in data(name)["systems"] if pathlib.Path(one["system"]).stem == system
                for each in one["preconditioners"] if each["preconditioner"] == preconditioner]
    return found


def apply_ms(name, system, preconditioner, what="apply"):
    return 1e3 * row(f"h200/{name}.json", system, preconditioner)[what]["median"]


def whole_solves(name):
    """{deck: {format or own: solve}}"""
    found = {}
    for one in of(name)["solves"]:
        found.setdefault(pathlib.Path(one["deck"]).stem, {})[one.get("format", "own")] = one
    return found


def over_cusparse():
    return [min(one["total"] for form, one in deck.items() if form != "own") / deck["own"]["total"]
            for deck in whole_solves("solves").values()]


def candidate(name, suffix):
    (found,) = [one for one in of(name)["candidates"] if one["name"].split("+", 1)[1] == suffix]
    return found


def seconds_of(name, suffix, what="solve_seconds"):
    return candidate(name, suffix)[what]["median"]


def turns(name):
    """{candidate: (iterations, set-up ms, solve ms, total ms)} of what `hyperplane compare` printed."""
    text = (RESULTS / "h200" / name).read_text(encoding="utf-8")
    found = re.findall(r"^[* ] \w+\+(\S+) +converged +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M)
    return {name: tuple(map(float, figures)) for name, *figures in found}


def one_unknown(one):
    return one["dof"] == 1


def two_unknowns(one):
    return one["dof"] == 2


def blocks(one):
    return one["dof"] >= 4


def gigabytes_of_factors(preconditioner):
    return row("h200/preconditioners-6.json", "star7:6:160", preconditioner)["bytes_held"] / 1e9


def nanoseconds_a_point(name, system, preconditioner, what):
    return 1e6 * apply_ms(name, system, preconditioner, what) / int(system.split(":")[2]) ** 3


def of_bytes(name, system, kernel):
    one = case(name, system)["kernels"][kernel]
    return one["own_bytes"] / median(one) / 1e9


def figure9_of_fgbilu(preconditioner, what):
    return [nanoseconds_a_point("fgbilu-figure9", one["system"], preconditioner, what) for one in of("fgbilu-figure9")["systems"]]


def factorisation(one):
    return one["factorise"]["median"]


def application(one):
    return one["preconditioner_apply"] / one["iterations"]


def of_decks(name, seconds, a_point=False):
    """Times of the decks of 4, 8, 16 and 32 unknowns in milliseconds, or in nanoseconds a point."""
    return [seconds(one) * (1e9 / points if a_point else 1e3) for one, points in zip(of(name)["solves"], FGBILU_POINTS)]


FGBILU_POINTS = [104**3, 66**3, 41**3, 26**3]  # grid.cells of inputs/paper/fgbilu_N.ini


def share_of(one):
    """Triangular solves, products and the rest, per cent of a solve."""
    solves, products = (one[part] / one["total"] for part in ("preconditioner_apply", "spmv"))
    return [100 * solves, 100 * products, 100 * (1 - solves - products)]


def general(name, preconditioner):
    """Milliseconds of both solves."""
    (rows,) = rows_of_files(f"general-{name}.json")
    return 1e3 * rows[preconditioner]["apply"]["median"]


def numeric(row):
    return row["setup"]["median"]


def with_analysis(row):
    return row["analysis"] + numeric(row) if "analysis" in row else row["whole_setup"]["median"]


def rows_of_files(pattern):
    """{preconditioner: its row} of each file; a file has one system."""
    for path in sorted((RESULTS / "general").glob(pattern)):
        (system,) = data(f"general/{path.name}")["systems"]
        yield {one["preconditioner"]: one for one in system["preconditioners"]}


def over_auto(pattern, seconds):
    """The time of cuSPARSE's best way over that of `auto`, in each file."""
    return [min(seconds(row) for name, row in rows.items() if name.startswith("cusparse")) / seconds(rows["sync_free_ilu"])
            for rows in rows_of_files(pattern)]


def published(variant, with_levels):
    """The time of csrilu02's numeric part over that of a variant, in each file."""
    rival = "cusparse_ilu:cholesky=false" + ("" if with_levels else ":level_information=false")
    return [numeric(rows[rival]) / numeric(rows[f"sync_free_ilu:variant={variant}"]) for rows in rows_of_files("variants-*.json")]


def tuned(system, begin):
    """The factorisation's least time with the tunings whose names begin so, over its time with the default."""
    one = case("tunings", system)
    return min(median(each["kernels"]["factorise"]) for each in one["variants"]
               if each["name"].startswith(begin) and "factorise" in each["kernels"]) / median(one["kernels"]["factorise"])


def sweeps(suffix, column):
    """The values of one, two, three and five sweeps in lap-times.txt."""
    return [turns("lap-times.txt")[f"jacobi_sweeps:lower_sweeps={n}:upper_sweeps={n}{suffix}"][column] for n in (1, 2, 3, 5)]


def sweeps_on(name, suffix):
    return [candidate(name, f"jacobi_sweeps:lower_sweeps={n}:upper_sweeps={n}{suffix}")["iterations"] for n in (1, 2, 3, 5)]


def dot_product():
    (one,) = [each for each in of("vectors")["operations"] if each["operation"] == "x^T y" and each["unknowns"] == 16777216]
    return one["bytes"] / median(one) / 1e9


def cusparse_bandwidth(system, form, kernel):
    one = case("products", system)
    return one["kernels"][kernel]["own_bytes"] / median(one["cusparse"][form]["kernels"][kernel]) / 1e9


def of_limit(name, system):
    """GB/s of all that must move in an application, and per cent of the copy rate."""
    one = row(f"h200/{name}.json", system, "subdomain_ildu0")
    rate = one["bytes_per_apply"] / one["apply"]["median"]
    return [rate / 1e9, 100 * rate / of(name)["copy_rate"]]


def lap(preconditioner):
    return apply_ms("lap", "lap", preconditioner)


def a_sweep_of_each(mode=""):
    """Milliseconds of a sweep of both triangles: a fourth of the time of five less that of one."""
    return (lap(f"jacobi_sweeps{mode}") - lap(f"jacobi_sweeps:lower_sweeps=1:upper_sweeps=1{mode}")) / 4
