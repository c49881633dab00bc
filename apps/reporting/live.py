# SPDX-License-Identifier: BSD-3-Clause
"""What page.js needs to draw the live plots: Chart.js itself, the curves and the table of cases."""

import json
import math
import os
from html import escape

from . import plots

# Where Debian's libjs-chart.js installs it.
CHART_JS = ("/usr/share/javascript/chart.js/chart.min.js", "/usr/share/nodejs/chart.js/dist/chart.min.js")

# Chart.js's names, and rotations, of matplotlib's markers.
SHAPES = {"o": ("circle", 0), "s": ("rect", 0), "^": ("triangle", 0), "D": ("rectRot", 0), "v": ("triangle", 180),
          "P": ("cross", 0)}
SWATCHES = {"circle": '<circle cx="21" cy="6" r="4"/>', "rect": '<path d="M17 2h8v8h-8z"/>',
            "triangle": '<path d="M21 1.5 25.5 10h-9z"/>', "rectRot": '<path d="M21 1l5 5-5 5-5-5z"/>',
            "cross": '<path d="M21 1v10M16 6h10"/>'}


def chart_js():
    """The text of Chart.js 3; empty if it is not installed."""
    for path in CHART_JS:
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return ""


def look(number):
    """[colour, point style, its rotation, dashes] of a record for Chart.js."""
    colour, marker, line = plots.look(number)
    return [colour, *SHAPES[marker], [2 * dash for dash in line[1]] if isinstance(line, tuple) else []]


def plain(value):
    """A number for JSON, with five digits; None unless it is finite."""
    value = float(value)
    return None if not math.isfinite(value) else float(f"{value:.5g}")


def curve(number, record):
    iteration, recurrence, truth = plots.curve(record, "iteration")
    seconds = plots.curve(record, "seconds")[0]
    return {"label": record.label, "look": look(number), "iteration": [int(n) for n in iteration],
            "seconds": [plain(t) for t in seconds],
            "recurrence": [plain(r) if r > 0.0 else None for r in recurrence],
            "truth": [plain(r) if r > 0.0 else None for r in truth],
            "marked": [int(n) for n in plots.marked(truth)]}


def data(records, sheet):
    """The JSON of the page, safe inside a script element."""
    unit, scale = plots.second_unit(plots.longest(records))
    columns = sheet.columns
    rows = [list(row) for row in zip(*(column.values for column in columns))]
    found = {
        "unit": unit, "scale": scale, "tolerances": plots.tolerances(records),
        "looks": [look(number) for number in range(12)],
        "curves": [curve(number, record) for number, record in enumerate(records)],
        "cases": {"columns": [{"title": column.title, "leads": column.leads} for column in columns],
                  "swept": [at for at, column in enumerate(columns) if column.swept and column.varies],
                  "rows": rows, "good": sheet.good, "runs": sheet.runs, "names": sheet.names},
    }
    return json.dumps(found, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def legend(records):
    """A button for each record, which shows and hides its curves."""
    items = [f'<li><button type="button" data-run="{number}" aria-pressed="true">{swatch(number)}'
             f"{escape(record.label)}</button></li>" for number, record in enumerate(records)]
    if len(records) > 3:
        items += ['<li><button type="button" id="show-all">all</button></li>',
                  '<li><button type="button" id="show-none">none</button></li>']
    return f'<ul class="legend" id="legend" aria-label="Curves: press to hide or show">{"".join(items)}</ul>'


def swatch(number):
    colour, shape, turn, dash = look(number)
    dashes = f' stroke-dasharray="{" ".join(map(str, dash))}"' if dash else ""
    return (f'<svg viewBox="0 0 42 12" aria-hidden="true" fill="none" stroke="{colour}" stroke-width="2">'
            f'<path d="M0 6h42"{dashes}/><g transform="rotate({turn} 21 6)">{SWATCHES[shape]}</g></svg>')


def canvas(name, words):
    """The canvas of a live plot that can be used by keyboard, and an element for screen readers."""
    return (f'<div class="plot"><canvas id="{name}" tabindex="0" role="img" aria-label="{escape(words, quote=True)}. '
            f'Arrow keys move along its points."></canvas><p class="spoken" id="{name}-spoken" aria-live="polite"></p>'
            "</div>")


def choice(name, words, columns, places, chosen):
    options = "".join(f'<option value="{at}"{" selected" if at == chosen else ""}>{escape(columns[at].title)}</option>'
                      for at in places)
    return f'<label>{words} <select id="{name}">{options}</select></label>'


def scaling_controls(columns, across, up, x, y):
    return ('<div class="controls">' + choice("scaling-y", "draw", columns, up, y)
            + choice("scaling-x", "over", columns, across, x)
            + '<label><input type="checkbox" id="scaling-linear"> linear axes</label></div>')


