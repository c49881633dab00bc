# SPDX-License-Identifier: BSD-3-Clause
"""Several runs as rows of a table: the varied keys and the results."""

import math
import re
from dataclasses import dataclass, field

# Keys that may differ between runs without making them different cases.
ASIDE = ("output.", "expect.")

# In the name of a device, such as "cpu, 2 ranks of 1 thread" or "cuda, 2 ranks on 2 GPUs, NVIDIA H200".
RANKS_AND_THREADS = re.compile(r", \d+ ranks on \d+ GPUs?|, (\d+ ranks of )?\d+ threads?")


@dataclass
class Column:
    """A column of the table of cases. It is numeric if all its cells are numbers or empty (None)."""

    title: str
    values: list
    swept: bool = False  # a deck's key, not a result
    size: bool = False  # a key of the grid, which says how large the system is
    leads: list = field(default_factory=list)  # columns of varied keys that this one's value determines

    @property
    def numeric(self):
        known = [value for value in self.values if value is not None]
        return bool(known) and all(isinstance(value, (int, float)) for value in known)

    @property
    def varies(self):
        return len(set(self.values)) > 1


def as_number(text):
    """The text as an integer or a real if it is one, otherwise the text itself."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def cell(value):
    """A varied key of a study's case; None where the case does not have it."""
    if isinstance(value, str):
        return as_number(value) if value else None
    return finite(int(value) if math.isfinite(value) and value == int(value) else float(value))


def finite(value):
    return value if value is not None and math.isfinite(value) else None


def swept_keys(records):
    """Keys with several values among the runs to which they apply; first those that name a component."""
    keys = dict.fromkeys(key for record in records for key in record.deck if not key.startswith(ASIDE))
    keys = [key for key in keys if len({record.value(key) for record in records if key in record.deck}) > 1]
    return sorted(keys, key=lambda key: not key.endswith(".name"))


def titles(keys):
    """{"solver.name": "solver", "grid.cells": "cells"}: keys shortened as far as they stay distinct."""
    short = {key: key.split(".")[0] if key.endswith(".name") else key.split(".", 1)[-1] for key in keys}
    taken = list(short.values())
    return {key: name if taken.count(name) == 1 else key for key, name in short.items()}


@dataclass
class Sheet:
    """The table of cases of a page: one row for each case, and the number of its record."""

    columns: list
    good: list  # whether the row's run ended well
    runs: list  # number of the row's record; None: it has none
    names: list  # of the rows in plots
    best: int = None  # row of the best candidate
    caption: str = "The runs"


def norms(records):
    """The names of the error norms that any of the records has."""
    return list(dict.fromkeys(name for record in records if record is not None for name in record.verification))


def preparations(records):
    """(name, title) of the timers of reading, ordering and the parts of a set-up that any of the records has."""
    names = dict.fromkeys(name for record in records if record is not None for name in record.timers.name)
    words = [(name, name.removeprefix("preparation/")) for name in names if name.startswith("preparation/")]
    words += [(name, f"{name.removeprefix('setup/')} set-up") for name in names if name in ("setup/symbolic", "setup/numeric")]
    return [(name, f"{title} [s]") for name, title in words]


def timer(record, name):
    """The seconds of a timer of that very name; NaN if the record does not have it."""
    return next((float(row.seconds) for row in record.timers.rows() if row.name == name), float("nan"))


def results(records):
    """The results of each record as columns, those that matter most first; cells are empty for records that are
    None."""
    def each(form):
        return [None if record is None else form(record) for record in records]

    columns = [
        Column("ended", each(lambda record: record.stop_reason or record.status)),
        Column("iterations", each(lambda record: record.iterations)),
        Column("total [s]", each(lambda record: record.seconds("setup") + record.seconds("solve"))),
        *(Column(f"error, {norm}", each(lambda record, norm=norm: finite(record.verification.get(norm))))
          for norm in norms(records)),
        Column("unknowns", each(lambda record: record.unknowns or None)),
        *(Column(title, each(lambda record, name=name: finite(timer(record, name)))) for name, title in preparations(records)),
        Column("set-up [s]", each(lambda record: record.seconds("setup"))),
        Column("solve [s]", each(lambda record: record.seconds("solve"))),
        Column("an iteration [ms]", each(lambda record: finite(1e3 * record.seconds_per_iteration))),
        Column("memory [MiB]", each(lambda record: record.peak_total / 2**20)),
        Column("true residual", each(lambda record: finite(record.relative_residual))),
    ]
    devices = devices_of(records)
    if len(set(devices) - {None}) > 1:
        columns.insert(0, Column("device", devices, True))
    if any(record is not None and len(record.parts) > 1 for record in records):
        columns += [Column("parts", each(lambda record: len(record.parts))),
                    Column("ran on", each(lambda record: record.places))]
    return columns


