# SPDX-License-Identifier: BSD-3-Clause
"""Slices and profiles of a run's fields, from the VTKHDF files beside its record (output.fields, fields_every)."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hyperplane.fields import final_state, states_of

from .markup import figure, number
from .plots import drawn, legend_below, look

ACROSS = 3  # slices side by side
MOST_POINTS = 200  # along an axis of a slice; finer grids are thinned out
MOST_STATES = 6  # in a strip
AXES = "xyz"


@dataclass
class Slice:
    """One field in a plane; values[second axis][first axis]."""

    name: str
    values: np.ndarray
    axes: tuple  # names of the horizontal and the vertical axis
    ends: tuple  # coordinates of the outermost points: left, right, bottom, top
    where: str  # "z = 0.5"; empty if the grid is flat there
    unit: str = "1"
    time: float = None
    places: tuple = None  # of the points along both axes, where their distances differ

    @property
    def title(self):
        """The field's name; on a second line where and when the slice is."""
        when = f"t = {number(self.time)}" if self.time is not None else ""
        return f"{self.name}\n{', '.join(filter(None, (self.where, when)))}".rstrip()


@dataclass
class Profile:
    """One field along a line."""

    name: str
    along: str  # the axis
    places: np.ndarray
    values: np.ndarray
    where: str  # "y = 0.5, z = 0.5"
    time: float = None
    unit: str = "1"


def shown_name(state, name):
    """What is drawn of a field: of a vector its length."""
    return f"|{name}|" if name in state and state[name].ndim == 4 else name


def unit_of(state, name):
    return state.units.get(name) or state.units.get(name.rpartition("_")[0], "1")


def axis_title(name, unit):
    """A field's name for an axis of its values, with its unit where it has one."""
    return name if unit == "1" else f"{name} [{unit}]"


def nearest(state, axis, value):
    """The point of an axis that is nearest to a coordinate; the middle one for None."""
    places = state.coordinates[axis]
    return len(places) // 2 if value is None else int(np.argmin(np.abs(places - value)))


