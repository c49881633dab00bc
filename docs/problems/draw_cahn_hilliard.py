#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws cahn_hilliard.png: a copolymer in a homopolymer from random fields, and its energy.

usage: draw_cahn_hilliard.py PROGRAM [PICTURE]
"""
import pathlib
import subprocess
import sys
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CELLS = 96
DECK = f"""
[problem]
name = cahn_hilliard
initial_condition = random
scheme = avf
[grid]
cells = {CELLS} {CELLS} 1
[time]
time_step = 5e-4
steps = 400
[newton]
rtol = 1e-6
[solver]
name = gmres
rtol = 1e-3
[preconditioner]
name = struct_ilu
[output]
fields = true
"""


def draw(program, picture):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "deck.ini").write_text(DECK)
        subprocess.run([program, "run", "deck.ini", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with h5py.File(folder / "deck.vtkhdf") as file:
            fields = {field: file[f"VTKHDF/PointData/{field}"][()].reshape(-1, CELLS, CELLS)[0] for field in "uv"}
        with h5py.File(folder / "deck.h5") as file:
            time, energy = file["diagnostics/time"][()], file["diagnostics/energy"][()]
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    side = 0.016 * CELLS
    for panel, (field, values) in zip(panels, fields.items()):
        image = panel.imshow(values, origin="lower", extent=(0, side, 0, side), cmap="coolwarm", vmin=-1.2, vmax=1.2)
        panel.set(title=f"{field}, t = {time[-1]:.3g}", xlabel="x")
        figure.colorbar(image, ax=panel, shrink=0.8)
    panels[2].semilogx(time[1:], energy[1:], "k-")
    panels[2].set(title="energy E", xlabel="t")
    figure.savefig(picture, dpi=85)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    draw(str(pathlib.Path(sys.argv[1]).resolve()),
         sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("cahn_hilliard.png"))
