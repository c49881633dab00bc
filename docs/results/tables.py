#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of docs/results/FOLDER/README.md from the JSON files that docs/results/measure.sh wrote there.

    docs/results/tables.py docs/results/h100 [FILE...]

Of docs/results/general it prints the table of products in docs/results/general.md, whose other tables general_bars.py prints.
Times are medians. A ratio to cuSPARSE takes the faster of its formats, CSR and BSR, for each kernel or solve.
tests/docs/results_test.py compares the pages with what this prints.
"""

import json
import math
import pathlib
import re
import statistics
import sys

KERNELS = {"spmv": "SpMV", "lower": "lower solve", "upper": "upper solve", "factorise": "factorisation"}
MISSING = ""

# In the order of the StructILU paper's Figure 8, which adds pieces from the left to the right; then those it lacks.
PIECES = {
    "by level": "tiles that wait for each other",
    "other layout": "the layout by levels",
    "not pipelined": "the pipelined dot product",
    "one group": "two groups a row",
    "shared rows": "level sets within a row",
    "no tensor cores": "registers, tensor cores",
    "not in registers": "registers, tensor cores",
    "no factor ring": "neighbours in shared memory",
    "no D-ILU": "D-ILU",
    "both triangles": "one triangle",
}
WITH = {"not pipelined": "pipelined"}  # a piece that is not in every default, and the variant that has it
ADDED = {"shared rows"}  # variants with a piece that no default has


def table(head, rows):
    """A Markdown table as text, without columns that have no entry."""
    kept = [k for k in range(len(head)) if any(row[k] != MISSING for row in rows)]
    head, rows = [head[k] for k in kept], [[row[k] for k in kept] for row in rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def three_digits(value):
    return f"{value:.{max(0, 2 - max(0, math.floor(math.log10(value))))}f}" if value >= 1 else f"{value:.3f}"


def ms(seconds):
    return three_digits(1e3 * seconds["median"])


def ratio(value):
    return MISSING if value is None else f"{value:.2f}"


def mean(values):
    """The geometric mean of those that are there; None if there are none."""
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def median(timed):
    return timed["seconds"]["median"]


def system(case):
    return f"{case['stencil']}:{case['dof']}:{case['n']}" + (":sym" if case["symmetric"] else "")


def baseline(case, kernel):
    """Seconds and name of cuSPARSE's faster format, or (None, None)."""
    formats = case.get("cusparse", {})
    seconds = {name: median(one["kernels"][kernel]) for name, one in formats.items() if kernel in one["kernels"]}
    best = min(seconds, key=seconds.get, default=None)
    return seconds.get(best), best


def over_baseline(case, kernel):
    seconds, _ = baseline(case, kernel)
    return seconds and seconds / median(case["kernels"][kernel])


def kernel_means(cases):
    rows = []
    for kernel, name in KERNELS.items():
        ratios = [over_baseline(case, kernel) for case in cases]
        rows.append([name,
                     *(ratio(mean(case["kernels"][kernel][key] for case in cases))
                       for key in ("time_over_limit", "time_over_own_limit")),
                     ratio(max(case["kernels"][kernel]["time_over_own_limit"] for case in cases)),
                     ratio(mean(ratios)), str(sum(value is not None and value < 1 for value in ratios))])
    return table(["kernel", "time over limit", "over its own limit", "the most of these", "best cuSPARSE over this",
                  "cases slower than cuSPARSE"], rows)


def kernel_cases(cases):
    rows = []
    for case in cases:
        row = [system(case)]
        for kernel in KERNELS:
            timed, (_, name) = case["kernels"][kernel], baseline(case, kernel)
            row += [ms(timed["seconds"]), ratio(timed["time_over_own_limit"]),
                    f"{ratio(over_baseline(case, kernel))} {name or ''}".strip()]
        rows.append(row)
    head = [word for name in KERNELS.values() for word in (f"{name}, ms", "over own limit", "cuSPARSE over this")]
    return table(["system", *head], rows)


def kernels(data):
    return {"geometric means": kernel_means(data["cases"]), "cases": kernel_cases(data["cases"])}


def levels(data):
    rows = []
    for case in data["cases"]:
        chosen = [(case["kernels"][kernel], over_baseline(case, kernel)) for kernel in ("lower", "upper", "factorise")]
        rows.append([system(case), str(case["levels"]), *(ratio(timed["microseconds_a_level"]) for timed, _ in chosen),
                     *(ms(timed["seconds"]) for timed, _ in chosen), *(ratio(over) for _, over in chosen)])
    return {"small grids": table(
        ["system", "levels", "us a level: lower", "upper", "factorisation", "ms: lower", "upper", "factorisation",
         "cuSPARSE over this: lower", "upper", "factorisation"], rows)}


