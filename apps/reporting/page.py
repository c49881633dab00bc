"""The page: one HTML file that needs nothing else, readable aloud, in print, and by light or dark."""

from html import escape

from . import plots

CSS = """
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --good: #00795a; --bad: #c04a00; }
@media (prefers-color-scheme: dark) { :root { --good: #3cc79b; --bad: #ff9a57; } }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
svg { width: 100%; height: auto; } figure { margin: 1rem 0; }
figcaption { font-size: .9rem; opacity: .8; }
.verdict { border-left: .4rem solid var(--good); background: var(--soft); padding: .5rem .9rem; margin: .6rem 0; }
.verdict.bad { border-color: var(--bad); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; } details { margin: .6rem 0; }
summary { cursor: pointer; font-weight: 600; } code { font-size: .9em; opacity: .75; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } figure, tr { break-inside: avoid; } }
"""

EXIT_CODES = {
    0: "valid and converged",
    1: "an internal error",
    2: "a wrong command line or deck",
    3: "not converged in the iterations allowed",
    4: "diverged, not finite, breakdown or false convergence",
    5: "the preconditioner could not be set up",
    6: "out of memory",
    7: "an input or output file",
    8: "an [expect] or a verification failed",
    9: "no suitable device",
    75: "stopped on a signal; run again to go on",
}


def verdict(record):
    """(good, sentence): how the run ended, in words."""
    if record.status == "running":
        return False, ("This record is unfinished: the run was still going, or was killed, when it was written. "
                       "What follows is what was known then.")
    code = f"exit code {record.exit_code}: {EXIT_CODES.get(record.exit_code, 'unknown')}"
    said = f": {record.message}" if record.message else ""
    return record.exit_code == 0, f"{'Success' if record.exit_code == 0 else 'No success'}{said} ({code})"


def number(value):
    """Three significant digits, exponents short: 1.35e-9."""
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e+")


def mebibytes(count):
    return f"{count / 2**20:.1f} MiB"


