#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How Jacobi sweeps converge on each triangle of a preconditioner's factors, with a right-hand side of ones from x = 0:
# Figures 2 and 3 of Anzt, Chow and Dongarra (Euro-Par 2015).
#   docs/results/triangle_sweeps.sh PROGRAM DECK FOLDER [SETTING...]
# `hyperplane bench sweeps` records synchronous sweeps and block-asynchronous ones, whose blocks begin forward or
# backward, in FOLDER/sync.json, forward.json and backward.json. A table of ||b - T x|| / ||b|| after each number of
# sweeps is printed, down to 1e-12, and drawn in FOLDER/sweeps.png. It needs Python with matplotlib (PYTHON names another
# one than python3). Variables of the environment: BACKEND, cpu or cuda; THREADS of a CPU, on one of which blocks follow
# each other strictly; MOST, the largest number of sweeps.
#   docs/results/triangle_sweeps.sh build/release/apps/hyperplane inputs/paper/lap.ini sweeps matrix.format=general
set -euo pipefail
[ $# -ge 3 ] || { sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
program=$(realpath "$1") deck=$2 folder=$3
shift 3
settings=(--set preconditioner.name=jacobi_sweeps --set solver.name=fgmres)
# A set-up refuses as many sweeps as diverge, so the deck's own are one.
settings+=(--set preconditioner.lower_sweeps=1 --set preconditioner.upper_sweeps=1)
for setting in "$@" ${THREADS:+"device.threads=$THREADS"}; do settings+=(--set "$setting"); done
mkdir -p "$folder"
for way in sync forward backward; do
    keys=()
    [ "$way" = sync ] || keys=(--set preconditioner.mode=block_async --set "preconditioner.block_order=$way")
    "$program" bench sweeps "$deck" --backend "${BACKEND:-cpu}" "${settings[@]}" "${keys[@]}" --sweeps "${MOST:-1000}" \
        --force --json "$folder/$way.json" >"$folder/$way.txt"
done
"${PYTHON:-python3}" - "$folder" <<'PYTHON'
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

folder = pathlib.Path(sys.argv[1])
ways = {way: json.loads((folder / f"{way}.json").read_text())["decks"][0] for way in ("sync", "forward", "backward")}
found = {}
for triangle, key in (("L", "lower"), ("U", "upper")):
    for way, record in ways.items():
        values = record[key]["residual"]
        enough = next((at for at, value in enumerate(values) if value <= 1e-12), len(values) - 1)
        found[triangle if way == "sync" else f"{triangle}_{way}"] = values[:enough + 1]
print(f"{'sweeps':>6}", *(f"{name:>10}" for name in found))
for sweep in range(max(map(len, found.values()))):
    print(f"{sweep:>6}", *(f"{values[sweep]:>10.2e}" if sweep < len(values) else f"{'':>10}" for values in found.values()))
print("levels:", ", ".join(f"{name} {ways['sync'][key]['levels']}" for name, key in (("L", "lower"), ("U", "upper"))))
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axis, triangle in zip(axes, "LU"):
    for name, values in found.items():
        if name.startswith(triangle):
            axis.semilogy(range(len(values)), values, label=name.partition("_")[2] or "synchronous")
    axis.set_xlabel(f"sweeps on {triangle}")
    axis.legend()
axes[0].set_ylabel("||b - T x|| / ||b||")
figure.savefig(folder / "sweeps.png", dpi=150)
PYTHON
