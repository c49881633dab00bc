# SPDX-License-Identifier: BSD-3-Clause
"""What `hyperplane plot` draws of a study or a comparison: how results depend on a varied number."""

import hyperplane

from . import cases, plots
from .pictures import PlotError


def sheet_of(several):
    return cases.of_study(several) if isinstance(several, hyperplane.Study) else cases.of_comparison(several)


def plain(title):
    """The name of a column on the command line: its title as one word, without the unit."""
    return title.split(" [")[0].replace(", ", "_").replace(" ", "_")


def named(columns, places):
    return {plain(columns[at].title): at for at in places}


def choices(several):
    """What can be drawn, as lines of text."""
    columns = sheet_of(several).columns
    across, up = cases.horizontal(columns), cases.vertical(columns)
    if not across or not up:
        return ["no number was varied, so nothing can be drawn over it; hyperplane report draws the histories"]
    return [f"results: {', '.join(named(columns, up))}", f"--over: {', '.join(named(columns, across))}"]


def column(columns, places, name, path, what):
    known = named(columns, places)
    if name not in known:
        raise PlotError(f"{path} has no {what} called {name}; it has {', '.join(known)}")
    return known[name]


def draw(several, names, over=None):
    """Draws the named results over a varied number, one panel each; without names, iterations and total time."""
    sheet = sheet_of(several)
    columns = sheet.columns
    across, up = cases.horizontal(columns), cases.vertical(columns)
    if not across or not up:
        raise PlotError(f"{several.path}: {choices(several)[0]}")
    sizes = [columns[at].title for at in across if columns[at].size]
    x = (column(columns, across, over, several.path, "varied number") if over
         else cases.preferred(columns, across, *sizes, "unknowns"))
    places = ([column(columns, up, name, several.path, "result") for name in names]
              or [at for at in up if plain(columns[at].title) in ("iterations", "total")])
    panels = [(columns[y].title, cases.groups(sheet, x, y)) for y in places]
    for title, curves in panels:
        if not curves:
            raise PlotError(f"{several.path}: no run that ended well has {title} over {columns[x].title}")
    return plots.scaling(panels, columns[x].title, cases.is_positive(sheet, x))
