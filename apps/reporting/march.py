# SPDX-License-Identifier: BSD-3-Clause
"""Runs of many linear solves: what changed from step to step, as a picture and as tables."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from .markup import figure, number, table
from .plots import drawn, legend_below, look

ACROSS = 3  # panels side by side
MOST_CURVES = 16  # in a panel


def is_march(record):
    """Whether the run took more than one linear solve."""
    return len(record.solves) > 1


def accepted(record):
    """The accepted steps; records of programs before 0.2.0 hold no others."""
    return record.steps.where(record.steps.accepted == 1) if "accepted" in record.steps else record.steps


def iterations_of(record, steps, newton=None):
    """The linear iterations of each of these steps, all attempts together, or of each Newton step of one."""
    solves = record.solves
    if newton is not None:
        return np.array([np.sum(solves.iterations[solves.newton == n]) for n in newton])
    return np.array([np.sum(solves.iterations[solves.step == step]) for step in steps])


@dataclass
class Panel:
    """A quantity over time: {record's number: (x, y)}."""

    title: str
    curves: dict
    logarithmic: bool = False
    whole: bool = False  # its values are counts


class Axis:
    """The horizontal axis that all panels share: time, the step of a run to a steady state, or the Newton step."""

    def __init__(self, records):
        steps = [accepted(record) for record in records]
        self.newton = all(len(rows) <= 1 for rows in steps)
        pseudo = any(np.any(np.isfinite(rows.steady_residual)) for rows in steps if "steady_residual" in rows)
        self.time = not self.newton and not pseudo and all(
            len(rows) < 2 or np.all(np.diff(rows.time) > 0.0) for rows in steps)
        self.label = "Newton step" if self.newton else "time" if self.time else "step"

    def of(self, rows):
        return rows.time if self.time else rows.step


def panels(records, axis):
    """The panels that have a curve: diagnostics first, then residuals, steps and work."""
    found = {}

    def add(title, at, x, y, **kind):
        y = np.asarray(y, dtype=float)
        if len(y) > 0 and np.any(np.isfinite(y)):
            found.setdefault(title, Panel(title, {}, **kind)).curves[at] = (np.asarray(x, dtype=float), y)

    def add_diagnostic(name, at, x, y):
        """A quantity that is conserved but for rounding is drawn as its change, whose digits can be read."""
        first, most = y[0], np.nanmax(np.abs(y - y[0])) if len(y) else 0.0
        conserved = np.isfinite(first) and 0.0 < most < 1e-6 * abs(first)
        add(f"{name} − ({number(first)})" if conserved else name, at, x, y - first if conserved else y)

    for at, record in enumerate(records):
        if not axis.newton and record.diagnostics:
            for name in record.diagnostics:
                if name not in ("step", "time"):
                    add_diagnostic(name, at, axis.of(record.diagnostics), record.diagnostics[name])
    for at, record in enumerate(records):
        steps, newton = accepted(record), record.newton
        if axis.newton:
            if newton:
                x = newton.newton + 1
                add("‖F‖ after the Newton step", at, x, newton.residual_after, logarithmic=True)
                add("linear iterations", at, x, iterations_of(record, None, newton.newton), whole=True)
                add("step length", at, x, newton.step_length)
            continue
        x = axis.of(steps)
        if "residual" in steps:
            add("‖F‖ at the end of the step", at, x, steps.residual, logarithmic=True)
            add("‖F‖ of the steady problem", at, x, steps.steady_residual, logarithmic=True)
            add("dt", at, x, np.where(np.isfinite(steps.dt), steps.dt, np.nan))
            add("Courant number", at, x, steps.cfl, logarithmic=True)
            add("estimated error", at, x, steps.error_estimate, logarithmic=True)
            if newton:
                add("Newton steps a step", at, x, steps.newton_steps, whole=True)
        add("linear iterations a step", at, x, iterations_of(record, steps.step), whole=True)
    return list(found.values())


def draw(axes, panel, axis):
    for at, (x, y) in panel.curves.items():
        colour, marker, line = look(at)
        if panel.logarithmic:
            y = np.where(y > 0.0, y, np.nan)
        dots = {"marker": marker, "markersize": 4, "markerfacecolor": "none"} if len(x) <= 40 else {}
        axes.plot(x, y, color=colour, linestyle=line, linewidth=1.4, **dots)
    values = np.concatenate([y for _, y in panel.curves.values()])
    known = values[np.isfinite(values) & (values > 0.0)]
    if panel.logarithmic and len(known) and known.max() > 10.0 * known.min():
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=panel.whole))
        shown = ScalarFormatter(useOffset=False)
        shown.set_powerlimits((-3, 4))
        axes.yaxis.set_major_formatter(shown)
    if panel.whole:
        axes.set_ylim(bottom=0.0, top=1.1 * max(1.0, np.nanmax(values)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=not axis.time))
    if axis.time:
        axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4))
    axes.set_title(panel.title, fontsize=9.5, pad=14)
    axes.grid(True)
    axes.tick_params(labelsize=8)


