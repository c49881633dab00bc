#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws slices, profiles and histories of one record of hyperplane, and results of a study over a varied number.

    plot.py FILE.h5 [NAME...] [--slice z=0.5 | --profile x,y=0.5] [--time LIST] -o OUT.png
    plot.py STUDY.h5 [NAME...] [--over NAME] -o OUT.png
    plot.py FILE.h5 --list

It writes new and empty files only; `hyperplane plot` decides which other files may be replaced. It needs h5py and
matplotlib (Debian: python3-h5py, python3-matplotlib). Exit codes are those of the program: 0, 2 usage, 7 a file; 1 if a
package is missing.
"""

import argparse
import os
import sys

from script import EXIT_USAGE, fail, guarded


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="hyperplane plot", description=__doc__.splitlines()[0])
    parser.add_argument("record", metavar="FILE.h5", help="the record of a run, a collected study or a comparison")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="fields, or histories, to draw (default: all fields); of a study, results (default: iterations and "
                             "total)")
    parser.add_argument("--list", action="store_true", help="only list the names of what can be drawn")
    parser.add_argument("--slice", metavar="AXIS=VALUE", help="the plane of slices")
    parser.add_argument("--profile", metavar="AXIS[,AXIS=VALUE]...", help="values along a line in place of slices")
    parser.add_argument("--time", metavar="LIST", help="times of a series of fields, or all")
    parser.add_argument("--over", metavar="NAME", help="the varied number over which results of a study are drawn")
    parser.add_argument("-o", "--output", default="plot.png", help="picture to write (default: plot.png)")
    parser.add_argument("--format", help="format of the picture: png, pdf or svg (default: by its name)")
    options = parser.parse_args(arguments)
    return guarded("plot", options.output, lambda: draw(options))


def draw(options):
    import hyperplane
    from reporting import output, pictures, plots, scaling
    record = hyperplane.load(options.record)
    single = isinstance(record, hyperplane.Record)
    unfit = [name for name in (("over",) if single else ("slice", "profile", "time")) if getattr(options, name)]
    if unfit:
        return fail("plot", EXIT_USAGE, f"--{unfit[0]} needs a study or a comparison, and {options.record} holds one run"
                    if single else f"--{unfit[0]} needs the record of one run, and {options.record} holds several")
    try:
        if options.list:
            print("\n".join((pictures if single else scaling).choices(record)))
            return 0
        drawing = (pictures.draw(record, options.names, options.slice, options.profile, options.time) if single
                   else scaling.draw(record, options.names, options.over))
        with output.open_new(options.output, "plot") as file:
            plots.write_picture(drawing, file, output.kind_of(options.format or os.path.splitext(options.output)[1]))
    except pictures.PlotError as error:
        return fail("plot", EXIT_USAGE, error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
