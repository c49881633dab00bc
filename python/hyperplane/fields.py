# SPDX-License-Identifier: BSD-3-Clause
"""The fields of a run's states, from the VTKHDF files beside its record (output.fields, output.fields_every)."""

import os
from collections.abc import Mapping

import h5py
import numpy as np

from . import show

AXES = "xyz"
POSITION = "position"  # where the points of an uneven grid are, whose image has even spacings


class State(Mapping):
    """The fields of one state: name -> numpy array with the axes (z, y, x), of a vector (z, y, x, component).

    Arrays are read when they are asked for. `state.coordinates` are those of the points along x, y and z, `state.spacings`
    the distances between them (of an axis with one point, its length; where they differ, the mean), `state.even` tells
    whether they are the same along each axis, `state.units[name]` and `state.descriptions[name]` what the file says of a field, `state.time` the time, or None.
    """

    def __init__(self, path, extents, time=None):
        self.path, self.extents, self.time = path, tuple(extents), time
        self.units, self.descriptions, self._arrays = {}, {}, {}
        with h5py.File(path, "r") as file:
            image = file["VTKHDF"]
            points = image.attrs["WholeExtent"][1::2] + 1
            if any(most not in (n, max(n, 2)) for most, n in zip(points, extents)):
                raise ValueError(f"{path}: is of another grid")
            self.spacings = tuple(map(float, image.attrs["Spacing"]))
            self.coordinates = tuple(origin + spacing * np.arange(n)
                                     for origin, spacing, n in zip(image.attrs["Origin"], self.spacings, extents))
            arrays = image["PointData"]
            self.even = POSITION not in arrays
            if not self.even:  # of a grid whose lines are straight
                nx, ny, nz = self.extents
                places = arrays[POSITION]
                self.coordinates = (places[0, 0, :nx, 0], places[0, :ny, 0, 1], places[:nz, 0, 0, 2])
            for name in sorted(arrays, key=lambda name: (name.endswith("error"), name)):  # errors last
                if name == POSITION:
                    continue
                array = arrays[name]
                self.units[name] = _text(array.attrs.get("units", "1"))
                self.descriptions[name] = _text(array.attrs.get("description", ""))

    def __getitem__(self, name):
        if name not in self.units:
            raise KeyError(f"no field is called '{name}'; there are {', '.join(self.units)}")
        if name not in self._arrays:
            nx, ny, nz = self.extents  # an axis with one point has two equal layers in the file
            with h5py.File(self.path, "r") as file:
                self._arrays[name] = file["VTKHDF/PointData"][name][:nz, :ny, :nx]
        return self._arrays[name]

    def __iter__(self):
        return iter(self.units)

    def __len__(self):
        return len(self.units)

    def __repr__(self):
        when = "" if self.time is None else f" at t = {self.time:.6g}"
        return f"<State of {' x '.join(map(str, self.extents))} points{when}: {', '.join(self)}>"

    def read(self):
        """Reads all arrays, so that the file is not needed any more; returns the state."""
        for name in self:
            self[name]
        return self

    def _repr_html_(self):
        rows = [[name, "vector" if self[name].ndim == 4 else "scalar", self.units[name],
                 f"{show.shown(self.scalar(name).min())} to {show.shown(self.scalar(name).max())}",
                 self.descriptions[name]] for name in self]
        return show.html_table(rows, ("field", "kind", "unit", "values", "description"))

    def plot(self, name=None, axes=None):
        """Draws a field, by default the first one, on the plane through the middle of the shortest axis with matplotlib;
        returns the axes."""
        return show.plot_state(self, name or next(iter(self)), axes)

    def scalar(self, name):
        """The field `name`, of a vector its length; NAME_x, NAME_y and NAME_z are a vector's components."""
        stem, _, axis = name.rpartition("_")
        if name not in self and stem in self and axis in tuple(AXES) and self[stem].ndim == 4:
            return self[stem][..., AXES.index(axis)]
        values = self[name]
        return values if values.ndim == 3 else np.sqrt(np.sum(values**2, axis=-1))

    def to_xarray(self):
        """The same as an xarray.Dataset; raises ImportError if xarray is missing."""
        import xarray

        axes = ("z", "y", "x")
        fields = {name: (axes if self[name].ndim == 3 else (*axes, "component"), self[name],
                         {"units": self.units[name], "long_name": self.descriptions[name]}) for name in self}
        return xarray.Dataset(fields, coords=dict(zip("xyz", self.coordinates)),
                              attrs={} if self.time is None else {"time": self.time})


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def open_state(path, extents, time=None):
    """The state of a file; None if it is missing or damaged, or of another grid."""
    try:
        return State(path, extents, time) if os.path.isfile(path) else None
    except (OSError, KeyError, ValueError, TypeError, IndexError, RuntimeError):
        return None


def last_time(record):
    """The time of the last accepted step; None where there are no time steps."""
    steps = record.steps.where(record.steps.accepted == 1) if "accepted" in record.steps else record.steps
    return float(steps.time[-1]) if steps and np.isfinite(steps.dt[-1]) else None


def _stem_of(path):
    """The names of all files beside a record begin with this (io/companions.hpp)."""
    name = os.path.basename(path)
    return path[:-3] if name.endswith(".h5") and name != ".h5" and not name.endswith("..h5") else path + "."


def path_of(record):
    """The file of the final state."""
    return _stem_of(record.path) + ".vtkhdf"


def lack_of(record):
    """Why there is no final state, where the run wrote one."""
    path = path_of(record)
    why = "is damaged, or of another grid than the record" if os.path.isfile(path) else "no such file; move it back there"
    return f"{path}: {why} (the run with the record {record.path} wrote its fields there, since output.fields = true)"


def final_state(record):
    """The state of the file NAME.vtkhdf beside a record NAME.h5, else the last one of its series; None without any."""
    found = open_state(path_of(record), record.extents)
    if found:
        found.time = last_time(record)
        return found
    series = states_of(record, slice(-1, None))
    return series[0] if series else None


def states_of(record, rows=slice(None)):
    """The states of the series of a record, or of these rows of record.snapshots, in the order of time; those whose files
    are missing are left out."""
    folder = os.path.dirname(record.path)
    found = [open_state(os.path.join(folder, row.file), record.extents, float(row.time))
             for row in record.snapshots.where(rows).rows()]
    return [state for state in found if state]
