#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws euler.png: Sod's shock tube beside the exact solution, and a blast between walls.

usage: draw_euler.py PROGRAM [PICTURE]
"""
import pathlib
import subprocess
import sys
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DECK = """
[problem]
name = euler
[newton]
rtol = 1e-4
[solver]
name = gmres
rtol = 1e-2
[preconditioner]
name = struct_ilu
[output]
fields = true
"""


def density(program, folder, name, settings):
    """The final density of a run, axes (z, y, x)."""
    (folder / "deck.ini").write_text(DECK)
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    subprocess.run([program, "run", "deck.ini", "--quiet", "--set", f"output.file={name}.h5", *arguments],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with h5py.File(folder / f"{name}.vtkhdf") as file:
        return file["VTKHDF/PointData/density"][()]


def exact_tube(x, t=0.2):
    """Density of Sod's tube, membrane at 0.5: rarefaction, contact and shock (Toro, chapter 4)."""
    g, p, u = 1.4, 0.303130, 0.927453
    left, right = np.sqrt(g), np.sqrt(g * 0.1 / 0.125)
    behind_left, behind_right = p ** (1 / g), 0.125 * (p / 0.1 + 1 / 6) / (p / 0.1 / 6 + 1)
    shock = right * np.sqrt((g + 1) / (2 * g) * p / 0.1 + (g - 1) / (2 * g))
    s = (x - 0.5) / t
    fan = np.clip(2 / (g + 1) - (g - 1) / ((g + 1) * left) * s, 0, None) ** (2 / (g - 1))
    tail = u - left * p ** ((g - 1) / (2 * g))
    return np.select([s < -left, s < tail, s < u, s < shock], [1.0, fan, behind_left, behind_right], 0.125)


def draw(program, picture):
    figure, (tube, blast) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fine = np.linspace(0, 1, 2000)
        tube.plot(fine, exact_tube(fine), "k-", linewidth=1, label="exact")
        for flux, marker in (("hllc", "o"), ("rusanov", "s")):
            rho = density(program, folder, flux, ["problem.case=sod", f"problem.flux={flux}", "grid.cells=100 1 1",
                                                  "problem.limiter_epsilon=1e-6", "time.scheme=bdf2",
                                                  "time.cfl=0.5", "time.end_time=0.2"])
            line = rho.reshape(-1, 100)[0]
            tube.plot((np.arange(100) + 0.5) / 100, line, marker, markersize=3, fillstyle="none", label=flux)
        rho = density(program, folder, "blast", ["problem.case=blast", "grid.cells=128 128 1", "time.cfl=1",
                                                 "time.end_time=0.15"])
        image = blast.imshow(rho.reshape(-1, 128, 128)[0], origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
    tube.set(xlabel="x", ylabel="density", title="Sod's tube, t = 0.2, 100 cells")
    tube.legend(frameon=False)
    blast.set(xlabel="x", ylabel="y", title="blast between walls, t = 0.15")
    figure.colorbar(image, ax=blast, label="density")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    draw(str(pathlib.Path(sys.argv[1]).resolve()),
         sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("euler.png"))
