# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of print and papers. Each function returns a matplotlib Figure.

A record is told from the others by colour, marker and line style together, so that the pictures
survive grey print and colour blindness. Colours: Okabe and Ito, Color Universal Design, 2008.
"""

import io
import math
import re

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from . import cases

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))

# Replaced by the page's text colour in SVG, so that the pictures suit light and dark.
INK = "#2b2d31"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "hyperplane",
}


def drawn(function):
    """Runs a plotting function under STYLE, leaving the global settings alone."""

    def wrapper(*arguments, **options):
        with matplotlib.rc_context(STYLE):
            return function(*arguments, **options)

    return wrapper


def look(number):
    """Colour, marker and line style of a record by its number."""
    return COLOURS[number % 6], MARKERS[(number + number // 6) % 6], LINES[(number + number // 6) % 4]


def bar_look(number):
    """Colour and hatch of a record by its number: after six, colours repeat with another hatch."""
    return {"facecolor": look(number)[0], "hatch": ("", "//", "..")[number // 6 % 3]}


def curve(record, axis):
    """x, recurrence and true residual over all solves of a record, with a gap (NaN) between solves.

    axis 'iteration' counts on from solve to solve, 'seconds' adds up the solves' times.
    """
    parts, base = [], 0.0
    for solve in range(len(record.solves)):
        rows = record.history_of(solve)
        if not rows:
            continue
        parts.append(np.stack([base + rows[axis], rows.rel_res_recurrence, rows.rel_res_true]))
        parts.append(np.array([[base + rows[axis][-1]], [np.nan], [np.nan]]))
        base += float(rows[axis][-1])
    return np.concatenate(parts, axis=1)[:, :-1] if parts else np.empty((3, 0))


def marked(truth):
    """The points of a curve with a marker: at most 16 of those whose true residual is known."""
    known = np.flatnonzero(truth > 0.0)
    return known if len(known) <= 16 else known[np.unique(np.linspace(0, len(known) - 1, 16).astype(int))]


def has_curve(record):
    """Whether a record has a residual above 0, which a logarithmic axis needs; a solve with b = 0 may have none."""
    _, recurrence, truth = curve(record, "iteration")
    return bool(np.any(recurrence > 0.0) or np.any(truth > 0.0))


NO_CURVE = "No residual above 0 was recorded, so there is no curve on a logarithmic axis."


@drawn
def sentence(words):
    """A figure that holds a sentence in place of a picture."""
    figure = Figure(figsize=(9.0, 0.8))
    figure.text(0.5, 0.5, words, ha="center", va="center")
    return figure


def second_unit(seconds):
    """A suitable unit for a time, and how many of it are a second."""
    if seconds < 1e-3:
        return "µs", 1e6
    return ("ms", 1e3) if seconds < 1.0 else ("s", 1.0)


def draw_curves(axes, records, axis, scale):
    for number, record in enumerate(records):
        if not has_curve(record):
            continue
        colour, marker, line = look(number)
        x, recurrence, truth = curve(record, axis)
        recurrence = np.where(recurrence > 0.0, recurrence, np.nan)
        axes.plot(scale * x, recurrence, color=colour, linestyle=line, linewidth=1.7,
                  label=record.label, solid_capstyle="round")
        known = marked(truth)
        if len(known):  # the box of an empty line that is not clipped spoils the layout
            axes.plot(scale * x[known], truth[known], color=colour, linestyle="none", marker=marker, markersize=6,
                      markerfacecolor="none", markeredgewidth=1.4, clip_on=False, zorder=3)
    told = None
    for tolerance in reversed(tolerances(records)):
        axes.axhline(tolerance, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), alpha=0.8, zorder=1)
        if told is None or tolerance < 0.05 * told:  # labels closer than that would cover one another
            axes.annotate("rtol " + f"{tolerance:g}".replace("e-0", "e-"), (0.0, tolerance),
                          xycoords=("axes fraction", "data"), xytext=(4, 3), textcoords="offset points", fontsize=8.5)
            told = tolerance


def count_iterations(axes):
    """Marks an axis of iterations at whole numbers, also after a solve of none."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlim(right=max(1.0, axes.get_xlim()[1]))


def tolerances(records):
    """The tolerances of the records, each once."""
    return sorted({record.tolerance for record in records if record.tolerance > 0.0})


def longest(records):
    """The time of the longest curve in seconds."""
    return max((np.nanmax(curve(record, "seconds")[0], initial=0.0) for record in records), default=0.0)


