# SPDX-License-Identifier: BSD-3-Clause
"""Files that hold several records: comparisons (`hyperplane compare`) and collected studies (`hyperplane study`)."""

import re
from dataclasses import dataclass, field

import numpy as np

from . import show
from .record import RecordError, read_run, read_table, text, without_temporary
from .table import Table

STUDY_SCHEMA_VERSIONS = (1, 2)


@dataclass(repr=False)
class Comparison:
    """The file of `hyperplane compare` (docs/compare.md): one linear system, solved by several candidates."""

    path: str
    deck: str  # as the user named it; "deck" where it was a dictionary
    exit_code: int
    baseline: str  # the candidate that ratios refer to
    best: str  # the fastest that converged; empty if none did
    recommendation: str
    system: dict  # text by name: problem, criterion, fingerprints, device, ...
    table: Table = None  # a row for each candidate, fastest first: name, outcome, iterations, total_seconds, ratio, ...
    complete: bool = True  # False: it was stopped, and the same command continues it
    left_out: Table = None  # name and reason of pairs that cannot work together
    records: dict = field(default_factory=dict)  # name -> Record

    def __repr__(self):
        return f"<Comparison of {show.counted(len(self.records), 'candidate')} for {self.deck}, fastest: {self.best or 'none'}>"

    def _repr_html_(self):
        columns = ("name", "outcome", "iterations", "total_seconds", "ratio")
        return show.html_table([[show.shown(getattr(row, name)) for name in columns] for row in self.table.rows()],
                               columns)

    def plot(self, axes=None):
        """Draws the residuals of all candidates over time with matplotlib; returns the axes."""
        return show.plot_records(self.records, axes)


@dataclass(repr=False)
class Study:
    """The file of `hyperplane study collect` (docs/study.md): the cases of a study and their records."""

    path: str
    study: str  # name of the study
    source: str  # text of its file
    # A row for each case: name, status, varied keys, as numbers where all their values are, and results; a missing count is -1,
    # a missing real NaN.
    cases: Table = None
    records: dict = field(default_factory=dict)  # name -> Record; cases without a result have none

    def __repr__(self):
        return f"<Study {self.study}: {len(self.records)} of {len(self.cases)} cases have a result>"

    def _repr_html_(self):
        columns = [name for name in (*self.swept, "status", "iterations", "setup_seconds", "solve_seconds")
                   if name in self.cases]
        return show.html_table([[show.shown(self.cases[name][at]) for name in columns]
                                for at in range(len(self.cases))], columns)

    def plot(self, axes=None):
        """Draws the residuals of all cases over time with matplotlib; returns the axes."""
        return show.plot_records(self.records, axes)

    @property
    def swept(self):
        """The varied keys, "section.key"."""
        return [name for name in self.cases if "." in name]


def read_labelled(path, group, name, member):
    record = read_run(path, group[member])
    record.label, record.within = name, True
    return record


def read_comparison(path, file):
    attributes = {name: text(file.attrs[name]) for name in ("deck", "baseline", "best", "recommendation")}
    attributes["deck"] = without_temporary(attributes["deck"])
    table = read_table(file["table"])
    return Comparison(
        path=path, exit_code=int(file.attrs["exit_code"]), **attributes,
        system={name: text(value) for name, value in file["system"].attrs.items()},
        table=table, complete=bool(file.attrs.get("complete", 1)), left_out=read_table(file["left_out"]),
        records={name: read_labelled(path, file["candidates"], name, name.replace("/", "|")) for name in table.name})


def with_numbers(values):
    """The values of a varied key as integers or reals, if they are such; reals have NaN for cases without the key."""
    given = [value for value in values if value]
    for kind, number in ((int, r"[+-]?\d{1,18}"), (float, r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")):
        if given and all(re.fullmatch(number, value, re.ASCII) for value in given):
            if kind is int and len(given) == len(values):
                return np.array([int(value) for value in values])
            return np.array([float(value or "nan") for value in values])
    return values


def read_study(path, file):
    version = int(file.attrs["study_schema_version"])
    if version not in STUDY_SCHEMA_VERSIONS:
        raise RecordError(f"{path}: study schema {version}; this module reads schemas 1 and 2")
    cases = read_table(file["cases"])
    cases = Table({name: with_numbers(values) if "." in name else values for name, values in cases.items()})
    return Study(
        path=path, study=without_temporary(text(file.attrs["study"])), source=text(file["source"][()]), cases=cases,
        records={name: read_labelled(path, file["records"], name, name)
                 for name in cases.name if name in file["records"]})
