#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what hyperplane recorded as one self-contained HTML page, and as a picture for papers.

    report.py [-o report.html] [--png OUT.png] FILE.h5 [FILE.h5 ...]

Takes records of runs, comparisons and collected studies; all are drawn into the same plots. Needs h5py and
matplotlib (Debian: python3-h5py, python3-matplotlib); with Chart.js (libjs-chart.js) the plots answer to mouse and
keyboard. Exit codes as the program's: 0, 2 usage, 7 a file; 1 where a package is missing.
"""

import argparse
import os
import sys
from pathlib import Path

# The module `hyperplane` lies beside this script where the program was installed, and in the source tree.
sys.path[:0] = [str(path) for path in (Path(__file__).resolve().parent, Path(__file__).resolve().parents[1] / "python")]

EXIT_INTERNAL, EXIT_FILE = 1, 7


def fail(code, message):
    print(f"hyperplane report: {message}", file=sys.stderr)
    return code


def write_whole(path, write):
    """Calls write(temporary path), then renames: `path` is never half written."""
    part = f"{path}.part"
    try:
        write(part)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def write_text(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def kind_of(picture):
    suffix = os.path.splitext(picture)[1].lstrip(".").lower()
    return suffix if suffix in ("pdf", "svg") else "png"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="hyperplane report", description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+", metavar="FILE.h5", help="records to draw, together")
    parser.add_argument("-o", "--output", default="report.html", help="page to write (default: report.html)")
    parser.add_argument("--png", metavar="OUT.png",
                        help="also write the convergence plot as a picture; .pdf and .svg too")
    options = parser.parse_args(arguments)
    try:
        import hyperplane
        from reporting import live, page, plots
    except ImportError as error:
        return fail(EXIT_INTERNAL, f"{error}, with {sys.executable}; install python3-h5py and python3-matplotlib")
    try:
        files = [hyperplane.load(path) for path in options.records]
        write_whole(options.output, lambda part: write_text(part, page.render(files)))
        if options.png:
            records = hyperplane.with_labels(files)
            drawing, kind = plots.convergence(records), kind_of(options.png)
            write_whole(options.png, lambda part: plots.write_picture(drawing, part, kind))
    except hyperplane.RecordError as error:
        return fail(EXIT_FILE, error)
    except OSError as error:
        return fail(EXIT_FILE, f"{error.filename or options.output}: {error.strerror or error}")
    if not live.chart_js():
        print("hyperplane report: libjs-chart.js is not installed, so the plots are pictures that do not answer",
              file=sys.stderr)
    for path in filter(None, (options.output, options.png)):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
