#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How Jacobi sweeps converge on each triangle of a preconditioner's factors, with a right-hand side of ones from x = 0:
# Figures 2 and 3 of Anzt, Chow and Dongarra (Euro-Par 2015).
#   docs/results/triangle_sweeps.sh PROGRAM DECK FOLDER [SETTING...]
# The factors L and U of M = L D U, both with ones on the diagonal, are exported to FOLDER. Richardson's iteration is one
# sweep after the other: with the diagonal as preconditioner a synchronous one, with one sweep of jacobi_sweeps a
# block-asynchronous one, whose blocks begin forward or backward. Its residuals are in FOLDER/L.h5, L_forward.h5 and so
# on, their pictures in .png files beside. A table of ||b - T x|| / ||b|| after each number of sweeps is printed. It needs Python
# with h5py (PYTHON names another one than python3). Variables of the environment: BACKEND, cpu or cuda; THREADS of a
# CPU, on one of which blocks follow each other strictly; MOST, the largest number of sweeps; GRID, "nx ny nz", the grid
# on whose points the rows lie in natural order: the sweeps are then those of structured matrices.
#   docs/results/triangle_sweeps.sh build/release/apps/hyperplane inputs/paper/lap.ini sweeps matrix.format=general
set -euo pipefail
[ $# -ge 3 ] || { sed -n '3,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
program=$(realpath "$1") deck=$2 folder=$3
shift 3
settings=()
for setting in "$@"; do settings+=(--set "$setting"); done
mkdir -p "$folder"
"$program" export "$deck" --factors --force --quiet --output "$folder" "${settings[@]}"
cd "$folder"
if [ -n "${GRID:-}" ]; then
    "${PYTHON:-python3}" - $GRID >ones.mtx <<'PYTHON'
import math
import sys

rows = math.prod(map(int, sys.argv[1:]))
print("%%MatrixMarket matrix array real general", f"{rows} 1", *["1"] * rows, sep="\n")
PYTHON
fi
for triangle in L U; do
    for way in sync forward backward; do
        name=${triangle}_$way
        [ "$way" != sync ] || name=$triangle
        problem="name = matrix
file = $triangle.mtx
right_hand_side = ones"
        [ -z "${GRID:-}" ] || problem="name = matrix_market
matrix = $triangle.mtx
right_hand_side = ones.mtx
[grid]
cells = $GRID"
        keys="name = jacobi_sweeps
lower_sweeps = 1
upper_sweeps = 1
mode = block_async
block_order = $way"
        [ "$way" != sync ] || keys="name = jacobi"
        cat >"$name.ini" <<DECK
[problem]
$problem
[solver]
name = richardson
rtol = 1e-12
max_iterations = ${MOST:-1000}
[preconditioner]
$keys
[output]
file = $name.h5
${THREADS:+[device]
threads = $THREADS}
DECK
        "$program" run "$name.ini" --backend "${BACKEND:-cpu}" --force --quiet >"$name.txt" || [ $? -eq 3 ]
        "$program" plot "$name.h5" residual --force --output "$name.png" >/dev/null
    done
done
"${PYTHON:-python3}" - <<'PYTHON'
import h5py

names = [f"{triangle}{way}" for triangle in "LU" for way in ("", "_forward", "_backward")]
found = {name: h5py.File(f"{name}.h5")["history/rel_res_true"][:] for name in names}
print(f"{'sweeps':>6}", *(f"{name:>10}" for name in names))
for sweep in range(max(map(len, found.values()))):
    print(f"{sweep:>6}", *(f"{values[sweep]:>10.2e}" if sweep < len(values) else f"{'':>10}" for values in found.values()))
PYTHON
