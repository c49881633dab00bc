# SPDX-License-Identifier: BSD-3-Clause
"""The page: one self-contained HTML file, for screen readers and print, in light and dark colours."""

import math
from html import escape
from pathlib import Path

import hyperplane

from . import cases, comparison, fields, live, march, plots
from .markup import figure, mebibytes, number, table, table_head, table_row

MOST_COLUMNS = 4  # runs side by side; more runs have a row each
MOST_BARS = 16  # runs; with more the bars are too small to read

PAYS_OFF = ('<p class="hint">Pays off: from how many solves with one set-up on a run takes less time in all, beside the '
            "baseline of its own comparison or study.</p>")

EXIT_CODES = {
    0: "valid and converged",
    1: "an internal error",
    2: "a wrong command line or deck",
    3: "not converged in the iterations allowed",
    4: "diverged, not finite, breakdown or false convergence",
    5: "the preconditioner could not be set up",
    6: "out of memory",
    7: "an input or output file could not be read or written",
    8: "an [expect] or a verification failed",
    9: "no suitable device",
    10: "another process was using the same output",
    75: "stopped by a signal; the same command continues it",
}


def verdict(record):
    """(good, sentence): how the run ended, in words."""
    if record.status == "running":
        return False, ("This record is unfinished: the run had not ended when it was written, or was killed. "
                       "The page shows the state of that time.")
    code = f"exit code {record.exit_code}: {EXIT_CODES.get(record.exit_code, 'unknown')}"
    said = f": {record.message}" if record.message else ""
    return record.exit_code == 0, f"{'Success' if record.exit_code == 0 else 'No success'}{said} ({code})"


def verdicts(records):
    """A paragraph for each run; if there are many, one for all that ended well and one for each of the others."""
    told = [(record, *verdict(record)) for record in records]
    parts = []
    if len(records) > MOST_COLUMNS and any(good for _, good, _ in told):
        well = sum(good for _, good, _ in told)
        parts.append(f'<p class="verdict"><strong>{well} of {len(records)} runs</strong> ended well.</p>')
        told = [row for row in told if not row[1]]
    for record, good, sentence in told:
        parts.append(f'<p class="verdict{"" if good else " bad"}"><strong>{escape(record.label)}</strong> '
                     f"<code>{escape(record.path)}</code><br>{escape(sentence)}</p>")
    return "".join(parts)


def long_preparations(records):
    """A paragraph for each run whose general matrix took as long to read, order and set up as many iterations; those of
    more than three runs are folded."""
    long = [record for record in records if record.long_preparation]
    told = "".join(f"<p><strong>{escape(record.label)}</strong>: {escape(record.long_preparation)}.</p>" for record in long)
    if len(long) <= 3:
        return told
    return f"<details><summary>Preparations of {len(long)} runs that took as long as ten iterations or more</summary>{told}</details>"


def warnings(records):
    """A paragraph for each warning of a set-up, such as one of a key that had no effect."""
    return "".join(f"<p><strong>{escape(record.label)}</strong>: {escape(warning)}.</p>"
                   for record in records for warning in dict.fromkeys(getattr(record.solves, "warning", ())) if warning)


