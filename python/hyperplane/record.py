# SPDX-License-Identifier: BSD-3-Clause
"""A record of a run read back: schemas 1 and 2, docs/record.md."""

import re
from dataclasses import dataclass, field

import h5py
import numpy as np

from . import fields, show
from .table import Table

SCHEMA_VERSIONS = (1, 2)
DICTIONARY = "hyperplane-dictionary-"  # how the name of a file begins that a dictionary becomes for a while
WITH_FIELDS = (0, 3, 8)  # exit codes of runs that write the file of output.fields


class RecordError(Exception):
    """The file is not a record or is incomplete; the message says which file and why."""


@dataclass
class Value:
    """A key of the resolved deck: its text, and "default", "deck.ini:9" or "--set"."""

    text: str
    provenance: str = ""

    def __str__(self):
        return self.text


@dataclass(repr=False)
class Record:
    """One run. Tables hold numpy columns (`record.history.seconds`); `to_pandas()` turns one into a DataFrame."""

    path: str
    status: str  # running, ok, failed or preempted
    exit_code: int  # -1 until the run has ended
    message: str
    code_version: str
    git_sha: str
    deck: dict  # "section.key" -> Value
    environment: dict  # text by name: device, threads, host, ...
    extents: tuple  # nx, ny, nz
    dof: int
    stencil: str
    layout: str
    steps: Table = None  # a row for each attempt at a time step, with the columns of /steps
    newton: Table = None  # a row for each Newton step, with the columns of /newton; empty for linear problems
    diagnostics: Table = None  # step (0: initial state), time and a column for each diagnostic; may be empty
    snapshots: Table = None  # a row for each state of the series of fields: step, time, file; may be empty
    solves: Table = None  # a row for each linear solve, with the columns of /solves; rel_res_true, rel_res_recurrence
    history: Table = None  # solve (from 0), iteration, rel_res_recurrence, rel_res_true (NaN: not computed), seconds
    timers: Table = None  # name (nests by '/'), seconds, calls, bytes (0: not known), bandwidth [GB/s]
    long_preparation: str = ""  # says that a general matrix took as long to prepare as many iterations; else empty
    triangular_solves: str = ""  # of a general matrix's factors: sync_free, levels or natural_order; empty: one way alone
    profile: Table = None  # kinds of work of output.profile: name (nests by '/'), seconds, calls, bytes; else None
    memory: Table = None  # label, peak [B]
    parts: Table = None  # a row for each part of the run: started, host, device, threads, git_sha, step, seconds, changed, ended
    verification: dict = field(default_factory=dict)  # error norms by name
    pattern: dict = field(default_factory=dict)  # of a general matrix: rows, blocks, lower_bandwidth, lower_levels, ...
    given_pattern: dict = field(default_factory=dict)  # the same before its rows were ordered; empty if they were not
    peak_total: int = 0  # bytes
    predicted_total: int = 0
    limit: float = float("nan")  # bandwidth of the memory in GB/s, NaN if it was not measured
    within: bool = False  # a comparison or study holds it, beside which there are no fields
    label: str = ""  # short; unique among records that were loaded together
    _held: tuple = None  # the final state and the series, where they were read ahead

    def __repr__(self):
        return (f"<Record of {self.problem}, {self.method}: {show.counted(self.iterations, 'iteration')} in "
                f"{show.counted(len(self.solves), 'solve')}, {self.status}>")

    def _repr_html_(self):
        return show.html_table(show.record_rows(self))

    def plot(self, axes=None):
        """Draws it with matplotlib: the residual of one solve, or the diagnostics of many; returns the axes."""
        return show.plot_record(self, axes)

    @property
    def fields(self):
        """The fields of the final state (output.fields), a State: name -> array (z, y, x); None if the run wrote none.
        Raises a RecordError if the file that it wrote is not beside the record, or cannot be used."""
        if self._held:
            return self._held[0]
        found = fields.final_state(self)
        wrote = self.value("output.fields") in ("true", "yes", "on") and self.exit_code in WITH_FIELDS and not self.within
        if found is None and wrote:
            raise RecordError(fields.lack_of(self))
        return found

    @property
    def states(self):
        """The states of the series of fields (output.fields_every), each a State with its time."""
        return self._held[1] if self._held else fields.states_of(self)

    def hold_fields(self):
        """Reads all fields, so that the files beside the record are not needed any more; returns the record."""
        final, states = fields.final_state(self), self.states
        for state in filter(None, (final, *states)):
            state.read()
        self._held = (final, states)
        return self

    def value(self, key, default=""):
        """The text of a deck's key, or `default` if it does not apply."""
        return self.deck[key].text if key in self.deck else default

    @property
    def problem(self):
        return self.value("problem.name", "?")

    @property
    def method(self):
        """"cg + struct_ilu(1)"."""
        level = self.value("preconditioner.fill_level")
        return (f"{self.value('solver.name', '?')} + {self.value('preconditioner.name', '?')}"
                f"{f'({level})' if level else ''}")

    @property
    def grid(self):
        """"64 × 64 × 64 points"; "none, 1600 block rows" of a matrix from a file, which has no grid."""
        if self.stencil == "general":
            return f"none, {self.extents[0]} block rows"
        return " × ".join(str(n) for n in self.extents) + " points"

    @property
    def unknowns(self):
        return int(self.solves.unknowns[0]) if self.solves else 0

    @property
    def iterations(self):
        """The iterations of all solves together."""
        return int(np.sum(self.solves.iterations))

    @property
    def stop_reason(self):
        """The stop reason of the last solve; empty if there is none."""
        return str(self.solves.stop_reason[-1]) if self.solves else ""

    @property
    def ended(self):
        """Why the run ended, in a word: "steady_state", or of a single solve "converged_rtol"."""
        word = self.message.split(":")[0]
        return word if ":" in self.message and word.isidentifier() else self.stop_reason

    @property
    def relative_residual(self):
        """||b - A x|| / ||b|| at the end of the last solve; NaN if there is none."""
        return float(self.solves.rel_res_true[-1]) if self.solves else float("nan")

    @property
    def tolerance(self):
        """The relative tolerance of the deck; NaN if it has none."""
        try:
            return float(self.value("solver.rtol", "nan"))
        except ValueError:
            return float("nan")

    def seconds(self, timer):
        """Wall time of a timer in all parts of the run: "assemble", "setup", "solve", "solve/spmv", ...; 0 if there is
        none. Records of programs before 0.2.0 have the timers of the last part alone; for these the rows of /solves are
        added up."""
        timed = float(np.sum(self.timers.seconds[self.timers.name == timer]))
        column = {"setup": "setup_seconds", "solve": "solve_seconds"}.get(timer)
        return max(timed, float(np.sum(self.solves[column]))) if column in self.solves else timed

    @property
    def seconds_per_iteration(self):
        """The time of an iteration of the Krylov method; NaN if there was none."""
        return self.seconds("solve") / self.iterations if self.iterations else float("nan")

    @property
    def places(self):
        """Host and device; if the run was continued on another one, that one after "; then"."""
        found = []
        for part in self.parts.rows():
            place = ", ".join(filter(None, (str(part.host), str(part.device))))
            if found[-1:] != [place]:
                found.append(place)
        return "; then ".join(found)

    def history_of(self, solve):
        """The rows of the history of one solve, counted from 0."""
        return self.history.where(self.history.solve == solve)


