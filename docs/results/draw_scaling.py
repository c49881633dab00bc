#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/ranks.png, times of ranks on GPUs beside a model of them, and prints the numbers of both.

usage: draw_scaling.py [PICTURE]

The times are those of h100/ranks_scaling.csv. docs/ranks.md says what the model is.
"""
import csv
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

HERE = pathlib.Path(__file__).parent

# Seconds, of one H100 (h100/README.md): a level of a solve that latency paces, and both solves of star7 on 512^3 points.
LEVEL = 0.36e-6
SOLVES_512 = 2.69e-3 + 2.68e-3
POINT = (SOLVES_512 / 2 - (3 * 512 - 2) * LEVEL) / 512**3
# From one GPU to the next, over NVLink: a record {value, epoch}.
HOP = 0.85e-6
# Six passes over a vector that ranks have in addition: copies of r and z, and the product r^T z.
COPIES = 6 * 8 / 2.98e12
# Halos, sums and the wait for the GPU that is behind, for each doubling of the number of GPUs: what jacobi loses.
MEETING = 0.18e-3


def points_of_levels(nx, ny, first, last, levels):
    """How many points with x + y + z = level the planes first <= z < last have, for each level."""
    of_plane = numpy.convolve(numpy.ones(nx), numpy.ones(ny))
    below = numpy.concatenate([[0], numpy.cumsum(of_plane)])
    level = numpy.arange(levels)
    return below[numpy.clip(level - first + 1, 0, len(of_plane))] - below[numpy.clip(level - last + 1, 0, len(of_plane))]


def solve(cells, gpus, scope):
    """Seconds of a triangular solve. A GPU does level after level; a level waits for the one before on the GPU before."""
    nx, ny, nz = cells
    levels = nx + ny + nz - 2
    longest, before = 0.0, numpy.zeros(levels)
    for rank in range(gpus):
        points = points_of_levels(nx, ny, nz * rank // gpus, nz * (rank + 1) // gpus, levels)
        work = numpy.where(points > 0, LEVEL + points * POINT, 0.0)
        end = numpy.cumsum(work)
        if scope == "global" and rank > 0:
            earliest = numpy.where(points > 0, numpy.roll(before, 1) + HOP - LEVEL, 0.0)
            end += numpy.maximum.accumulate(numpy.maximum(earliest - (end - work), 0.0))
        longest = max(longest, end[-1])
        before = numpy.where(points > 0, end, 0.0)
    return longest


class OneGpu:
    """What an iteration costs one GPU, and so several."""

    def __init__(self, cells, name, seconds):
        self.name = name
        self.rest = (seconds - 2 * (name != "jacobi") * solve(cells, 1, "rank")) / math.prod(cells)

    def iteration(self, cells, gpus, scope):
        """Seconds of an iteration on so many GPUs."""
        rest = (self.rest + COPIES * (self.name != "jacobi" and gpus > 1)) * math.prod(cells) / gpus
        return rest + MEETING * math.log2(gpus) + 2 * (self.name != "jacobi") * solve(cells, gpus, scope)


def measured():
    """{(preconditioner, scope): {(nx, ny, nz, GPUs): seconds}}"""
    found = {}
    with (HERE / "h100/ranks_scaling.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            times = found.setdefault((row["preconditioner"], row["scope"]), {})
            times[tuple(int(row[key]) for key in ("nx", "ny", "nz", "gpus"))] = float(row["ms"]) * 1e-3
    return found


def slab(gpus):
    return 512, 512, 256 * gpus


def print_tables(times):
    print("measured and model, ms an iteration")
    for (name, scope), found in times.items():
        for (*cells, gpus), seconds in found.items():
            if gpus == 1:
                continue
            # 512 x 512 x 1024 points do not fit one GPU.
            reference = cells if (*cells, 1) in found else slab(1)
            model = OneGpu(reference, name, found[*reference, 1]).iteration(cells, gpus, scope)
            print(f"{'x'.join(map(str, cells)):13} {name:10} {scope:6} {gpus} GPUs {1e3 * seconds:7.3f} {1e3 * model:7.3f} {model / seconds - 1:+.0%}")
    print("model: GPUs, ms an iteration with scope = global and rank, their ratio, speed-up with global")
    for title, cells_of, counts, reference in (("512^3", lambda gpus: (512, 512, 512), (2, 4, 8, 16, 64), (512, 512, 512)),
                                               ("768^3", lambda gpus: (768, 768, 768), (4, 8), (768, 768, 768)),
                                               ("512 x 512 x 256 a GPU", slab, (2, 4, 8, 16), slab(1)),
                                               ("1024 x 1024 x 4096", lambda gpus: (1024, 1024, 4096), (64, 256, 1024), (512, 512, 512))):
        one = OneGpu(reference, "struct_ilu", times["struct_ilu", "global"][*reference, 1])
        for gpus in counts:
            both, alone = (one.iteration(cells_of(gpus), gpus, scope) for scope in ("global", "rank"))
            gain = one.iteration(cells_of(gpus), 1, "rank") / both
            print(f"{title:22} {gpus:5} {1e3 * both:8.2f} {1e3 * alone:8.2f} {both / alone:6.2f} {gain:7.2f} of {gpus}")


def draw(times, picture):
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for panel, title, cells_of, counts in ((panels[0], "512$^3$ points", lambda gpus: (512, 512, 512), (1, 2, 4, 8, 16, 32, 64)),
                                           (panels[1], "512 x 512 x 256 points a GPU", slab, (1, 2, 4, 8, 16))):
        for (name, scope), colour, marker in (((("struct_ilu"), "global"), "C0", "o"), (("struct_ilu", "rank"), "C1", "s"),
                                              (("jacobi", ""), "C2", "^")):
            found = times[name, scope]
            one = OneGpu(cells_of(1), name, found[*cells_of(1), 1])
            panel.plot(counts, [1e3 * one.iteration(cells_of(gpus), gpus, scope) for gpus in counts], color=colour)
            at = [gpus for gpus in counts if (*cells_of(gpus), gpus) in found]
            panel.plot(at, [1e3 * found[*cells_of(gpus), gpus] for gpus in at], marker, color=colour, mfc="white", ls="",
                       label=f"{name}, scope = {scope}" if scope else name)
        panel.set(title=title, xlabel="GPUs", xscale="log", yscale="log", xticks=counts, xticklabels=counts)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set(ylabel="ms an iteration of CG", yticks=(0.2, 0.5, 1, 2, 5, 10), yticklabels=("0.2", "0.5", "1", "2", "5", "10"))
    panels[1].set(yticks=(5, 10, 20), yticklabels=("5", "10", "20"))
    panels[0].legend(title="measured; lines: model")
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    print_tables(measured())
    draw(measured(), sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "ranks.png")