@drawn
def convergence(records):
    """Relative residual over iterations and over time: the recurrence as lines, the true residual as markers."""
    if not any(map(has_curve, records)):
        return sentence(NO_CURVE)
    figure = Figure(figsize=(9.0, 3.8), constrained_layout=True)
    left, right = figure.subplots(1, 2, sharey=True)
    unit, scale = second_unit(longest(records))
    draw_curves(left, records, "iteration", 1.0)
    draw_curves(right, records, "seconds", scale)
    left.set_title("Convergence over iterations")
    right.set_title("Convergence over solve time")
    left.set_xlabel("iteration")
    right.set_xlabel(f"time [{unit}]")
    left.set_ylabel("relative residual  ‖b − A x‖ / ‖b‖")
    count_iterations(left)
    left.set_yscale("log")
    left.yaxis.set_major_locator(LogLocator(numticks=9))
    left.yaxis.set_minor_formatter(NullFormatter())
    for axes in (left, right):
        axes.grid(True, axis="y")
        axes.grid(True, axis="x")
        axes.set_xlim(left=0.0)
    legend_below(figure, [
        *(Line2D([], [], color=colour, linestyle=line, linewidth=1.7, marker=marker, markersize=6,
                 markerfacecolor="none", markeredgewidth=1.4,
                 label=record.label if has_curve(record) else f"{record.label} (no residual above 0)")
          for record, (colour, marker, line) in zip(records, map(look, range(len(records))))),
        Line2D([], [], color=INK, linewidth=1.7, label="line: recurrence"),
        Line2D([], [], color=INK, linewidth=0.0, marker="o", markersize=6, markerfacecolor="none", markeredgewidth=1.4,
               label="open marker: true residual"),
    ])
    return figure


def legend_below(figure, handles):
    """A legend under the figure, in rows as wide as the figure; a tight box includes it."""
    longest_label = max(len(handle.get_label()) for handle in handles)
    rows = math.ceil(len(handles) / max(1, min(6, 100 // (longest_label + 6))))
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=math.ceil(len(handles) / rows),
                  fontsize=8.5, handlelength=2.4, columnspacing=1.2, borderaxespad=0.4)


PARTS = (  # timer or remainder, words
    ("assemble", "assembly"),
    ("setup", "preconditioner set-up"),
    ("solve/spmv", "SpMV"),
    ("solve/preconditioner", "preconditioner apply"),
    ("vectors", "vector operations"),
    ("untimed", "solve, its parts not timed"),
    ("output", "output"),
)
APPLICATION = "solve/preconditioner/"  # timers of the parts of applications, such as the grids of multigrid
FILLS = (("#56B4E9", ""), ("#E69F00", "//"), ("#0072B2", ""), ("#D55E00", ""), ("#009E73", "\\\\"), ("#999999", ".."),
         ("#CC79A7", "xx"), ("#444444", "--"))


def times(record):
    """{words: seconds} of the parts of a run's time; on a GPU those of a solve are not timed."""
    inside = record.seconds("solve/spmv") + record.seconds("solve/preconditioner")
    rest = max(0.0, record.seconds("solve") - inside)
    remainders = {"vectors": rest if inside > 0.0 else 0.0, "untimed": rest if inside == 0.0 else 0.0}
    return {words: remainders[part] if part in remainders else record.seconds(part) for part, words in PARTS}


def sizes(record):
    """{words: MiB} at the peak; labels such as "krylov: p" are added up as "krylov"."""
    found = {}
    for row in record.memory.rows():
        name = row.label.split(":")[0]
        found[name] = found.get(name, 0.0) + row.peak / 2**20
    return found


def speeds(record):
    """{words: GB/s} for the timers whose bytes are known, without the parts of applications, which a table has."""
    words = dict(PARTS)
    return {words.get(row.name, row.name): row.bandwidth for row in record.timers.rows()
            if row.bandwidth > 0.0 and not row.name.startswith(APPLICATION)}


@drawn
def breakdown(records):
    """The time by parts, as a stacked bar for each record; None if no time was recorded."""
    tables = [times(record) for record in records]
    unit, scale = second_unit(max(sum(table.values()) for table in tables))
    return stacked_bars(tables, records, "Where the time went", "time", unit, scale)


@drawn
def memory(records):
    """The memory by labels, as a stacked bar for each record; None if no record has a ledger."""
    return stacked_bars([sizes(record) for record in records], records, "Memory at its peak", "memory", "MiB", 1.0)


def stacked_bars(tables, records, title, what, unit, scale):
    total = scale * max(sum(table.values()) for table in tables)
    if total == 0.0:
        return None
    figure = Figure(figsize=(9.0, 0.95 + 0.42 * len(records)), constrained_layout=True)
    axes = figure.subplots()
    left, handles = np.zeros(len(records)), []
    for number, name in enumerate(dict.fromkeys(name for table in tables for name in table)):
        if not any(table.get(name) for table in tables):
            continue
        colour, hatch = FILLS[number % len(FILLS)]
        width = np.array([scale * table.get(name, 0.0) for table in tables])
        bars = axes.barh(range(len(records)), width, left=left, height=0.62, color=colour, hatch=hatch,
                         edgecolor="white", linewidth=0.6)
        handles.append(Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=name))
        for bar, value in zip(bars, width):
            if value > 0.07 * total:
                axes.text(bar.get_x() + value / 2, bar.get_y() + bar.get_height() / 2, f"{value:.3g}", ha="center",
                          va="center", fontsize=8.5, color="white", fontweight="bold",
                          bbox={"boxstyle": "round,pad=0.15", "facecolor": colour, "edgecolor": "none"})
        left += width
    for row, end in enumerate(left):
        axes.text(end + 0.006 * total, row, f"{end:.3g} {unit}", va="center", fontsize=9)
    finish_bars(axes, [record.label for record in records], f"{what} [{unit}]", title, 1.1 * total)
    legend_below(figure, handles)
    return figure


def finish_bars(axes, names, unit, title, end):
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names)
    axes.margins(y=0.02)
    axes.invert_yaxis()
    axes.set_xlim(0.0, end)
    axes.set_xlabel(unit)
    axes.set_title(title)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")


