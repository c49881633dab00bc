# SPDX-License-Identifier: BSD-3-Clause
"""What the page says of a comparison or a study as a whole, before and after the table of its cases."""

import re
from html import escape

from .markup import number, table


def recommended(text):
    """What `compare --auto` printed, "name   sentence" on each line, as lines of a paragraph."""
    return "".join(f"<br>{escape(re.sub(' {2,}', ': ', line.strip(), count=1))}" for line in text.splitlines())


def head(comparison):
    """Which candidate is the fastest, and why others failed."""
    rows = list(comparison.table.rows())
    parts = []
    if not comparison.complete:
        parts.append('<p class="verdict bad">This comparison was stopped before its end; the same command continues '
                     "it. The page shows the state of that time.</p>")
    if comparison.best:
        best = next(row for row in rows if row.name == comparison.best)
        ratio = ""
        if best.ratio > 0.0 and best.name != comparison.baseline:
            ratio = f", {number(best.ratio)} times the time of {escape(comparison.baseline)}"
        parts.append(f'<p class="verdict"><strong>{escape(best.name)}</strong> is the fastest that converged: '
                     f"{number(1e3 * best.total_seconds)} ms{ratio}.{recommended(comparison.recommendation)}</p>")
    for row in rows:
        if row.exit_code != 0 and row.outcome != "not_tried":
            parts.append(f'<p class="verdict bad"><strong>{escape(row.name)}</strong> {escape(row.outcome)}: '
                         f"{escape(row.reason)}</p>")
    return "".join(parts)


def tail(comparison):
    """What all candidates had in common, and which pairs were left out."""
    parts = [table("What was compared", ["what", "value"],
                   [["deck", comparison.deck], *sorted(comparison.system.items())])]
    if comparison.left_out:
        parts.append(table("Left out", ["pair", "why"], [[row.name, row.reason] for row in comparison.left_out.rows()]))
    return ("<details><summary>What was compared: the system, the criterion, fingerprints</summary>"
            f"{''.join(parts)}</details>")


def study_head(study, sheet):
    """How many cases ended well, and how the others ended."""
    well = sum(sheet.good)
    kind = "" if well == len(sheet.good) else " bad"
    parts = [f'<p class="verdict{kind}"><strong>{well} of {len(sheet.good)} cases</strong> of '
             f"{escape(study.study)} ended well.</p>"]
    counted = {}
    for good, ended in zip(sheet.good, next(column for column in sheet.columns if column.title == "ended").values):
        counted[ended] = counted.get(ended, 0) + (not good)
    told = ", ".join(f"{count} {ended}" for ended, count in counted.items() if count)
    return parts[0] + (f"<p>The others: {escape(told)}.</p>" if told else "")