def slice_of(state, name, plane=None):
    """A slice; `plane` is (axis, coordinate), by default through the middle of the grid's shortest axis."""
    extents = state.extents
    across, value = plane or (min(range(3), key=lambda axis: (extents[axis], -axis)), None)  # of equal ones the last
    at = nearest(state, across, value)
    values = np.take(state.scalar(name), at, axis=2 - across)  # rows: the later of the two other axes
    first, second = (axis for axis in range(3) if axis != across)
    steps = [-(-size // MOST_POINTS) for size in values.shape]
    values = values[:: steps[0], :: steps[1]]
    places = None if state.even else (state.coordinates[first][:: steps[1]], state.coordinates[second][:: steps[0]])
    ends = tuple(float(state.coordinates[axis][end]) for axis in (first, second) for end in (0, -1))
    where = f"{AXES[across]} = {number(state.coordinates[across][at])}" if extents[across] > 1 else ""
    return Slice(shown_name(state, name), values, (AXES[first], AXES[second]), ends, where, unit_of(state, name),
                 state.time, places)


def profile_of(state, name, along, through=()):
    """A profile along an axis; `through` has (axis, coordinate) of the others, by default their middles."""
    chosen = dict(through)
    values, where = state.scalar(name), []
    for axis in (axis for axis in range(3) if axis != along):
        at = nearest(state, axis, chosen.get(axis))
        values = np.take(values, [at], axis=2 - axis)
        if state.extents[axis] > 1:
            where.append(f"{AXES[axis]} = {number(state.coordinates[axis][at])}")
    return Profile(shown_name(state, name), AXES[along], state.coordinates[along], values.ravel(), ", ".join(where),
                   state.time, unit_of(state, name))


def slices(record):
    """The slices of all fields of a record's final state; none if its file is missing or of another grid."""
    state = final_state(record)
    if state is None:
        return []
    found = [slice_of(state, name) for name in state]
    for part in found:
        part.time = None
    return found


def draw_slice(drawing, axes, part, limits=(None, None)):
    left, right, bottom, top = part.ends
    if top == bottom or right == left:
        axes.plot(part.places[0] if part.places else np.linspace(left, right, part.values.size), part.values.ravel())
        axes.set_ylabel(axis_title(part.name, part.unit), fontsize=8.5)
    else:
        colours = {"cmap": "viridis", "vmin": limits[0], "vmax": limits[1]}
        image = (axes.pcolormesh(*part.places, part.values, shading="nearest", **colours) if part.places else
                 axes.imshow(part.values, origin="lower", extent=part.ends, interpolation="nearest", **colours))
        axes.set_aspect("equal")
        bar = drawing.colorbar(image, ax=axes, shrink=0.8, ticks=MaxNLocator(5))
        bar.ax.tick_params(labelsize=7.5)
        if part.unit != "1":
            bar.set_label(part.unit, fontsize=7.5)
        axes.set_ylabel(part.axes[1], fontsize=8.5)
    axes.set_xlabel(part.axes[0], fontsize=8.5)
    axes.set_title(part.title, fontsize=9.5, pad=8)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.tick_params(labelsize=7.5)


def limits_of(parts):
    """{name: least and largest value} over all slices of a field, so that their colours mean the same."""
    return {name: (min(np.nanmin(part.values) for part in parts if part.name == name),
                   max(np.nanmax(part.values) for part in parts if part.name == name))
            for name in {part.name for part in parts}}


@drawn
def picture(shown):
    rows = -(-len(shown) // ACROSS)
    drawing = Figure(figsize=(9.0, 2.9 * rows), constrained_layout=True)
    grid = drawing.subplots(rows, ACROSS, squeeze=False).ravel()
    limits = limits_of(shown)
    for axes, part in zip(grid, shown):
        draw_slice(drawing, axes, part, limits[part.name])
    for axes in grid[len(shown):]:
        axes.set_visible(False)
    return drawing


@drawn
def profiles(shown):
    """A panel for each field, with a curve for each time."""
    names = list(dict.fromkeys(part.name for part in shown))
    across = min(ACROSS, len(names))
    rows = -(-len(names) // across)
    drawing = Figure(figsize=(max(5.0, 3.0 * across), 2.9 * rows), constrained_layout=True)
    grid = drawing.subplots(rows, across, squeeze=False).ravel()
    handles = []
    for axes, name in zip(grid, names):
        for at, part in enumerate(part for part in shown if part.name == name):
            colour, _, line = look(at)
            label = f"t = {number(part.time)}" if part.time is not None else ""
            handles += axes.plot(part.places, part.values, color=colour, linestyle=line, linewidth=1.4, label=label)
            axes.set_title(f"{name}\n{part.where}".rstrip(), fontsize=9.5, pad=8)
            axes.set_xlabel(part.along, fontsize=8.5)
            axes.set_ylabel(axis_title(name, part.unit), fontsize=8.5)
        axes.grid(True)
        axes.tick_params(labelsize=7.5)
    for axes in grid[len(names):]:
        axes.set_visible(False)
    times = {handle.get_label(): handle for handle in handles if not handle.get_label().startswith("_")}
    if len(times) > 1:
        legend_below(drawing, list(times.values()))
    return drawing


def chosen_states(record):
    """At most six states of the series of a record, as far apart as can be."""
    last = len(record.snapshots) - 1
    return states_of(record, np.unique(np.linspace(0, last, MOST_STATES).round().astype(int))) if last >= 0 else []


def strip(record):
    """Slices of the first field through the states of a series; empty if there is no series of two states or more."""
    states = chosen_states(record)
    if len(states) < 2:
        return ""
    parts = [slice_of(state, next(iter(state))) for state in states]
    least, most = limits_of(parts)[parts[0].name]
    return figure(picture(parts), f"Slices of {parts[0].name} of {record.label} at {len(parts)} times from "
                  f"{number(parts[0].time)} to {number(parts[-1].time)}, between {number(least)} and {number(most)}.",
                  f"{record.label} on its way: {len(parts)} of {len(record.snapshots)} states of its series of fields, "
                  "with the same colours for the same values.")


def shown_state(record):
    """What the fields of a record are of, in words."""
    steps = record.steps
    none = "accepted" in steps and len(steps) > 0 and np.isfinite(steps.dt[-1]) and not (steps.accepted == 1).any()
    return (f"The initial state of {record.label}, of which no step was completed" if none else
            f"The final state of {record.label}")


def shown_part(state):
    """Where the points of a slice lie, in words."""
    long = [axis for axis in range(3) if state.extents[axis] > 1]
    return "in the plane through the middle of the shortest axis" if len(long) > 1 else f"along {AXES[(long or [0])[0]]}"


def section(records):
    """A slice of each field of the records that have them, and of their series; empty if none has."""
    parts = []
    for record in records:
        shown = slices(record)
        if shown:
            words = "; ".join(f"{part.name} between {number(part.values.min())} and {number(part.values.max())}"
                              for part in shown)
            parts.append(figure(picture(shown), f"{shown_state(record)}: {words}.",
                                f"{shown_state(record)}, {shown_part(record.fields)}."))
        parts.append(strip(record))
    parts = [part for part in parts if part]
    return "<h2>What came out</h2>" + "".join(parts) if parts else ""