def table(caption, head, rows, numeric=()):
    """An HTML table; the first cell of a row is its heading, columns in `numeric` are right-aligned."""

    def cell(tag, column, content, scope=""):
        kind = ' class="number"' if column in numeric else ""
        return f"<{tag}{scope}{kind}>{escape(str(content))}</{tag}>"

    parts = [f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>']
    parts += [cell("th", column, content, ' scope="col"') for column, content in enumerate(head)]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        cells = [cell("th", 0, row[0], ' scope="row"')]
        cells += [cell("td", column, content) for column, content in enumerate(row[1:], 1)]
        parts.append("<tr>" + "".join(cells) + "</tr>")
    return "".join(parts) + "</tbody></table></div>"


def summary(records):
    """What the runs were and came to; residuals are the last solve's. More than four runs take a row each."""

    def last(form):
        return lambda record: form(record.solves[-1]) if record.solves else "none"

    def milliseconds(record):
        return number(1e3 * record.seconds("solve") / record.iterations) if record.iterations else "none"

    lines = (
        ("problem", lambda record: record.deck_value("problem.name", "?")),
        ("grid", lambda record: f"{record.grid}, {record.stencil}" + (f", {record.dof} DoF" * (record.dof > 1))),
        ("unknowns", lambda record: f"{record.unknowns:,}"),
        ("method", lambda record: record.method),
        ("ended", last(lambda solve: solve.stop_reason)),
        ("solves", lambda record: len(record.solves)),
        ("iterations", lambda record: record.iterations),
        ("true residual / ‖b‖", last(lambda solve: number(solve.truth))),
        ("recurrence residual / ‖b‖", last(lambda solve: number(solve.recurrence))),
        ("assembly [s]", lambda record: number(record.seconds("assemble"))),
        ("set-up [s]", lambda record: number(record.seconds("setup"))),
        ("solve [s]", lambda record: number(record.seconds("solve"))),
        ("an iteration [ms]", milliseconds),
        ("memory", lambda record: mebibytes(record.peak_total)),
        ("device", lambda record: record.environment.get("device", record.environment.get("backend", "?"))),
    )
    if all(record.label == record.method for record in records):
        lines = [line for line in lines if line[0] != "method"]
    rows = [[words, *(str(form(record)) for record in records)] for words, form in lines]
    shared = ""
    if len(records) > 1:
        same = [row for row in rows if len(set(row[1:])) == 1]
        rows = [row for row in rows if row not in same]
        shared = ", ".join(f"{words} {value}" for words, value, *_ in same)
        shared = f"<p>The same in all runs: {escape(shared)}.</p>"
    rows = [["run", *(record.label for record in records)], *rows]
    if len(records) > 4:
        rows = list(zip(*rows))
    caption = "The runs" if len(records) > 1 else "The run"
    return table(caption, rows[0], rows[1:], range(1, len(rows[0]))) + shared


def solves(record):
    rows = [[n, s.iterations, number(s.truth), number(s.recurrence), number(s.setup_seconds), number(s.solve_seconds),
             s.pivots_modified, s.stop_reason] for n, s in enumerate(record.solves, 1)]
    head = ["solve", "iterations", "true residual", "recurrence", "set-up [s]", "solve [s]", "pivots modified", "ended"]
    return table(f"Solves of {record.label}", head, rows, range(1, 7))


def timers(record):
    rows = []
    for row in record.timers:
        speed = number(row.bytes / row.seconds * 1e-9) if row.bytes and row.seconds > 0.0 else ""
        each = number(1e3 * row.seconds / row.calls) if row.calls else ""
        rows.append([row.name, number(row.seconds), row.calls, each, speed])
    return table(f"Timers of {record.label}", ["part", "seconds", "calls", "ms a call", "GB/s"], rows, range(1, 5))


def figure(drawing, description, caption):
    if drawing is None:
        return ""
    svg = plots.to_svg(drawing, escape(description, quote=True))
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def convergence_words(records):
    """The convergence plot for who cannot see it."""
    told = [f"{record.label} ends at {number(record.solves[-1].truth)} after {record.iterations} iterations"
            for record in records if record.solves]
    return "Relative residual on a logarithmic axis over iterations and over time: " + "; ".join(told) + "."


def breakdown_words(records):
    told = [f"{record.label}: " + ", ".join(f"{words} {number(plots.part_seconds(record, part))} s"
                                            for part, words, _, _ in plots.PARTS) for record in records]
    return "Stacked bars of time. " + "; ".join(told) + "."


def bars_words(what, unit, tables, records):
    told = [f"{record.label}: " + ", ".join(f"{name} {number(value)} {unit}" for name, value in rows.items())
            for record, rows in zip(records, tables)]
    return f"Bars of {what}. " + "; ".join(told) + "."


def figures(records):
    speeds = [dict(plots.speeds(record)) for record in records]
    sizes = [{name: count / 2**20 for name, count in record.memory.items()} for record in records]
    parts = ["<h2>How it converged</h2>"]
    if any(len(solve.history_iteration) for record in records for solve in record.solves):
        parts.append(figure(plots.convergence(records), convergence_words(records),
                            "The dotted line is the tolerance asked for; only the true residual decides."))
    else:
        parts.append("<p>No iteration was recorded.</p>")
    parts.append("<h2>What it cost</h2>")
    if any(row.seconds > 0.0 for record in records for row in record.timers):
        parts.append(figure(plots.breakdown(records), breakdown_words(records),
                            "Wall time. Vector operations are what remains of the solve."))
    parts.append(figure(plots.bandwidth(records), bars_words("bandwidth", "GB/s", speeds, records),
                        "The fewest bytes a part must move, over its measured time."))
    totals = "; ".join(f"{record.label}: {mebibytes(record.peak_total)} in all, predicted "
                       f"{mebibytes(record.predicted_total)}" for record in records)
    parts.append(figure(plots.memory(records), bars_words("memory", "MiB", sizes, records), totals + "."))
    return "".join(parts)


def particulars(record):
    deck = [[key, value, origin] for key, (value, origin) in record.deck.items()]
    machine = {"program": f"hyperplane {record.code_version} ({record.git_sha})", "layout": record.layout,
               "stored entries": f"{record.stored_entries:,}", **record.environment}
    parts = [f"<details><summary>{escape(record.label)}: solves, timers, deck, environment</summary>",
             solves(record), timers(record)]
    if record.verification:
        rows = [[name, f"{value:.4e}"] for name, value in record.verification.items()]
        parts.append(table("Error against the exact solution", ["norm", "value"], rows, [1]))
    parts.append(table("The resolved deck", ["key", "value", "from"], deck))
    parts.append(table("Environment", ["what", "value"], list(machine.items())))
    return "".join(parts) + "</details>"


def render(records):
    """The page as text."""
    problems = ", ".join(dict.fromkeys(record.deck_value("problem.name", "?") for record in records))
    runs = "1 run" if len(records) == 1 else f"{len(records)} runs"
    parts = ['<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>hyperplane report: {escape(problems)}</title><style>{CSS}</style></head><body><main>",
             f"<h1>{escape(problems)}: {runs}</h1>"]
    for record in records:
        good, sentence = verdict(record)
        parts.append(f'<p class="verdict{"" if good else " bad"}"><strong>{escape(record.label)}</strong> '
                     f"<code>{escape(record.path)}</code><br>{escape(sentence)}</p>")
    parts += [summary(records), figures(records), "<h2>Particulars</h2>"]
    parts += [particulars(record) for record in records]
    return "".join(parts) + "</main></body></html>\n"
