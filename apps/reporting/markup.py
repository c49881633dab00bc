# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, tables and figures as HTML."""

import math
import re
from html import escape

from . import plots


def number(value):
    """Three significant digits, exponents short and only where needed: 2000, 0.0123, 1.35e-9; empty if not known."""
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 1000 <= abs(value) < 1e6:
        return f"{float(f'{value:.3g}'):.0f}"
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def mebibytes(count):
    return f"{count / 2**20:.1f} MiB"


BREAKS, BREAK = re.compile(r"(?<=\w[_,=/])(?=\w)"), "<wbr>"


def table(caption, head, rows, numeric=()):
    """An HTML table; the first cell of a row is its heading, columns in `numeric` are right-aligned. Columns without
    any content are left out."""
    kept = [at for at in range(len(head)) if not rows or any(str(row[at]) != "" for row in rows)]
    head, rows = [head[at] for at in kept], [[row[at] for at in kept] for row in rows]
    numeric = {place for place, at in enumerate(kept) if at in numeric}
    parts = [f'<div class="scroll"><table><caption>{escape(caption)}</caption>{table_head(head, numeric)}<tbody>']
    parts += [table_row(row, numeric) for row in rows]
    return "".join(parts) + "</tbody></table></div>"


def table_head(head, numeric):
    cells = "".join(cell("th", content, column in numeric, ' scope="col"') for column, content in enumerate(head))
    return f"<thead><tr>{cells}</tr></thead>"


def table_row(row, numeric, attributes=""):
    cells = [cell("th", row[0], 0 in numeric, ' scope="row"')]
    cells += [cell("td", content, column in numeric) for column, content in enumerate(row[1:], 1)]
    return f"<tr{attributes}>{''.join(cells)}</tr>"


def cell(tag, content, numeric, attributes=""):
    """A cell of a table. Names are broken at their signs, such as a=1,b=2, if a line is too short for them."""
    kind = ' class="number"' if numeric else ""
    text = escape(str(content))
    return f"<{tag}{attributes}{kind}>{text if numeric else BREAKS.sub(BREAK, text)}</{tag}>"


def figure(drawing, description, caption, kind=""):
    """A matplotlib figure with a description for screen readers; empty if there is no figure."""
    if drawing is None:
        return ""
    svg = plots.to_svg(drawing, escape(description, quote=True))
    said = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{svg}{said}</figure>"