def text(value):
    """An HDF5 string, of fixed or variable length."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def without_temporary(said):
    """The text with "deck" in place of the file, and its lines, that a dictionary was for a while."""
    return re.sub(DICTIONARY + r"[a-z0-9_]{8}(\.ini(:\d+)?)?", "deck", said)


def parse_deck(ini):
    """{"section.key": Value} of a resolved deck, `key = value  ; provenance` a line."""
    section, found = "", {}
    for line in ini.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line[1 : line.index("]")] if "]" in line else line[1:]
            continue
        match = re.match(r'([A-Za-z0-9_.-]+)\s*\??=\s*("(?:[^"]|"")*"|.*?)\s*(?:\s[;#]\s*(.*))?$', line)
        if match and line[0] not in ";#":
            key, value, provenance = match.groups()
            if len(value) > 1 and value[0] == value[-1] == '"':
                value = value[1:-1].replace('""', '"')
            found[f"{section}.{key}"] = Value(value, without_temporary(provenance or ""))
    return found


def read_table(group, *names):
    """The one-dimensional datasets of a group as a Table, text decoded; all of them, or those named."""
    columns = {}
    for name in names or group:
        dataset = group[name]
        if names and not isinstance(dataset, h5py.Dataset):
            raise TypeError(f"{name} is no dataset")
        if isinstance(dataset, h5py.Dataset) and (names or dataset.ndim == 1 or dataset.shape is None):
            values = dataset[...] if dataset.shape else np.empty(0, dtype=dataset.dtype)
            if h5py.check_string_dtype(dataset.dtype):
                values = np.array([text(value) for value in values], dtype=object)
            columns[name] = values
    return Table(columns)


def read_solves(group):
    solves = read_table(group)
    scale = np.where(solves["b_norm"] == 0.0, 1.0, solves["b_norm"])
    return Table({**solves, "rel_res_recurrence": solves["res_recurrence"] / scale,
                  "rel_res_true": solves["res_true"] / scale})


def read_history(group):
    """The history with a column `solve` in place of /history/offset."""
    rows = read_table(group, "iteration", "rel_res_recurrence", "rel_res_true", "seconds")
    lengths = np.diff(group["offset"][...])
    return Table({"solve": np.repeat(np.arange(len(lengths)), lengths), **rows})


def read_performance(group, record):
    record.timers = read_table(group["timers"], "name", "seconds", "calls", "bytes")
    seconds = record.timers.seconds
    bandwidth = np.divide(record.timers.bytes * 1e-9, seconds, out=np.zeros(len(seconds)), where=seconds > 0.0)
    record.timers = Table({**record.timers, "bandwidth": bandwidth})
    record.long_preparation = text(group.attrs.get("long_preparation", ""))
    record.triangular_solves = text(group.attrs.get("triangular_solves", ""))
    if "profile" in group:
        record.profile = read_table(group["profile"], "name", "seconds", "calls", "bytes")
    record.memory = read_table(group["memory"], "label", "peak")
    record.peak_total = int(group["memory/peak_total"][()])
    record.predicted_total = int(group["memory/predicted_total"][()])
    if "limits" in group:
        record.limit = float(group["limits/memory"][()])


def read_parts(node, record):
    """The parts; for records of programs before 0.2.0, the newest part according to the environment."""
    if "parts" in node:
        return read_table(node["parts"])
    known = {name: record.environment.get(name, "") for name in ("started", "host", "device")}
    return Table({**{name: np.array([value], dtype=object) for name, value in known.items()},
                  "threads": np.array([int(record.environment.get("threads") or 0)]),
                  "git_sha": np.array([record.git_sha], dtype=object), "step": np.array([0]),
                  "seconds": np.array([np.nan]), "changed": np.array([""], dtype=object), "ended": np.array([record.status], dtype=object)})


def read_diagnostics(group):
    names = [text(name) for name in group["name"][()]]
    return Table({name: group[name][()] for name in ("step", "time", *names)})


def read_run(path, node):
    """The record of a run, from an open file or from a group of a file with several records."""
    attributes, grid = node.attrs, node["grid"].attrs
    record = Record(
        path=path,
        status=text(attributes["status"]),
        exit_code=int(attributes["exit_code"]),
        message=text(attributes.get("message", "")),
        code_version=text(attributes["code_version"]),
        git_sha=text(attributes["git_sha"]),
        deck=parse_deck(text(node["deck/resolved"][()])),
        environment={name: text(value) for name, value in sorted(node["environment"].attrs.items())},
        extents=tuple(int(n) for n in np.atleast_1d(grid["extents"])),
        dof=int(grid["dof"]),
        stencil=text(grid["stencil"]),
        layout=text(grid["layout"]),
        steps=read_table(node["steps"]) if "steps" in node else Table({"step": [], "time": [], "dt": []}),
        solves=read_solves(node["solves"]),
        history=read_history(node["history"]),
    )
    record.newton = read_table(node["newton"]) if "newton" in node else Table({})
    record.diagnostics = read_diagnostics(node["diagnostics"]) if "diagnostics" in node else Table({})
    record.snapshots = read_table(node["fields"]) if "fields" in node else Table({})
    record.parts = read_parts(node, record)
    record.verification = {row.name: float(row.value) for row in read_table(node["verification"]).rows()}
    record.pattern, record.given_pattern = ({key: int(value[()]) for key, value in node[name].items()}
                                            if name in node else {} for name in ("pattern", "given_pattern"))
    read_performance(node["perf"], record)
    record.label = record.method
    return record