def ablation(data):
    """Time without a piece over the time with all of them: below 1 the piece loses."""
    tables, columns = {}, list(dict.fromkeys(PIECES.values()))
    for kernel, name in KERNELS.items():
        without = []
        for case in data["cases"]:
            row = dict.fromkeys(columns)
            times = {variant["name"]: median(variant["kernels"][kernel]) for variant in case["variants"]
                     if kernel in variant["kernels"]}
            for left_out in times.keys() - WITH.values():
                whole = times.get(WITH.get(left_out), median(case["kernels"][kernel]))
                over = times[left_out] / whole
                row[PIECES[left_out]] = 1 / over if left_out in ADDED else over
            without.append(row)
        kept = [column for column in columns if any(row[column] is not None for row in without)]
        tables[name] = table([f"{name}, without", *kept],
                             [[system(case), *(ratio(row[column]) for column in kept)]
                              for case, row in zip(data["cases"], without)])
    return tables


def tunings(data):
    """The fastest tuning of each kernel, and its time over the default's: below 1 the default loses."""
    rows = []
    for case in data["cases"]:
        row = [system(case)]
        for kernel in ("lower", "upper", "factorise"):
            own = median(case["kernels"][kernel])
            over = {variant["name"]: median(variant["kernels"][kernel]) / own for variant in case["variants"]
                    if kernel in variant["kernels"] and not variant["name"].startswith("storage")}
            best = min(over, key=over.get, default=None)
            row += [ms(case["kernels"][kernel]["seconds"]), f"{over[best]:.2f} {best}" if best else MISSING, str(len(over))]
        rows.append(row)
    head = [word for kernel in ("lower", "upper", "factorise")
            for word in (f"{KERNELS[kernel]}, ms", "the fastest tuning over this", "tunings")]
    return {"tunings": table(["system", *head], rows)}


def build_up(data):
    """Time with each piece added to those before; in parentheses how many times as fast as the step before."""
    tables = {}
    for kernel in ("lower", "upper", "factorise"):
        rows, columns = [], []
        for case in data["cases"]:
            steps = [(step["name"], step["kernels"][kernel]) for step in case["built_up"] if kernel in step["kernels"]]
            columns += [name for name, _ in steps if name not in columns]
            rows.append((system(case), [*steps, ("the default", case["kernels"][kernel])]))
        columns.append("the default")
        cells = []
        for name, steps in rows:
            shown = {step: ms(timed["seconds"]) if before is None else
                     f"{ms(timed['seconds'])} ({ratio(median(before) / median(timed))})"
                     for (step, timed), before in zip(steps, [None, *(timed for _, timed in steps)])}
            cells.append([name, *(shown.get(column, MISSING) for column in columns)])
        tables[KERNELS[kernel]] = table([f"{KERNELS[kernel]}, ms", *columns], cells)
    return tables


def solves(data):
    """A deck's own method beside cuSPARSE's, in each of its formats and with the faster of its products."""
    decks = {}
    for one in data["solves"]:
        decks.setdefault(pathlib.Path(one["deck"]).stem, {})[one.get("format", "own")] = one
    rows, ratios = [], []
    for deck, found in decks.items():
        own, rivals = found["own"], [one for name, one in found.items() if name != "own"]
        best = min(rivals, key=lambda one: one["total"], default=None)
        ratios.append(best and best["total"] / own["total"])
        rows.append([deck, str(own["iterations"]), three_digits(1e3 * own["total"]),
                     *(three_digits(1e3 * found[name]["total"]) if name in found else MISSING
                       for name in ("csr", "bsr")),
                     best["product_format"] if best else MISSING, ratio(ratios[-1]), ratio(own["other_over_limit"] or None)])
    if any(ratios):
        rows.append(["geometric mean", "", "", "", "", "", ratio(mean(ratios)), ""])
    return {"whole solves": table(
        ["deck", "iterations", "own, ms", "cuSPARSE in CSR, ms", "in BSR, ms", "its faster products",
         "the better over own", "own vector operations over limit"], rows)}


def comparison(data):
    """What `hyperplane compare` found for one system."""
    rows = []
    for one in data["candidates"]:
        if not one["converged"]:
            rows.append([f"`{one['name']}`", f"not within {one['iterations']}", *[MISSING] * 5])
            continue
        rows.append([f"`{one['name']}`", str(one["iterations"]), ms(one["setup_seconds"]), ms(one["solve_seconds"]),
                     ms(one["total_seconds"]), three_digits(1e3 * one["seconds_per_iteration"]),
                     f"{one['memory']['peak'] / 2**30:.2f}"])
    return {"whole solves": table(["solver and preconditioner", "iterations", "set-up, ms", "solve, ms", "together, ms",
                                   "ms an iteration", "memory, GiB"], rows)}