def devices_of(records):
    """The device of each record. Where decks have several numbers of ranks, which are a column of their own, the device is
    told without them and their threads, so that runs on several ranks are one series."""
    found = [None if record is None else record.environment.get("device") for record in records]
    if len({record.value("device.ranks") for record in records if record is not None}) > 1:
        found = [device and RANKS_AND_THREADS.sub("", device) for device in found]
    return found


def pay_offs(files):
    """For each record of the files: from how many solves on it pays off beside the baseline of its own comparison or
    study; 0: never, or it has no baseline."""
    counts = []
    for file in files:
        rows = getattr(file, "table", None) or getattr(file, "cases", None) or {}
        told = dict(zip(rows.name, rows["pays_off_from_solves"])) if "pays_off_from_solves" in rows else {}
        counts += [max(0, int(told.get(name, 0))) for name in getattr(file, "records", [""])]
    return counts


def of_records(records, pays_off=()):
    """Runs of any files; keys in which their decks differ count as varied. `pays_off` as from pay_offs, if some do."""
    columns = [Column("run", [record.label for record in records])]
    for key, title in titles(swept_keys(records)).items():
        values = [as_number(record.value(key)) if key in record.deck else None for record in records]
        columns.append(Column(title, values, True, key.startswith("grid.")))
    return Sheet(relate(columns + with_pay_off(results(records), pays_off)), [record.exit_code == 0 for record in records],
                 list(range(len(records))), [record.label for record in records])


def short_name(name):
    """The name of a case as a plot shows it: "preconditioner=jacobi,cells=32" as "jacobi, cells=32"."""
    parts = [part.split("=", 1) for part in name.split(",")]
    return ", ".join(value if isinstance(as_number(value), str) else f"{key}={value}"
                     for key, value in parts) if all(len(part) == 2 for part in parts) else name


def pay_off_column(counts):
    """From how many solves with one set-up on each row takes less time than the baseline; 0: never."""
    return Column("pays off from solves", [int(count) or None for count in counts])


def with_pay_off(columns, counts):
    """The results with that column behind the time of the solves, if there are such numbers."""
    after = next(at for at, column in enumerate(columns) if column.title == "solve [s]") + 1
    return columns[:after] + ([pay_off_column(counts)] if len(counts) else []) + columns[after:]


def of_study(study):
    """The cases of a study, including those without a record."""
    places = {name: run for run, name in enumerate(study.records)}
    runs = [places.get(name) for name in study.cases.name]
    found = [study.records.get(name) for name in study.cases.name]
    columns = [Column("case", [int(number) for number in study.cases.case])]
    for key, title in titles(study.swept).items():
        columns.append(Column(title, [cell(value) for value in study.cases[key]], True,
                              key.startswith("grid.")))
    came = results(found)
    next(column for column in came if column.title == "ended").values = [status if record is None else record.stop_reason or record.status
                      for status, record in zip(study.cases.status, found)]
    if "pays_off_from_solves" in study.cases:  # else an earlier program has written the file
        came = with_pay_off(came, [max(0, count) for count in study.cases["pays_off_from_solves"]])
    return Sheet(relate([*columns, *came, Column("name", list(study.cases.name))]),
                 [record is not None and record.exit_code == 0 for record in found], runs,
                 [short_name(name) for name in study.cases.name], caption=f"The cases of {study.study}")


