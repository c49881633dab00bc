#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what the long runs of cahn_hilliard are for, from the records they left.

usage: evaluate_mixtures.py coarsening RECORD.h5 [FIRST LAST]    exponent of the energy between two times
       evaluate_mixtures.py lamellae RECORD.h5                   period, from the fields beside the record

The exponent is the slope of log E over log t, fitted over times evenly spread in log t (0.25 to 2.5 unless given). The
period is 2 pi over the mean wave number, weighted with the power spectrum of u less its mean. Exit code 1 where a figure
is outside of what is expected: an exponent of -0.38 to -0.26, a period within 15 % of (96 gamma / sigma)^(1/3), gamma =
2 sqrt(2) / 3 epsilon.
"""
import pathlib
import sys

import h5py
import numpy

EXPONENTS = (-0.38, -0.26)
TOLERANCE = 0.15


def energy(record):
    with h5py.File(record) as file:
        return file["diagnostics/time"][()], file["diagnostics/energy"][()]


def exponent(record, first, last):
    time, values = energy(record)
    if time[-1] < last * (1 - 1e-9):
        sys.exit(f"{record}: ends at t = {time[-1]:g}, before {last:g}")
    at = numpy.geomspace(first, last, 41)
    sampled = numpy.interp(at, time, values)
    return numpy.polyfit(numpy.log(at), numpy.log(sampled), 1)[0]


def parameters(record):
    with h5py.File(record) as file:
        text = file["deck/resolved"].asstr()[()]
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.split(";")[0].strip() for key, value in pairs}


def first_maximum(lengths, power):
    """The wave number with the largest power, summed over rings."""
    width = lengths[0, 1]
    rings = numpy.bincount((lengths / width + 0.5).astype(int).ravel(), power.ravel())
    return numpy.argmax(rings) * width


def period(record):
    with h5py.File(pathlib.Path(record).with_suffix(".vtkhdf")) as file:
        u, spacing = file["VTKHDF/PointData/u"][0], file["VTKHDF"].attrs["Spacing"]
    power = numpy.abs(numpy.fft.fft2(u - u.mean())) ** 2
    waves = [2 * numpy.pi * numpy.fft.fftfreq(n, h) for n, h in zip(u.shape, (spacing[1], spacing[0]))]
    lengths = numpy.hypot(waves[0][:, None], waves[1][None, :])
    resolved = lengths < 2 * first_maximum(lengths, power)  # not the harmonics of steep walls
    return 2 * numpy.pi * power[resolved].sum() / (power * lengths)[resolved].sum()


def main(words):
    if len(words) in (2, 4) and words[0] == "coarsening":
        first, last = (float(word) for word in words[2:]) if len(words) == 4 else (0.25, 2.5)
        found = exponent(words[1], first, last)
        print(f"exponent of the energy, t = {first:g} to {last:g}: {found:.3f}; expected {EXPONENTS[0]} to {EXPONENTS[1]}")
        return int(not EXPONENTS[0] <= found <= EXPONENTS[1])
    if len(words) == 2 and words[0] == "lamellae":
        deck = parameters(words[1])
        gamma = 2 * 2**0.5 / 3 * float(deck["epsilon_u"])
        expected = (96 * gamma / float(deck["sigma"])) ** (1 / 3)
        found = period(words[1])
        print(f"period of the lamellae: {found:.3f}; expected {expected:.3f} within {TOLERANCE:.0%}")
        return int(abs(found / expected - 1) > TOLERANCE)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