def first_runs(data):
    """Runs that compile their kernels over later ones that find them kept; medians of the latter."""
    rows = []
    for one in data["decks"]:
        first, later = one["runs"][0], one["runs"][1:]
        row = [pathlib.Path(one["deck"]).stem, str(one["iterations"]), f"{first['compile']:.2f}"]
        for what in ("setup", "solve"):
            seconds = statistics.median(run[what] for run in later)
            spread = max(run[what] for run in later) - min(run[what] for run in later)
            row += [three_digits(1e3 * first[what]), three_digits(1e3 * seconds), ratio(first[what] / seconds),
                    f"{100 * spread / seconds:.0f} %"]
        rows.append(row)
    return {"first and later runs": table(
        ["deck", "iterations", "compiler in the first run, s", "set-up of the first run, ms", "of later ones", "ratio",
         "spread of later ones", "solve of the first run, ms", "of later ones", "ratio", "spread of later ones"], rows)}


def over_rivals(rows, what):
    """How many times as long cuSPARSE's better form takes for a preconditioner's `what`, for each row; or None."""
    rivals = [row[what]["median"] for row in rows if row["preconditioner"].startswith("cusparse_ilu") and what in row]
    return [min(rivals) / row[what]["median"] if rivals and what in row else None for row in rows]


def preconditioners(data):
    rows, setups = [], {}
    with_lower = any("lower" in row for one in data["systems"] for row in one["preconditioners"])
    for one in data["systems"]:
        found = one["preconditioners"]
        overs = (over_rivals(found, what) for what in ("apply", "setup", "lower"))
        for row, over, setup, lower in zip(found, *overs):
            if "refused" in row:
                continue
            rows.append([pathlib.Path(one["system"]).stem, f"`{row['preconditioner']}`", ms(row["apply"]),
                         ratio(row["time_over_limit"]), ratio(over), ms(row["setup"]), ratio(setup)])
            if with_lower:
                rows[-1] += [ms(row["lower"]) if "lower" in row else MISSING, ratio(lower)]
            if setup and not row["preconditioner"].startswith("cusparse_ilu"):
                setups.setdefault(row["preconditioner"], []).append(setup)
    made = {"applications": table(
        ["system", "preconditioner", "application, ms", "over its limit", "the better cuSPARSE over this",
         "set-up, ms", "the better cuSPARSE over this",
         *(["lower solve alone, ms", "the better cuSPARSE over this"] if with_lower else [])], rows)}
    if len(data["systems"]) > 1 and setups:
        made["set-ups"] = table(
            ["preconditioner", "cuSPARSE's set-up over this, geometric mean", "least", "systems slower than cuSPARSE"],
            [[f"`{name}`", ratio(mean(ratios)), ratio(min(ratios)), str(sum(value < 1 for value in ratios))]
             for name, ratios in setups.items()])
    return made


def vectors(data):
    sizes = sorted({one["unknowns"] for one in data["operations"]})
    found = {(one["operation"], one["unknowns"]): one for one in data["operations"]}
    operations = list(dict.fromkeys(one["operation"] for one in data["operations"]))
    head, rows = ["operation", "calls of cuBLAS"], []
    for size in sizes:
        head += [f"{size} unknowns, ms", "over limit", "cuBLAS over this"]
    for operation in operations:
        row = [f"`{operation}`", str(found[operation, sizes[0]].get("cublas_calls", MISSING))]
        for size in sizes:
            one = found[operation, size]
            row += [f"{1e3 * median(one):.4f}", ratio(one["time_over_limit"]), ratio(one.get("cublas_over_this"))]
        rows.append(row)
    means = ["geometric mean", ""]
    for size in sizes:
        means += ["", "", ratio(mean(found[operation, size].get("cublas_over_this") for operation in operations))]
    return {"vector operations": table(head, [*rows, means])}


def assembly(data):
    rows = [[pathlib.Path(deck["deck"]).stem, part["name"], ms(part["seconds"]), ratio(part["time_over_limit"])]
            for deck in data["decks"] for part in deck["parts"]]
    return {"assembly": table(["deck", "part", "ms", "over limit"], rows)}


def hpcg(data):
    row = [" x ".join(map(str, data["extents"])), str(data["iterations"]),
           three_digits(1e3 * data["solve"]["median"] / data["iterations"]), three_digits(1e3 * data["setup"]),
           f"{data['gigaflops']:.0f}"]
    head = ["points", f"iterations for {data['reference']['iterations']}", "ms an iteration", "set-up, ms", "GFLOP/s"]
    return {"HPCG's problem": table(head, [row])}


