#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/results/general.png, the pictures of docs/results/general.md, and prints the numbers of the first.

usage: draw_general.py [PICTURE]

The times are those of general/*.json, and of struct_ilu on the grid those of h200/levels.json.
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import general_bars  # noqa: E402

BARS = {"numeric": ("numeric part", 2), "whole": ("with analysis", 4), "solve": ("solve", 1.5)}
PAPER = {"shared": 0.74, "vect": 0.90, "adapt": 1.01}  # Table III of Freire, Dufrechou and Ezzatti
COLOURS = ("#1b6ca8", "#e08e0b", "#7a7a7a")


def on_the_grid():
    """The milliseconds of struct_ilu on star7 with 128^3 points, one triangle stored."""
    cases = json.loads((HERE / "h200/levels.json").read_text(encoding="utf-8"))["cases"]
    kernels = next(c["kernels"] for c in cases if c["n"] == 128 and c["stencil"] == "star7" and c["symmetric"])
    ms = {name: 1e3 * kernel["seconds"]["median"] for name, kernel in kernels.items()}
    return {"numeric": ms["factorise"], "solve": ms["lower"] + ms["upper"]}


def draw_structure(axes, systems):
    system = next(s for s in systems if (s.name, s.order) == ("star7-128", "natural"))
    grid = on_the_grid()
    rows = {"struct_ilu, on the grid": grid, "sync_free_ilu, general": {k: 1e3 * v for k, v in system.ours.items()},
            "cuSPARSE's best": {k: 1e3 * v[1] for k, v in system.cusparse.items()}}
    for at, (name, times) in enumerate(rows.items()):
        places = [place + 0.27 * (at - 1) for place in range(2)]
        bars = axes.bar(places, [times["numeric"], times["solve"]], 0.25, label=name, color=COLOURS[at])
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
        print(f"star7 128^3, {name}: numeric part {times['numeric']:.2f} ms, both solves {times['solve']:.2f} ms")
    axes.set_xticks(range(2), ["numeric part", "solve with both triangles"])
    axes.set_ylabel("ms")
    axes.set_title("What structure buys: star7, 128³, natural order", fontsize=9)
    axes.legend(fontsize=7)


def draw_ratios(axes, systems):
    for at, (what, (title, bar)) in enumerate(BARS.items()):
        places = [place + 0.27 * (at - 1) for place in range(len(systems))]
        axes.bar(places, [system.ratio(what) for system in systems], 0.25, color=COLOURS[at],
                 label=f"{title} (aim: {bar} on the geometric mean)")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.set_xticks(range(len(systems)), [f"{s.name}\n{s.order}" for s in systems], rotation=90, fontsize=7)
    axes.set_title("cuSPARSE's best time over that of sync_free_ilu", fontsize=9)
    axes.legend(fontsize=7)


def draw_variants(axes, published):
    names = (*general_bars.PUBLISHED, "auto")
    for at, name in enumerate(names):
        ratios = [system.ratio(name) for system in published if name in system.ours]
        axes.plot([at] * len(ratios), ratios, "o", color=COLOURS[0], markersize=4,
                  label="each system, one H200" if at == 0 else None)
        axes.plot([at - 0.25, at + 0.25], [sum(ratios) / len(ratios)] * 2, color=COLOURS[0],
                  label="average" if at == 0 else None)
        if name in PAPER:
            axes.plot([at - 0.25, at + 0.25], [PAPER[name]] * 2, color=COLOURS[1],
                      label="the paper's average, RTX 3090 Ti" if at == 0 else None)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylim(0)
    axes.set_xticks(range(len(names)), names)
    axes.set_title("csrilu02's time over that of the paper's variants", fontsize=9)
    axes.legend(fontsize=7)


def main(words):
    systems = general_bars.read(HERE / "general")
    figure, axes = plt.subplot_mosaic([["structure", "variants"], ["ratios", "ratios"]], figsize=(9, 7.5),
                                      height_ratios=[1, 1.2], layout="constrained")
    draw_structure(axes["structure"], systems)
    draw_variants(axes["variants"], general_bars.read_published(HERE / "general"))
    draw_ratios(axes["ratios"], systems)
    figure.savefig(words[0] if words else HERE / "general.png", dpi=110)


if __name__ == "__main__":
    main(sys.argv[1:])