def summary(records, pays_off=()):
    """What was run, and the results; residuals are those of the last solve. `pays_off` as from cases.pay_offs, if some do."""

    def milliseconds(record):
        return number(1e3 * record.seconds_per_iteration) if record.iterations else "none"

    def place(record):
        if len(record.parts) > 1:
            return f"{record.places} (in {len(record.parts)} parts)"
        return record.environment.get("device", record.environment.get("backend", "?"))

    def residual(column):
        return lambda record: number(record.solves[column][-1]) if record.solves else "none"

    counts = dict(zip((record.label for record in records), pays_off))
    lines = (
        ("problem", lambda record: record.problem),
        ("grid", lambda record: f"{record.grid}, {record.stencil}" + (f", {record.dof} DoF" * (record.dof > 1))),
        ("unknowns", lambda record: f"{record.unknowns:,}"),
        ("method", lambda record: record.method),
        *([("couplings between ranks dropped", lambda record: record.environment.get("dropped_couplings", "none"))]
          if any("dropped_couplings" in record.environment for record in records) else []),
        ("ended", lambda record: record.ended or "none"),
        ("solves", lambda record: len(record.solves)),
        ("iterations", lambda record: record.iterations),
        ("true residual / ‖b‖", residual("rel_res_true")),
        ("recurrence residual / ‖b‖", residual("rel_res_recurrence")),
        *((f"error, {norm}", lambda record, norm=norm: number(record.verification.get(norm, math.nan)))
          for norm in cases.norms(records)),
        *((words, lambda record, name=name: number(cases.timer(record, name)))
          for name, words in cases.preparations(records)),
        ("assembly [s]", lambda record: number(record.seconds("assemble"))),
        ("set-up [s]", lambda record: number(record.seconds("setup"))),
        ("solve [s]", lambda record: number(record.seconds("solve"))),
        *([("pays off from solves", lambda record: counts[record.label] or "none")] if pays_off else []),
        ("an iteration [ms]", milliseconds),
        ("memory", lambda record: mebibytes(record.peak_total)),
        ("device", place),
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
    if len(records) > MOST_COLUMNS:
        return shared
    caption = "The runs" if len(records) > 1 else "The run"
    return table(caption, ["run", *(record.label for record in records)], rows, range(1, len(records) + 1)) + shared


def different_systems(records):
    """A paragraph where decks differ in [problem], for runs side by side, of which the table tells no more than the grid."""
    if len(records) > MOST_COLUMNS:
        return ""
    keys = [key for key in cases.swept_keys(records) if key.startswith("problem.")]
    told = [f"{key} is {', '.join(dict.fromkeys(record.value(key) for record in records if key in record.deck))}" for key in keys]
    return (f"<p>The runs solve different systems, so their iterations and times do not compare methods: {escape('; '.join(told))}.</p>"
            if told else "")


def cases_table(sheet):
    """A row for each run; page.js sorts by columns and filters rows."""
    columns = sheet.columns
    numeric = [at for at, column in enumerate(columns) if column.numeric]

    def shown(column, value):
        if value is None:
            return ""
        return number(value) if isinstance(value, float) and not column.swept else str(value)

    rows = []
    for at, values in enumerate(zip(*(column.values for column in columns))):
        run = "" if sheet.runs[at] is None else f' data-run="{sheet.runs[at]}"'
        kind = ' class="best"' if at == sheet.best else "" if sheet.good[at] else ' class="failed"'
        rows.append(table_row([shown(column, value) for column, value in zip(columns, values)], numeric, run + kind))
    hint = "words, or a column compared with a value: iterations&lt;50 ended=converged_rtol"
    return ('<div class="controls" id="cases-controls">'
            '<label>Filter <input type="search" aria-describedby="cases-hint"></label>'
            f'<output aria-live="polite"></output><span class="hint" id="cases-hint">{hint}</span></div>'
            f'<div class="scroll wide"><table class="cases" id="cases"><caption>{escape(sheet.caption)}</caption>'
            f"{table_head([column.title for column in columns], numeric)}<tbody>{''.join(rows)}</tbody></table></div>")


def solves(record):
    rows = [[n, s.iterations, number(s.rel_res_true), number(s.rel_res_recurrence), number(s.setup_seconds),
             number(s.solve_seconds), s.pivots_modified, s.stop_reason] for n, s in enumerate(record.solves.rows(), 1)]
    head = ["solve", "iterations", "true residual", "recurrence", "set-up [s]", "solve [s]", "pivots modified", "ended"]
    return table(f"Solves of {record.label}", head, rows, range(1, 7))


def parts_table(record):
    """Where and when the parts of a run ran; empty if it has only one part."""
    rows = [[row.started, row.host, row.device, row.threads, row.step, number(row.seconds), row.ended]
            for row in record.parts.rows()]
    head = ["began", "host", "device", "threads", "after step", "seconds", "ended"]
    return table(f"Parts of {record.label}", head, rows, range(3, 6)) if len(rows) > 1 else ""


def timers(record):
    rows = []
    for row in record.timers.rows():
        speed = number(row.bandwidth) if row.bandwidth > 0.0 else ""
        each = number(1e3 * row.seconds / row.calls) if row.calls else ""
        rows.append([row.name, number(row.seconds), row.calls, each, speed])
    return table(f"Timers of {record.label}", ["part", "seconds", "calls", "ms a call", "GB/s"], rows, range(1, 5))


def order_words(record):
    """The ordering and those of its keys that the run was given, as in "multicolor (colours = hashed)"."""
    keys = [f"{key.split('.')[1]} = {value.text}" for key, value in record.deck.items()
            if key.startswith("ordering.") and key != "ordering.name" and value.provenance != "default"]
    return record.value("ordering.name", "natural") + (f" ({', '.join(keys)})" if keys else "")


def pattern(record):
    """The pattern of a general matrix, as it was solved with and as it was given; empty on a grid."""
    if not record.pattern:
        return ""
    words = {"rows": "block rows", "blocks": "blocks", "shortest_row": "fewest blocks of a row",
             "longest_row": "most blocks of a row", "lower_bandwidth": "bandwidth below the diagonal",
             "upper_bandwidth": "bandwidth above the diagonal", "lower_levels": "levels below the diagonal",
             "upper_levels": "levels above the diagonal", "missing_diagonals": "rows without diagonal block",
             "symmetric_pattern": "symmetric pattern"}
    both = [record.pattern, record.given_pattern] if record.given_pattern else [record.pattern]
    rows = [[text, *(each[key] for each in both)] for key, text in words.items()]
    rows.append(["rows a level", *(number(each["rows"] / max(1, each["lower_levels"])) for each in both)])
    head = ["pattern", f"in the order {order_words(record)}", "in the given order"]
    return table(f"Matrix of {record.label}", head[:1 + len(both)], rows, range(1, 1 + len(both)))


def convergence_words(records):
    """The convergence plot in words, for screen readers."""
    told = [f"{record.label} ends at {number(record.relative_residual)} after {record.iterations} iterations"
            for record in records if record.solves]
    return "Relative residual on a logarithmic axis over iterations and over time: " + "; ".join(told) + "."


def bars_words(what, unit, records, tables):
    told = [f"{record.label}: " + ", ".join(f"{name} {number(value)} {unit}" for name, value in rows.items())
            for record, rows in zip(records, tables)]
    return f"Bars of {what}. " + "; ".join(told) + "."


def convergence(records):
    head, parts = "<h2>How it converged</h2>", []
    if not any(record.history for record in records):
        return head + "<p>No iteration was recorded.</p>"
    if not any(map(plots.has_curve, records)):
        return head + f"<p>{plots.NO_CURVE}</p>"
    plots_live = (live.canvas("by-iteration", "Relative residual over iterations")
                  + live.canvas("by-time", "Relative residual over solve time"))
    parts.append(f'<div class="live">{live.legend(records)}<div class="pair">{plots_live}</div>'
                 '<p class="hint">Lines are the recurrence, open markers the true residual, the dotted line the '
                 "requested tolerance; only the true residual decides. Point at a curve to read it, or move along it "
                 "with the arrow keys; press a name to hide its curve; drag over a part to enlarge it (keys + and −); "
                 "double-click to see all again (Escape).</p></div>")
    parts.append(figure(plots.convergence(records), convergence_words(records),
                        "The dotted line is the requested tolerance; only the true residual decides.", "still"))
    content = "".join(parts)
    return head + (march.teeth(content) if any(map(march.is_march, records)) else content)


def scaling(sheet):
    """How the results depend on a varied number; empty if no number was varied."""
    columns = sheet.columns
    across, up = cases.horizontal(columns), cases.vertical(columns)
    if not across or not up:
        return ""
    x = cases.preferred(columns, across, "unknowns")
    y = cases.preferred(columns, up, "total [s]", "solve [s]")
    curves = cases.groups(sheet, x, y)
    if not any(len(points) > 1 for points in curves.values()):
        return ""
    words = f"{columns[y].title} over {columns[x].title}"
    told = "; ".join(f"{name}: " + ", ".join(f"{number(b)} at {number(a)}" for a, b in points)
                     for name, points in curves.items())
    return ("<h2>How it scales</h2>" + live.scaling_controls(columns, across, up, x, y)
            + f'<div class="live">{live.canvas("scaling", words)}</div>'
            + figure(plots.scaling([(columns[y].title, curves)], columns[x].title, cases.is_positive(sheet, x)),
                     f"{words}. {told}.", "", "still")
            + '<p class="hint">Only runs that ended well; axes are logarithmic unless linear ones are chosen, or a value along the '
            'horizontal axis is 0.</p>')


def costs(records):
    parts = ["<h2>What it cost</h2>"]
    if len(records) > MOST_BARS:
        return parts[0] + f"<p>Bars are drawn for at most {MOST_BARS} runs; the table has the numbers of all runs.</p>"
    times = [plots.times(record) for record in records]
    parts.append(figure(plots.breakdown(records), bars_words("time", "s", records, times),
                        "Wall time. Vector operations are the solve without its other parts."))
    speeds = [plots.speeds(record) for record in records]
    parts.append(figure(plots.bandwidth(records), bars_words("bandwidth", "GB/s", records, speeds),
                        "The fewest bytes that a part must move, divided by its measured time. Data still in a cache may "
                        "arrive faster than memory can deliver them."))
    sizes = [plots.sizes(record) for record in records]
    predicted = "; ".join(f"{record.label} {mebibytes(record.predicted_total)}" for record in records)
    parts.append(figure(plots.memory(records), bars_words("memory", "MiB", records, sizes),
                        f"At the peak. Predicted: {predicted}."))
    parts += [applications(record) + profile(record) for record in records]
    return "".join(parts)


def applications(record):
    """The parts of the preconditioner's applications, such as the grids of multigrid; empty where none were timed."""
    rows = [row for row in record.timers.rows() if row.name.startswith(plots.APPLICATION)]
    if not rows:
        return ""
    whole = record.seconds("solve/preconditioner")
    shown = [[row.name[len(plots.APPLICATION):], row.calls, number(row.seconds), number(1e3 * row.seconds / row.calls),
              f"{row.seconds / whole:.1%}" if whole else "", number(row.bandwidth) if row.bandwidth else ""] for row in rows]
    return table(f"Applications of the preconditioner of {record.label}",
                 ["part", "calls", "seconds", "ms a call", "share", "GB/s"], shown, range(1, 6))


def profile(record):
    """Where the time went, by kind of work; empty without output.profile."""
    if record.profile is None:
        return ""
    rows = list(record.profile.rows())
    first = {row.name: number for number, row in enumerate(rows)}
    seconds = {row.name: row.seconds for row in rows}

    def place(name):
        parts = name.split("/")
        return [first["/".join(parts[:end + 1])] for end in range(len(parts))]

    shown = []
    for row in sorted(rows, key=lambda row: place(row.name)):
        *outer, kind = row.name.split("/")
        phase = seconds[row.name.split("/")[0]]
        rate = 1e-9 * row.bytes / row.seconds if row.seconds else 0.0
        shown.append(["\u2003" * len(outer) + kind, row.calls, number(row.seconds),
                      f"{row.seconds / phase:.1%}" if phase else "", number(rate) if rate else "",
                      f"{rate / record.limit:.0%}" if rate and record.limit == record.limit else ""])
    limit = f"; the limit is that of a copy as large as the run, {number(record.limit)} GB/s" \
        if record.limit == record.limit else ""
    return ("<h3>Where the time went</h3>"
            + table(f"Kinds of work of {record.label}",
                    ["kind of work", "calls", "seconds", "share of its phase", "GB/s", "of the limit"], shown, range(1, 6))
            + f'<p class="hint">GB/s: the fewest bytes that a kind must move, over its time{limit}.</p>')


def particulars(record):
    deck = [[key, value.text, value.provenance] for key, value in record.deck.items()]
    entries = f"{record.solves.stored_entries[0]:,}" if record.solves else "none"
    machine = {"program": f"hyperplane {record.code_version} ({record.git_sha})", "layout": record.layout,
               "stored entries": entries, **record.environment}
    parts = [f"<details><summary>{escape(record.label)}: solves, timers, deck, environment</summary>",
             pattern(record), parts_table(record), march.steps(record), march.diagnostics(record), solves(record),
             timers(record)]
    parts.append(table("The resolved deck", ["key", "value", "from"], deck))
    parts.append(table("Environment", ["what", "value"], list(machine.items())))
    return "".join(parts) + "</details>"


def beside(name):
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def particular_parts(records):
    """Everything else that was recorded; many records share one fold."""
    found = "".join(particulars(record) for record in records)
    if len(records) <= MOST_BARS:
        return "<h2>Particulars</h2>" + found
    return f"<h2>Particulars</h2><details><summary>of {len(records)} runs</summary>{found}</details>"


def beginning(files, records):
    """(title, head, sheet) of the files."""
    problems = ", ".join(dict.fromkeys(record.problem for record in records))
    if len(files) == 1 and isinstance(files[0], hyperplane.Comparison):
        sheet = cases.of_comparison(files[0])
        return (f"{problems}: {len(sheet.good)} candidates compared",
                comparison.head(files[0]) + long_preparations(records) + cases_table(sheet) + comparison.tail(files[0]), sheet)
    if len(files) == 1 and isinstance(files[0], hyperplane.Study):
        sheet = cases.of_study(files[0])
        for record in records:
            record.label = cases.short_name(record.label)
        return (f"{files[0].study}: a study of {problems or 'nothing yet'}, {len(sheet.good)} cases",
                comparison.study_head(files[0], sheet) + long_preparations(records) + cases_table(sheet) + march.section(records), sheet)
    pays_off = cases.pay_offs(files)
    if not any(pays_off):
        pays_off = []
    sheet = cases.of_records(records, pays_off)
    runs = "1 run" if len(records) == 1 else f"{len(records)} runs"
    rows = cases_table(sheet) if len(records) > MOST_COLUMNS else ""
    return f"{problems}: {runs}", (verdicts(records) + warnings(records) + long_preparations(records) + march.section(records) + summary(records, pays_off) + different_systems(records) + rows
                                      + (PAYS_OFF if pays_off else "")
                                      + (fields.section(records) if len(records) <= MOST_COLUMNS else "")), sheet


def render(files):
    """The page as text; `files` are records, comparisons and studies."""
    records = hyperplane.with_labels(files)
    title, head, sheet = beginning(files, records)
    library = live.chart_js()
    parts = ['<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
             "script-src 'unsafe-inline'\">",
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             '<meta name="generator" content="hyperplane report">',  # by which `hyperplane report` knows its own
             f"<title>hyperplane report: {escape(title)}</title><style>{beside('page.css')}</style></head><body><main>",
             f"<h1>{escape(title)}</h1>", head]
    if records:
        parts += [convergence(records), scaling(sheet), costs(records), particular_parts(records)]
    parts.append(f'</main><script type="application/json" id="data">{live.data(records, sheet)}</script>')
    if library:
        parts.append(f"<script>{library}</script>")
    return "".join(parts) + f"<script>{beside('page.js')}</script></body></html>\n"