@drawn
def bandwidth(records):
    """The bandwidth, fewest bytes divided by time, with the limit if it was measured; None without bytes."""
    limits = [record.limit if record.limit > 0.0 else None for record in records]
    title = "Memory bandwidth achieved" + (", of what the memory delivers" if any(limits) else "")
    return grouped_bars([speeds(record) for record in records], records, "GB/s", title, limits)


def grouped_bars(tables, records, unit, title, limits):
    """A group of bars for each name, a bar for each record; a hollow bar and a percentage show its limit, if any."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    if not names:
        return None
    height = 0.78 / len(records)
    figure = Figure(figsize=(9.0, 0.85 + len(names) * max(0.34, 0.2 * len(records))), constrained_layout=True)
    axes = figure.subplots()
    most = max([value for table in tables for value in table.values()] + [limit or 0.0 for limit in limits]) or 1.0
    for number, (table, limit) in enumerate(zip(tables, limits)):
        rows = [row for row, name in enumerate(names) if name in table]
        values = [table[names[row]] for row in rows]
        places = [row + (number - (len(records) - 1) / 2) * height for row in rows]
        axes.barh(places, values, height=0.9 * height, edgecolor="white", linewidth=0.5, **bar_look(number))
        if limit:
            axes.barh(places, limit, height=0.9 * height, facecolor="none", edgecolor=look(number)[0], linewidth=1.0)
        for place, value in zip(places, values):
            share = f"  {100 * value / limit:.0f} %" if limit else ""
            axes.text(max(value, limit or 0.0) + 0.008 * most, place, f"{value:.3g}{share}", va="center", fontsize=8.5)
    finish_bars(axes, names, unit, title, 1.14 * most)
    handles = [Patch(edgecolor="white", label=record.label, **bar_look(n)) for n, record in enumerate(records)]
    handles = handles if len(records) > 1 else []
    if any(limits):
        handles.append(Patch(facecolor="none", edgecolor=INK, label="outline: a copy of as many bytes"))
    if handles:
        legend_below(figure, handles)
    return figure


@drawn
def scaling(panels, across, logarithmic=True):
    """A panel for each (title, {name: [(x, y), ...]}). `logarithmic`: the horizontal axis; the vertical one always is."""
    figure = Figure(figsize=(9.0, 4.2), constrained_layout=True)
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        for number, (name, points) in enumerate(curves.items()):
            colour, marker, line = look(number)
            x, y = zip(*points)
            axes.plot(x, y, color=colour, marker=marker, linestyle=line if cases.is_line(points) else "none",
                      linewidth=1.7, markersize=6, markerfacecolor="none", markeredgewidth=1.4, label=name)
        axes.set_xscale("log" if logarithmic else "linear")
        axes.set_yscale("log")
        mark_values(axes.xaxis, sorted({x for points in curves.values() for x, _ in points}))
        mark_decades(axes.yaxis, [y for points in curves.values() for _, y in points])
        axes.set_xlabel(across)
        axes.set_ylabel(title)
        axes.set_title(f"{title} over {across}")
        axes.grid(True)
    if any(len(curves) > 1 for _, curves in panels):
        legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure


def mark_values(axis, values):
    """Ticks at the values themselves if they are few, such as the sizes of a study's grids."""
    if len(values) <= 8 and max(values) < 1e4:
        write_ticks(axis, FixedLocator(values))


def mark_decades(axis, values):
    """Ticks at 1, 2, 5, 10, 20, ... if the values span few decades."""
    if max(values) < 1e3 * min(values):
        write_ticks(axis, LogLocator(subs=(1.0, 2.0, 5.0)))


def write_ticks(axis, locator):
    axis.set_major_locator(locator)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def to_svg(figure, description):
    """The figure as SVG for HTML, in the page's text colour, with a description for screen readers."""
    stream = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(stream, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.06,
                       metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = svg.replace(INK, "currentColor")
    view = re.search(r'viewBox="([^"]*)"', svg).group(1)
    body = svg[svg.index(">") + 1 :]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view}" '
    return head + f'role="img" aria-label="{description}">' + body


def write_picture(figure, file, kind):
    """`kind`: png, pdf or svg. The picture names its maker, by which `hyperplane report` recognises it."""
    maker = {"Software" if kind == "png" else "Creator": "hyperplane report"}
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format=kind, dpi=200, facecolor="white", bbox_inches="tight", pad_inches=0.1, metadata=maker)
