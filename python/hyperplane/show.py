# SPDX-License-Identifier: BSD-3-Clause
"""Records as notebooks show them: a table for a reader, and plots with matplotlib."""

from html import escape

import numpy as np


def html_table(rows, head=()):
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{heads}</tr>' if head else ''}{body}</table>"


def counted(count, noun):
    """"1 iteration", "2 iterations"; for nouns that take an s."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def shown(value):
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def record_rows(record):
    """What was run and what came out, as (what, value)."""
    rows = [("problem", record.problem), ("grid", f"{record.grid}, {record.stencil}, {record.dof} a {'row' if record.stencil == 'general' else 'point'}"),
            ("method", record.method), ("ended", record.message or record.status),
            ("iterations", f"{record.iterations} in {counted(len(record.solves), 'solve')}"),
            ("true residual", f"{record.relative_residual:.3g}")]
    rows += [(f"error, {name}", f"{value:.4g}") for name, value in record.verification.items()]
    return [*rows, ("time", f"set-up {record.seconds('setup'):.3g} s, solve {record.seconds('solve'):.3g} s"),
            ("memory", f"{record.peak_total / 2**20:.1f} MiB")]


def plot_record(record, axes=None):
    """The residual over the iterations of a single solve; of many solves each diagnostic, or the iterations, over the
    steps. Returns the axes."""
    axes = axes or _new_axes()
    if len(record.solves) <= 1:
        axes.semilogy(record.history.iteration, record.history.rel_res_recurrence, label=record.method)
        axes.set_xlabel("iteration")
        axes.set_ylabel("‖b − A x‖ / ‖b‖")
    elif record.diagnostics:
        for name in record.diagnostics:
            if name not in ("step", "time"):
                axes.plot(record.diagnostics.time, record.diagnostics[name], label=name)
        axes.set_xlabel("time")
    else:
        axes.plot(np.arange(1, len(record.solves) + 1), record.solves.iterations, label="iterations")
        axes.set_xlabel("solve")
    axes.legend()
    return axes


def plot_records(records, axes=None):
    """The residuals of several records over the time of their solves."""
    axes = axes or _new_axes()
    for name, record in records.items():
        axes.semilogy(record.history.seconds, record.history.rel_res_recurrence, label=name)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("‖b − A x‖ / ‖b‖")
    axes.legend()
    return axes


def plot_state(state, name, axes=None):
    """A field, or the length of a vector, on the plane through the middle of the shortest axis. Returns the axes."""
    axes = axes or _new_axes()
    across = min(range(3), key=lambda axis: (state.extents[axis], -axis))  # of equal ones the last
    first, second = (axis for axis in range(3) if axis != across)
    values = np.take(state.scalar(name), state.extents[across] // 2, axis=2 - across)
    ends = [float(state.coordinates[axis][end]) for axis in (first, second) for end in (0, -1)]
    if state.extents[first] == 1 or state.extents[second] == 1:
        axes.plot(state.coordinates[first], values.ravel())
    else:
        image = (axes.imshow(values, origin="lower", extent=ends) if state.even else
                 axes.pcolormesh(state.coordinates[first], state.coordinates[second], values, shading="nearest"))
        axes.figure.colorbar(image, ax=axes)
        axes.set_aspect("equal")
        axes.set_ylabel("xyz"[second])
    axes.set_xlabel("xyz"[first])
    axes.set_title(f"|{name}|" if name in state and state[name].ndim == 4 else name)
    return axes


def _new_axes():
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("plots need matplotlib (Debian: python3-matplotlib)") from missing
    return pyplot.figure().subplots()
