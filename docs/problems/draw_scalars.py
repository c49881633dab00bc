#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws poisson.png and convection_diffusion.png: orders of the schemes, and fields.

usage: draw_scalars.py PROGRAM [FOLDER]
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

NODES = (17, 33, 65)


class Runs:
    """Runs of the program in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, deck, fields=False):
        text = deck + ("[output]\nfields = true\n" if fields else "")
        (self.folder / "deck.ini").write_text(text)
        done = subprocess.run([self.program, "run", "deck.ini", "--quiet", "--fresh", "--json"], cwd=self.folder,
                              stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode} of\n{text}")
        return json.loads(done.stdout)

    def error(self, deck):
        return self.run(deck)["errors"]["max"]

    def field(self, deck):
        """u of the lowest layer, [y, x]."""
        self.run(deck, fields=True)
        with h5py.File(self.folder / "deck.vtkhdf") as file:
            image = file["VTKHDF"]
            return next(image[kind]["u"][0] for kind in ("PointData", "CellData") if "u" in image.get(kind, ()))


def deck(problem, nodes, solver="gmres", rtol=1e-10, time=""):
    cells = nodes if isinstance(nodes, str) else f"{nodes}"
    return (f"[problem]\n{problem}\n[grid]\ncells = {cells}\n{time}[solver]\nname = {solver}\nrtol = {rtol}\n"
            "[preconditioner]\nname = struct_ilu\n")


def draw_orders(panel, errors, slopes):
    h = [1 / (n - 1) for n in NODES]
    for name, values in errors.items():
        panel.loglog(h, values, "o-", label=name)
    for order, at in slopes:
        panel.loglog(h, [at * (x / h[0]) ** order for x in h], "k:", linewidth=0.8)
        panel.annotate(f"order {order}", (h[-1], at * (h[-1] / h[0]) ** order), fontsize=7)
    panel.set(xlabel="h", title="largest error", xticks=h, xticklabels=[f"1/{n - 1}" for n in NODES])
    panel.minorticks_off()
    panel.legend(fontsize=7)


def draw_field(figure, panel, values, title, **look):
    image = panel.imshow(values, origin="lower", extent=(0, 1, 0, 1), **look)
    panel.set(title=title, xlabel="x", ylabel="y")
    figure.colorbar(image, ax=panel, shrink=0.8)


def poisson(runs, picture):
    node = "name = poisson\nright_hand_side = "
    errors = {"star7, u = -x exp(y + z)": [runs.error(deck(node + "manuexp", n, "cg")) for n in NODES]}
    for kind in ("q1", "mehr"):
        problem = f"{node}manusin\nstencil = box27\nbox27_weights = {kind}"
        errors[f"box27, {kind}"] = [runs.error(deck(problem, n, "cg")) for n in NODES]
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    draw_orders(panels[0], errors, [(2, 1.2e-4), (4, 5e-4)])
    cells = "name = poisson\ndiscretisation = cell\nright_hand_side = ones\ncoefficient = "
    for panel, (kind, title) in zip(panels[1:], (("lognormal", "u, K random over decades"),
                                                 ("checker", "u, K = 1 and 1e6 in turns"))):
        draw_field(figure, panel, runs.field(deck(cells + kind, "128 128 1", "cg", 1e-6)), title, cmap="viridis")
    figure.savefig(picture, dpi=85)


def convection_diffusion(runs, picture):
    known = ("name = convection_diffusion\nregime = steady\nwind = const\nwind_velocity = 1 1 1\nviscosity = 0.05\n"
             "right_hand_side = manuexp\nscheme = ")
    errors = {name: [runs.error(deck(known + name, n)) for n in NODES] for name in ("upwind", "central", "sg")}
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    draw_orders(panels[0], errors, [(1, 3e-2), (2, 8e-4)])
    turn = "name = convection_diffusion\nwind = rotate\nviscosity = 1e-4\nscheme = "
    time = f"[time]\nscheme = bdf2\nend_time = {numpy.pi / 4}\ncfl = 2\n"  # the wind turns by 2 a unit of time
    for panel, name in zip(panels[1:], ("upwind", "sg")):
        draw_field(figure, panel, runs.field(deck(turn + name, "161 161 1", rtol=1e-6, time=time)),
                   f"u after a quarter turn, {name}", cmap="magma_r", vmin=0, vmax=0.8)
    figure.savefig(picture, dpi=85)


def main(program, folder):
    with tempfile.TemporaryDirectory() as scratch:
        runs = Runs(program, pathlib.Path(scratch))
        poisson(runs, folder / "poisson.png")
        convection_diffusion(runs, folder / "convection_diffusion.png")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(str(pathlib.Path(sys.argv[1]).resolve()),
         pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent)
