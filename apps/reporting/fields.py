# SPDX-License-Identifier: BSD-3-Clause
"""Slices through the final fields of a run, from the VTKHDF file beside its record (output.fields)."""

import os
from dataclasses import dataclass

import h5py
import numpy as np
from matplotlib.figure import Figure

from .markup import figure, number
from .plots import drawn

ACROSS = 3  # slices side by side
MOST_POINTS = 200  # along an axis of a slice; finer grids are thinned out
AXES = "xyz"


@dataclass
class Slice:
    """One field in the plane through the middle of the grid's shortest axis; values[second axis][first axis]."""

    name: str
    values: np.ndarray
    axes: tuple  # names of the horizontal and the vertical axis
    ends: tuple  # coordinates of the outermost points: left, right, bottom, top
    where: str  # "z = 0.5"


def beside(record):
    """The path of the file of fields of a record; empty if there is none."""
    path = os.path.splitext(record.path)[0] + ".vtkhdf"
    return path if os.path.isfile(path) else ""


def slice_of(name, values, extents, origin, spacing):
    """`values` in the order z, y, x; an axis with one point may have a second layer equal to the first."""
    values = values[: extents[2], : extents[1], : extents[0]]
    across = min(range(3), key=lambda axis: (extents[axis], -axis))  # of equal ones the last
    middle = extents[across] // 2
    plane = np.take(values, middle, axis=2 - across)  # rows: the later of the two other axes
    first, second = (axis for axis in range(3) if axis != across)
    plane = plane[:: -(-plane.shape[0] // MOST_POINTS), :: -(-plane.shape[1] // MOST_POINTS)]
    ends = tuple(origin[axis] + at * spacing[axis] for axis in (first, second) for at in (0, extents[axis] - 1))
    where = f"{AXES[across]} = {number(origin[across] + middle * spacing[across])}" if extents[across] > 1 else ""
    return Slice(name, plane, (AXES[first], AXES[second]), ends, where)


def slices(record):
    """The slices of all fields of a record; none if its file is missing or of another grid."""
    path = beside(record)
    if not path:
        return []
    try:
        with h5py.File(path, "r") as file:
            image = file["VTKHDF"]
            points = image.attrs["WholeExtent"][1::2] + 1
            if any(most not in (n, max(n, 2)) for most, n in zip(points, record.extents)):
                return []
            return [slice_of(name, image["PointData"][name][...], record.extents, image.attrs["Origin"],
                             image.attrs["Spacing"]) for name in image["PointData"]]
    except (OSError, KeyError, ValueError, TypeError, IndexError, RuntimeError):
        return []


@drawn
def picture(shown):
    rows = -(-len(shown) // ACROSS)
    drawing = Figure(figsize=(9.0, 2.9 * rows), constrained_layout=True)
    grid = drawing.subplots(rows, ACROSS, squeeze=False).ravel()
    for axes, part in zip(grid, shown):
        left, right, bottom, top = part.ends
        flat = top == bottom or right == left
        if flat:
            axes.plot(np.linspace(left, right, part.values.size), part.values.ravel())
        else:
            image = axes.imshow(part.values, origin="lower", extent=part.ends, cmap="viridis", interpolation="nearest")
            drawing.colorbar(image, ax=axes, shrink=0.8).ax.tick_params(labelsize=7.5)
            axes.set_ylabel(part.axes[1], fontsize=8.5)
        axes.set_xlabel(part.axes[0], fontsize=8.5)
        axes.set_title(f"{part.name}{f', {part.where}' if part.where else ''}", fontsize=9.5)
        axes.tick_params(labelsize=7.5)
    for axes in grid[len(shown):]:
        axes.set_visible(False)
    return drawing


def section(records):
    """A slice of each field of the records that have them; empty if none has."""
    parts = []
    for record in records:
        shown = slices(record)
        if shown:
            words = "; ".join(f"{part.name} between {number(part.values.min())} and {number(part.values.max())}"
                              for part in shown)
            parts.append(figure(picture(shown), f"Slices of the final state of {record.label}: {words}.",
                                f"The final state of {record.label}, in the plane through the middle of the shortest axis."))
    return "<h2>What came out</h2>" + "".join(parts) if parts else ""