def cycles(data):
    """One application of a preconditioner `multigrid`, and its parts on each grid."""
    rows = [["all", ms(deck["apply"]), "", ms(deck["setup"])] for deck in data["decks"]]
    rows += [[f"{grid['grid']}, {grid['stencil']}", three_digits(1e3 * part["seconds"]), part["name"], MISSING]
             for deck in data["decks"] for grid in deck["grids"] for part in grid["cycle"]]
    return {"a cycle": table(["grid", "a cycle, ms", "part", "a set-up, ms"], rows)}


def tables(path):
    """{what: Markdown table} of one JSON file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if "candidates" in data:
        return comparison(data)
    if data["kind"] == "kernels" and path.stem.startswith("tunings"):
        return tunings(data)
    if data["kind"] == "kernels" and any("variants" in case for case in data["cases"]):
        return ablation(data)
    if data["kind"] == "kernels" and any("built_up" in case for case in data["cases"]):
        return build_up(data)
    if data["kind"] == "kernels" and path.stem == "levels":
        return levels(data)
    if data["kind"] == "products":
        return {"products": products([path])}
    makers = {"kernels": kernels, "solve": solves, "preconditioners": preconditioners, "vectors": vectors,
              "assembly": assembly, "hpcg": hpcg, "first_runs": first_runs, "multigrid": cycles}
    if data["kind"] not in makers:
        raise SystemExit(f"{path}: there is no table of the kind '{data['kind']}'")
    return makers[data["kind"]](data)


MULTIGRID = re.compile(r"multigrid-(\d+)(-single)?")


def multigrid(paths):
    """One table of whole solves that differ in the grid and in the precision of the hierarchy, large grids first."""
    rows = []
    for path in sorted(paths, key=lambda path: (-int(MULTIGRID.fullmatch(path.stem)[1]), path.stem)):
        n, single = MULTIGRID.fullmatch(path.stem).groups()
        (one,) = json.loads(path.read_text(encoding="utf-8"))["solves"]
        first, solve = one["first_setup"], one["solve"]["median"]
        times = (first, one["before"]["setup"], one["factorise"]["median"], solve, first + solve)
        rows.append([f"{n}^3", "single, vectors too" if single else "double", str(one["iterations"]),
                     *(three_digits(1e3 * seconds) for seconds in times), f"{first / (solve / one['iterations']):.1f}"])
    return table(["points", "precision of the hierarchy", "iterations", "first set-up, ms", "new, ms", "later, ms", "solve, ms",
                  "first set-up and solve, ms", "first set-up, in iterations"], rows)


PRODUCTS = re.compile(r"products-(.+)")


def products(paths):
    """One table of products with A beside cuSPARSE's, of CSR by the faster of its algorithms. Files name the systems; numbers in names count as such."""
    rows = []
    for path in sorted(paths, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]):
        for deck in json.loads(path.read_text(encoding="utf-8"))["decks"]:
            seconds = {way["name"]: way["seconds"] for way in deck["ways"]}
            fastest = [min((found["median"] for name, found in seconds.items() if name.startswith(f"cuSPARSE {form}")), default=None)
                       for form in ("CSR", "BSR")]
            best = min(filter(None, fastest), default=None)
            (own,) = (way for way in deck["ways"] if way["name"] == "product")
            named = PRODUCTS.fullmatch(path.stem)
            rows.append([named[1] if named else pathlib.Path(deck["deck"]).stem, f"{deck['entries'] / deck['rows'] / deck['dof']:.1f}",
                         f"{1e3 * median(own):.4f}", ratio(own["time_over_limit"]), f"{1e3 * deck['copy']['median']:.4f}",
                         *(f"{1e3 * one:.4f}" if one else MISSING for one in fastest), ratio(best and best / median(own))])
    return table(["system", "entries a row", "product, ms", "over limit", "copy of as many bytes, ms", "cuSPARSE in CSR, ms", "in BSR, ms",
                  "the better cuSPARSE over this"], rows)


def tables_of(paths):
    """(files, what, Markdown table) of several JSON files; those of multigrid share one, and so do those of products."""
    grids, products_of = ([path for path in paths if name.fullmatch(path.stem)] for name in (MULTIGRID, PRODUCTS))
    for path in paths:
        if path not in grids and path not in products_of:
            yield from ((path.name, what, text) for what, text in tables(path).items())
    if grids:
        yield "multigrid-*.json", "whole solves", multigrid(grids)
    if products_of:
        yield "products-*.json", "products", products(products_of)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        raise SystemExit(__doc__.strip())
    folder = pathlib.Path(arguments[0])
    paths = [folder / name for name in arguments[1:]] or sorted(folder.glob("*.json"))
    if not paths:
        raise SystemExit(f"{folder} holds no JSON file: name a folder that docs/results/measure.sh has filled")
    for name, what, text in tables_of(paths):
        print(f"{name}, {what}:\n\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
