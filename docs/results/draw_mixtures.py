#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws mixtures.png: the long runs of cahn_hilliard, from the records they left and the fields beside them.

usage: draw_mixtures.py LAMELLAE.h5 COARSENING.h5 [PICTURE]
"""
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

import evaluate_mixtures as evaluate


def main(lamellae, coarsening, picture):
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    with h5py.File(pathlib.Path(lamellae).with_suffix(".vtkhdf")) as file:
        u, spacing = file["VTKHDF/PointData/u"][0], file["VTKHDF"].attrs["Spacing"]
    sides = (0, spacing[0] * u.shape[1], 0, spacing[1] * u.shape[0])
    image = panels[0].imshow(u, origin="lower", extent=sides, cmap="coolwarm", vmin=-1.1, vmax=1.1)
    panels[0].set(title=f"lamellae, period {evaluate.period(lamellae):.3f}", xlabel="x")
    figure.colorbar(image, ax=panels[0], shrink=0.8)

    time, energy = evaluate.energy(coarsening)
    first, last = 0.25, min(2.5, time[-1])
    slope = evaluate.exponent(coarsening, first, last)
    at = numpy.array([first, last])
    middle = numpy.interp(numpy.sqrt(first * last), time, energy)
    panels[1].loglog(time[1:], energy[1:], "k-", label="energy E")
    panels[1].loglog(at, 1.1 * middle * (at / numpy.sqrt(first * last)) ** slope, "r--", label=f"slope {slope:.3f}")
    panels[1].set(title="coarsening", xlabel="t")
    panels[1].legend()
    figure.savefig(picture, dpi=85)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2],
         sys.argv[3] if len(sys.argv) > 3 else pathlib.Path(__file__).with_name("mixtures.png"))
