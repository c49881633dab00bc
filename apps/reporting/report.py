#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws records of hyperplane as one self-contained HTML page, and as a picture for papers.

    report.py [-o report.html] [--png OUT.png] FILE.h5 [FILE.h5 ...]

It writes new and empty files only; `hyperplane report` decides which other files may be replaced. It takes records of
runs, comparisons and collected studies, and draws all into the same plots. It needs h5py and matplotlib (Debian:
python3-h5py, python3-matplotlib); with Chart.js (libjs-chart.js) the plots react to mouse and keyboard. Exit codes are
those of the program: 0, 2 usage, 7 a file; 1 if a package is missing.
"""

import argparse
import os
import sys

from script import guarded


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="hyperplane report", description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+", metavar="FILE.h5", help="records to draw, together")
    parser.add_argument("-o", "--output", default="report.html", help="page to write (default: report.html)")
    parser.add_argument("--png", metavar="OUT.png",
                        help="also write the convergence plot as a picture; .pdf and .svg too")
    parser.add_argument("--format", help="format of the picture: png, pdf or svg (default: by its name)")
    parser.add_argument("--silent", action="store_true", help="do not print the names of what was written")
    options = parser.parse_args(arguments)
    return guarded("report", options.output, lambda: draw(options))


def draw(options):
    import hyperplane
    from reporting import live, output, page, plots
    files = [hyperplane.load(path) for path in options.records]
    drawn = page.render(files).encode("utf-8")
    with output.open_new(options.output, "report") as file:
        file.write(drawn)
    if options.png:
        drawing = plots.convergence(hyperplane.with_labels(files))
        ending = os.path.splitext(options.png)[1] if options.format is None else options.format
        with output.open_new(options.png, "report") as file:
            plots.write_picture(drawing, file, output.kind_of(ending))
    if not live.chart_js():
        print("hyperplane report: libjs-chart.js is not installed, so the plots are pictures, not interactive",
              file=sys.stderr)
    if not options.silent:
        for path in filter(None, (options.output, options.png)):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
