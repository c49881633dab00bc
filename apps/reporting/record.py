"""A record read back: what the page and the plots need of it, schema 1."""

import os
import re
from dataclasses import dataclass, field

import h5py
import numpy as np

SCHEMA_VERSION = 1


class RecordError(Exception):
    """The file is no record, or not a whole one; the message says which file and why."""


@dataclass
class Solve:
    """One linear solve and its history; residuals are relative to ||b||, NaN where not computed."""

    iterations: int
    stop_reason: str
    recurrence: float
    truth: float
    setup_seconds: float
    solve_seconds: float
    pivots_modified: int
    history_iteration: np.ndarray
    history_recurrence: np.ndarray
    history_truth: np.ndarray
    history_seconds: np.ndarray


@dataclass
class Timer:
    name: str  # nests by '/': "solve/spmv"
    seconds: float
    calls: int
    bytes: int  # fewest that all calls together must move; 0: not known


@dataclass
class Record:
    path: str
    status: str
    exit_code: int
    message: str
    code_version: str
    git_sha: str
    deck: dict  # "section.key" -> (value, provenance)
    environment: dict
    grid: str
    dof: int
    stencil: str
    layout: str
    unknowns: int
    stored_entries: int
    solves: list = field(default_factory=list)
    timers: list = field(default_factory=list)
    verification: dict = field(default_factory=dict)
    memory: dict = field(default_factory=dict)  # label -> bytes at the peak
    peak_total: int = 0
    predicted_total: int = 0
    label: str = ""  # short and unique among the records of a page

    def deck_value(self, name, default=""):
        return self.deck.get(name, (default, ""))[0]

    @property
    def method(self):
        """"cg + struct_ilu(1)"."""
        name = self.deck_value("preconditioner.name", "?")
        level = self.deck_value("preconditioner.fill_level")
        return f"{self.deck_value('solver.name', '?')} + {name}{f'({level})' if level else ''}"

    @property
    def iterations(self):
        return sum(solve.iterations for solve in self.solves)

    def seconds(self, timer):
        return sum(row.seconds for row in self.timers if row.name == timer)

    def tolerance(self):
        """The relative residual asked for; None where the deck does not say."""
        try:
            return float(self.deck_value("solver.rtol"))
        except ValueError:
            return None


def text(value):
    """An HDF5 string, of fixed or variable length."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def parse_resolved(ini):
    """{"section.key": (value, provenance)} of the resolved deck, `key = value  ; provenance` a line."""
    section, found = "", {}
    for line in ini.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line[1 : line.index("]")] if "]" in line else line[1:]
            continue
        match = re.match(r'([A-Za-z0-9_.-]+)\s*=\s*("[^"]*"|.*?)\s*(?:\s[;#]\s*(.*))?$', line)
        if match and line[0] not in ";#":
            key, value, provenance = match.groups()
            found[f"{section}.{key}"] = (value.strip('"'), provenance or "")
    return found


def columns(node):
    """The columns of a table: a group of one-dimensional datasets, which may be empty."""
    return {name: dataset[...] if dataset.shape else [] for name, dataset in node.items()
            if isinstance(dataset, h5py.Dataset)}


def read_solves(file):
    solves = columns(file["solves"])
    history = columns(file["history"])
    offset = history["offset"]
    found = []
    for i in range(len(solves["iterations"])):
        part = slice(int(offset[i]), int(offset[i + 1]))
        b_norm = float(solves["b_norm"][i]) or 1.0
        found.append(
            Solve(
                iterations=int(solves["iterations"][i]),
                stop_reason=text(solves["stop_reason"][i]),
                recurrence=float(solves["res_recurrence"][i]) / b_norm,
                truth=float(solves["res_true"][i]) / b_norm,
                setup_seconds=float(solves["setup_seconds"][i]),
                solve_seconds=float(solves["solve_seconds"][i]),
                pivots_modified=int(solves["pivots_modified"][i]),
                history_iteration=history["iteration"][part],
                history_recurrence=history["rel_res_recurrence"][part],
                history_truth=history["rel_res_true"][part],
                history_seconds=history["seconds"][part],
            )
        )
    return found, solves


def read_performance(file, record):
    perf = file["perf"]
    rows = columns(perf["timers"])
    record.timers = [
        Timer(text(name), float(seconds), int(calls), int(count))
        for name, seconds, calls, count in zip(rows["name"], rows["seconds"], rows["calls"], rows["bytes"])
    ]
    rows = columns(perf["memory"])
    record.memory = {text(label): int(peak) for label, peak in zip(rows["label"], rows["peak"])}
    record.peak_total = int(perf["memory/peak_total"][()])
    record.predicted_total = int(perf["memory/predicted_total"][()])


def read_open_file(path, file):
    attributes = file.attrs
    if "schema_version" not in attributes:
        raise RecordError(f"{path}: an HDF5 file, but no record of hyperplane (it has no schema_version)")
    version = int(attributes["schema_version"])
    if version != SCHEMA_VERSION:
        raise RecordError(f"{path}: record schema {version}; this report reads schema {SCHEMA_VERSION}")
    solves, rows = read_solves(file)
    grid = file["grid"].attrs
    shape = " × ".join(str(int(n)) for n in np.atleast_1d(grid["extents"]))
    record = Record(
        path=path,
        status=text(attributes["status"]),
        exit_code=int(attributes["exit_code"]),
        message=text(attributes.get("message", "")),
        code_version=text(attributes["code_version"]),
        git_sha=text(attributes["git_sha"]),
        deck=parse_resolved(text(file["deck/resolved"][()])),
        environment={name: text(value) for name, value in sorted(file["environment"].attrs.items())},
        grid=shape,
        dof=int(grid["dof"]),
        stencil=text(grid["stencil"]),
        layout=text(grid["layout"]),
        unknowns=int(rows["unknowns"][0]) if solves else 0,
        stored_entries=int(rows["stored_entries"][0]) if solves else 0,
        solves=solves,
    )
    rows = columns(file["verification"])
    record.verification = {text(name): float(value) for name, value in zip(rows["name"], rows["value"])}
    read_performance(file, record)
    return record


def read_record(path):
    """Reads one record; raises RecordError naming the file and what is wrong with it."""
    if not os.path.isfile(path):
        raise RecordError(f"{path}: no such file")
    try:
        with h5py.File(path, "r") as file:
            return read_open_file(path, file)
    except OSError as error:
        reason = "truncated" if "truncated" in str(error) else "not an HDF5 file, or damaged"
        raise RecordError(f"{path}: cannot be read ({reason})") from error
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise RecordError(f"{path}: incomplete record: {error}") from error


def read_records(paths):
    """Reads all; labels them by method where that tells them apart, else by file name."""
    records = [read_record(path) for path in paths]
    methods = [record.method for record in records]
    names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    for choice in (methods, names, list(paths)):
        if len(set(choice)) == len(choice):
            for record, label in zip(records, choice):
                record.label = label
            return records
    for number, record in enumerate(records, 1):
        record.label = f"{record.path} ({number})"
    return records