def of_comparison(comparison):
    """The candidates of a comparison in its order; times are medians of the turns."""
    rows = comparison.table

    def scaled(name, factor):
        return [finite(factor * value) for value in rows[name]]

    records = [comparison.records[name] for name in rows.name]
    pays_off = rows["pays_off_from_solves"] if "pays_off_from_solves" in rows else [0] * len(records)
    spread = [100.0 * (most - least) / total if turns > 1 and total else None for turns, total, least, most
              in zip(rows.turns, rows.total_seconds, rows.total_least, rows.total_most)]
    return Sheet(relate([
        Column("candidate", list(rows.name)),
        Column("ended", list(rows.outcome)),
        Column("iterations", [int(count) for count in rows.iterations]),
        Column("total [ms]", scaled("total_seconds", 1e3)),
        Column("ratio", [float(value) if value > 0.0 else None for value in rows.ratio]),
        Column("spread [%]", spread),
        *(Column(title.replace("[s]", "[ms]"), [finite(1e3 * timer(record, name)) for record in records])
          for name, title in preparations(records)),
        Column("set-up [ms]", scaled("setup_seconds", 1e3)),
        Column("solve [ms]", scaled("solve_seconds", 1e3)),
        pay_off_column(pays_off),
        Column("an iteration [ms]", scaled("per_iteration", 1e3)),
        Column("preconditioner [%]", scaled("preconditioner_share", 100.0)),
        Column("memory [MiB]", scaled("peak", 2.0**-20)),
        Column("true residual", scaled("relative_residual", 1.0)),
        Column("solver", list(rows.solver), True),
        Column("preconditioner", list(rows.preconditioner), True),
    ]), [bool(code == 0) for code in rows.exit_code], list(range(len(rows))), list(rows.name),
        list(rows.name).index(comparison.best) if comparison.best else None, "The candidates")


def relate(columns):
    """Sets `leads`: the swept columns that change together with a column and belong to the same series, since they
    are numbers or describe the grid. A word that changes with the size, such as a solver's name, begins another series.
    """
    for column in columns:
        column.leads = [at for at, other in enumerate(columns)
                        if other.swept and other is not column and (other.numeric or other.size)
                        and len(set(zip(column.values, other.values))) == len(set(column.values))]
    return columns


def horizontal(columns):
    """Columns for the horizontal axis: numbers that vary, either swept or the number of unknowns."""
    return [at for at, column in enumerate(columns)
            if column.numeric and column.varies and (column.swept or column.title == "unknowns")]


def vertical(columns):
    """Columns for the vertical axis: results that are numbers."""
    return [at for at, column in enumerate(columns)
            if column.numeric and not column.swept and column.title not in ("case", "unknowns")]


def preferred(columns, places, *titles):
    """The first of `places` whose column has one of these titles, otherwise the first place."""
    for title in titles:
        for at in places:
            if columns[at].title == title:
                return at
    return places[0]


def others(columns, x):
    """The swept columns by which curves over column x are distinguished."""
    return [at for at, column in enumerate(columns)
            if column.swept and column.varies and at != x and at not in columns[x].leads]


def group_name(columns, places, row):
    """"struct_ilu, cells = 32": numbers with their column's title, words alone unless two columns have that word."""
    told = []
    for at in places:
        alone = isinstance(row[at], str) and sum(row[at] in columns[other].values for other in places) == 1
        if row[at] is not None:
            told.append(row[at] if alone else f"{columns[at].title} = {row[at]}")
    return ", ".join(told)


def is_positive(sheet, x):
    """Whether a logarithmic axis can show column x of all good runs, which a fill level of 0 forbids."""
    return all(value > 0 for fine, value in zip(sheet.good, sheet.columns[x].values) if fine and value is not None)


def groups(sheet, x, y):
    """{name: [(x, y), ...]} of the good runs whose y is above 0, with a series for each combination of the other swept
    columns."""
    columns = sheet.columns
    places, found = others(columns, x), {}
    for fine, *row in zip(sheet.good, *(column.values for column in columns)):
        if fine and row[x] is not None and row[y] is not None and row[y] > 0:
            found.setdefault(group_name(columns, places, row) or columns[y].title, []).append((row[x], row[y]))
    return {name: sorted(points) for name, points in found.items()}


def is_line(points):
    """Whether the points of a series are joined: not if there are several for one place, which are repetitions."""
    return len({x for x, _ in points}) == len(points)
