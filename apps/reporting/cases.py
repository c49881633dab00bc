"""Several runs as rows: what was swept, and what each came to."""

import math
from dataclasses import dataclass, field

# Keys that may differ between runs without making them different cases.
ASIDE = ("output.", "expect.")


@dataclass
class Column:
    """A column of the table of cases; numbers where all its cells are numbers or empty (None)."""

    title: str
    values: list
    swept: bool = False  # a deck's key, not a result
    leads: list = field(default_factory=list)  # swept columns that this one's value determines

    @property
    def numeric(self):
        known = [value for value in self.values if value is not None]
        return bool(known) and all(isinstance(value, (int, float)) for value in known)

    @property
    def varies(self):
        return len(set(self.values)) > 1


def as_number(text):
    """An integer or a real where the text is one, else the text itself."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def finite(value):
    return value if value is not None and math.isfinite(value) else None


def swept_keys(records):
    """Keys with several values among the runs they apply to; those that name a component first."""
    keys = dict.fromkeys(key for record in records for key in record.deck if not key.startswith(ASIDE))
    keys = [key for key in keys if len({record.value(key) for record in records if key in record.deck}) > 1]
    return sorted(keys, key=lambda key: not key.endswith(".name"))


def titles(keys):
    """{"solver.name": "solver", "grid.cells": "cells"}: as short as keeps them apart."""
    short = {key: key.split(".")[0] if key.endswith(".name") else key.split(".", 1)[-1] for key in keys}
    taken = list(short.values())
    return {key: name if taken.count(name) == 1 else key for key, name in short.items()}


def columns_of(records):
    """The table of cases of these runs: label, what was swept, what came of it."""
    def each(form):
        return [form(record) for record in records]

    def per_iteration(record):
        return 1e3 * record.seconds("solve") / record.iterations if record.iterations else None

    found = [Column("run", each(lambda record: record.label))]
    for key, title in titles(swept_keys(records)).items():
        found.append(Column(title, each(lambda record: as_number(record.value(key)) if key in record.deck else None), True))
    found += [
        Column("unknowns", each(lambda record: record.unknowns or None)),
        Column("ended", each(lambda record: record.stop_reason or record.status)),
        Column("iterations", each(lambda record: record.iterations)),
        Column("true residual", each(lambda record: finite(record.relative_residual))),
        Column("set-up [s]", each(lambda record: record.seconds("setup"))),
        Column("solve [s]", each(lambda record: record.seconds("solve"))),
        Column("total [s]", each(lambda record: record.seconds("setup") + record.seconds("solve"))),
        Column("an iteration [ms]", each(per_iteration)),
        Column("memory [MiB]", each(lambda record: record.peak_total / 2**20)),
    ]
    return relate(found)


def relate(columns):
    """Fills `leads`: which swept columns are known where a column's value is."""
    for column in columns:
        column.leads = [at for at, other in enumerate(columns)
                        if other.swept and other is not column
                        and len(set(zip(column.values, other.values))) == len(set(column.values))]
    return columns


def horizontal(columns):
    """Columns a result can be drawn over: numbers that vary, swept or unknowns."""
    return [at for at, column in enumerate(columns)
            if column.numeric and column.varies and (column.swept or column.title == "unknowns")]


def vertical(columns):
    """Columns that can be drawn: results that are numbers."""
    return [at for at, column in enumerate(columns) if column.numeric and not column.swept and column.title != "unknowns"]


def preferred(columns, places, *titles):
    """The first of `places` with one of these titles, else the first place."""
    for title in titles:
        for at in places:
            if columns[at].title == title:
                return at
    return places[0]


def others(columns, x):
    """The swept columns that tell curves over column x apart."""
    return [at for at, column in enumerate(columns)
            if column.swept and column.varies and at != x and at not in columns[x].leads]


def group_name(columns, places, row):
    """"struct_ilu, cells = 32": words for themselves, numbers with their column's name."""
    told = [str(row[at]) if isinstance(row[at], str) else f"{columns[at].title} = {row[at]}"
            for at in places if row[at] is not None]
    return ", ".join(told)


def groups(columns, good, x, y):
    """{name: [(x, y), ...]} of the good runs: a curve for each combination of what was swept besides x."""
    places, found = others(columns, x), {}
    for fine, *row in zip(good, *(column.values for column in columns)):
        if fine and row[x] is not None and row[y] is not None and row[x] > 0 and row[y] > 0:
            found.setdefault(group_name(columns, places, row) or columns[y].title, []).append((row[x], row[y]))
    return {name: sorted(points) for name, points in found.items()}
