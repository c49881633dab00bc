# SPDX-License-Identifier: BSD-3-Clause
"""Draws navier_stokes.png and artificial_compressibility.png: cavities beside the literature.

usage: draw_flows.py PROGRAM FOLDER    FOLDER is where the pictures go
"""

import pathlib
import subprocess
import sys
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALIDATION = ROOT / "inputs" / "validation"
sys.path.insert(0, str(ROOT / "tests" / "apps"))
import flow_tables as tables  # noqa: E402


def solve(program, deck, *settings):
    """The fields of a run, [z, y, x]."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word for text in settings for word in ("--set", text)]
        subprocess.run([program, "run", str(VALIDATION / deck), "--quiet", "--fresh", "--set", "output.file=flow.h5",
                        "--set", "output.fields=true", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with h5py.File(pathlib.Path(folder) / "flow.vtkhdf") as file:
            return tables.fields_by_letter(file["VTKHDF/PointData"])


def draw_flow(axes, across, x, y, u, v, title):
    """Speed, with lines along the flow."""
    drawn = axes.contourf(x, y, numpy.hypot(u, v), levels=numpy.linspace(0, 1, 21), cmap="viridis")
    axes.streamplot(x, y, u, v, color="white", linewidth=.6, density=1.3, arrowsize=.6)
    axes.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), title=title, xlabel="x", ylabel=across)
    return drawn


def draw_profiles(axes, curves, where, table, source, across):
    for values, coordinates, label in curves:
        axes.plot(values, coordinates, label=label)
    axes.plot(table, where, "k.", label=source)
    axes.set(title="u on the centre line", xlabel="u", ylabel=across)
    axes.legend(fontsize=8)
    axes.grid(alpha=.3)


def navier_stokes(program, path):
    plane = {re: solve(program, f"cavity_plane_{re}.ini") for re in (100, 400, 1000)}
    cubic = solve(program, "cavity_cubic_1000.ini")
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    y = numpy.linspace(0, 1, 65)
    drawn = draw_flow(left, "y", y, y, plane[1000]["u"][0], plane[1000]["v"][0],
                      "plane cavity, Re 1000, 65 x 65 nodes")
    figure.colorbar(drawn, ax=left, label="|u|", ticks=[0, .5, 1])
    for re, fields in plane.items():
        line, = middle.plot(tables.line(fields["u"], 1, (.5, 0.)), y, label=f"Re {re}")
        middle.plot(tables.GHIA_U[re], tables.GHIA_Y, ".", color=line.get_color())
    middle.set(title="u on x = 1/2, points: Ghia et al. 1982", xlabel="u", ylabel="y")
    middle.legend(fontsize=8)
    middle.grid(alpha=.3)
    z = numpy.linspace(0, 1, cubic["u"].shape[0])
    draw_profiles(right, [(tables.line(cubic["u"], 2, (.5, 1.)), z, "33 nodes")], tables.CUBIC_Z, tables.CUBIC_U,
                  "Albensoeder and Kuhlmann 2005", "z")
    right.set_title("cubic cavity, Re 1000: u on its axis")
    figure.savefig(path, dpi=80)


def artificial_compressibility(program, path):
    cells = 64
    fields = solve(program, "cavity_volumes.ini", f"grid.cells={cells} {cells} 1")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.9), layout="constrained")
    centres = (numpy.arange(cells) + .5) / cells
    drawn = draw_flow(left, "y", centres, centres, fields["u"][0], fields["v"][0],
                      "plane cavity, Re 100, 64 x 64 cells")
    figure.colorbar(drawn, ax=left, label="|u|", ticks=[0, .5, 1])
    draw_profiles(right, [(tables.line(fields["u"], 1, (.5, 0.)), centres, "64 cells")], tables.GHIA_Y,
                  tables.GHIA_U[100], "Ghia et al. 1982", "y")
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    navier_stokes(program, folder / "navier_stokes.png")
    artificial_compressibility(program, folder / "artificial_compressibility.png")