@drawn
def picture(records, axis, shown):
    rows = -(-len(shown) // ACROSS)
    drawing = Figure(figsize=(9.0, 2.3 * rows), constrained_layout=True)
    grid = drawing.subplots(rows, ACROSS, squeeze=False).ravel()
    ends = [x[[0, -1]] for panel in shown for x, _ in panel.curves.values()]
    least, most = np.min(ends), np.max(ends)
    margin = 0.04 * (most - least) or 0.5
    for axes, panel in zip(grid, shown):
        draw(axes, panel, axis)
        axes.set_xlim(least - margin, most + margin)
        axes.set_xlabel(axis.label, fontsize=8.5)
    for axes in grid[len(shown):]:
        axes.set_visible(False)
    if len(records) > 1:
        legend_below(drawing, [
            Line2D([], [], color=colour, linestyle=line, marker=marker, markersize=5, markerfacecolor="none",
                   label=record.label)
            for record, (colour, marker, line) in zip(records, map(look, range(len(records))))])
    return drawing


def words(records, axis, shown):
    """The picture in words, for screen readers."""
    told = []
    for panel in shown:
        for at, (_, y) in panel.curves.items():
            known = y[np.isfinite(y)]
            told.append(f"{panel.title} of {records[at].label}: {number(known[0])} at first, {number(known[-1])} at the "
                        f"end, between {number(known.min())} and {number(known.max())}")
    return f"Quantities over the {axis.label}. " + "; ".join(told) + "."


def section(records):
    """How runs of many solves went; empty if there are none, or too many to tell their curves apart."""
    found = [record for record in records if is_march(record)]
    if not found or len(found) > MOST_CURVES:
        return ""
    axis = Axis(found)
    shown = panels(found, axis)
    if not shown:
        return ""
    return ("<h2>How it went</h2>"
            + figure(picture(found, axis, shown), words(found, axis, shown), "Accepted steps, over the " + axis.label
                     + ". Particulars below have each step, and the attempts that were rejected."))


def steps(record):
    """Attempts at time steps, if there are several or the problem is nonlinear."""
    if "attempt" not in record.steps or (len(record.steps) < 2 and not record.newton):
        return ""
    rows = [[s.step, number(s.time), number(s.dt), number(s.residual), number(s.steady_residual), s.newton_steps,
             iterations, number(s.cfl), number(s.error_estimate), s.attempt, "yes" if s.accepted else "no",
             s.newton_reason]
            for s, iterations in zip(record.steps.rows(), iterations_of(record, record.steps.step))]
    head = ["step", "time", "dt", "‖F‖", "steady ‖F‖", "Newton steps", "iterations", "CFL", "error estimate", "attempt",
            "accepted", "Newton ended"]
    return table(f"Steps of {record.label}", head, rows, range(10))


def diagnostics(record):
    names = [name for name in record.diagnostics if name not in ("step", "time")]
    rows = [[name, number(record.diagnostics[name][0]), number(record.diagnostics[name][-1]),
             number(min(record.diagnostics[name])), number(max(record.diagnostics[name]))] for name in names]
    return table(f"Diagnostics of {record.label}", ["quantity", "first", "last", "least", "most"], rows,
                 range(1, 5)) if rows else ""


def teeth(content):
    """The residuals of every solve, one after the other, for who asks for them."""
    return ('<details class="teeth"><summary>The residuals of every linear solve, one after the other</summary>'
            f"{content}</details>")

