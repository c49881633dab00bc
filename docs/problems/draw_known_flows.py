#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws known_flows.png: flows whose solution is known, from the decks in inputs/validation/.

usage: draw_known_flows.py PROGRAM [PICTURE]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

DECKS = pathlib.Path(__file__).resolve().parents[2] / "inputs/validation"


class Runs:
    """Runs of decks in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, deck, *settings):
        """Norms of the error; the fields lie in run.vtkhdf."""
        words = [word for text in (*settings, "output.fields=true", "output.file=run.h5") for word in ("--set", text)]
        words += ["--set", "expect.min_error=0", "--set", "expect.max_error=1"] if "euler" in deck else []
        done = subprocess.run([self.program, "run", str(DECKS / deck), "--quiet", "--fresh", "--json", *words],
                              cwd=self.folder, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{deck}: exit code {done.returncode}")
        return json.loads(done.stdout)["errors"]

    def layer(self, name, share):
        """A field's layer at a share of the height, [y, x]."""
        with h5py.File(self.folder / "run.vtkhdf") as file:
            fields = file["VTKHDF/PointData"]
            values = fields["velocity"][..., 0] if name == "u" else fields[name][()]
        return values[int(share * (len(values) - 1))]


def show(figure, panel, values, title, extent):
    image = panel.imshow(values, origin="lower", extent=extent, cmap="RdBu_r")
    panel.set(title=title, xlabel="x")
    figure.colorbar(image, ax=panel, shrink=0.8)


def draw(program, picture):
    orders = {}
    figure, panels = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(program, pathlib.Path(name))

        def refine(title, deck, norm, intervals, setting):
            orders[title] = ([1 / n for n in intervals], [runs.run(deck, setting(n))[norm] for n in intervals])

        refine("Kovasznay, u", "kovasznay.ini", "velocity_rms", (16, 32), lambda n: f"grid.cells={n + 1} {n + 1} 3")
        show(figure, panels[0], runs.layer("u", 0), "Kovasznay: u", (0, 1, -0.3, 0.7))
        refine("Ethier, Steinman, u", "ethier_steinman.ini", "velocity_rms", (8, 16), lambda n: f"grid.cells={n + 1}")
        show(figure, panels[1], runs.layer("u", 0.5), "Ethier, Steinman: u on z = 1/2", (0, 1, 0, 1))
        refine("vortex, density", "euler_vortex_third.ini", "l1", (40, 80), lambda n: f"grid.cells={n} {n} 1")
        show(figure, panels[2], runs.layer("density", 0), "vortex: density, t = 2", (0, 10, 0, 10))
    for title, (h, errors) in orders.items():
        panels[3].loglog(h, errors, "o-", label=f"{title}: {numpy.log2(errors[0] / errors[1]):.2f}")
    panels[3].set(title="error, and its order", xlabel="h over the side")
    panels[3].legend(fontsize=7)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    draw(str(pathlib.Path(sys.argv[1]).resolve()),
         sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("known_flows.png"))
