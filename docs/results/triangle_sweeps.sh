#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How Jacobi sweeps converge on each triangle of a preconditioner's factors, with a right-hand side of ones from x = 0:
# Figures 2 and 3 of Anzt, Chow and Dongarra (Euro-Par 2015), on a CPU.
#   docs/results/triangle_sweeps.sh PROGRAM DECK FOLDER [SETTING...]
# The factors L and U of M = L D U, both with ones on the diagonal, are exported to FOLDER. Richardson's iteration with
# the diagonal as preconditioner is one Jacobi sweep after the other; its residuals are in FOLDER/L.h5 and U.h5, their
# pictures in FOLDER/L.png and U.png. A table of ||b - T x|| / ||b|| after each number of sweeps is printed. It needs
# Python with h5py (PYTHON names another one than python3).
#   docs/results/triangle_sweeps.sh build/release/apps/hyperplane inputs/paper/lap.ini sweeps matrix.format=general
set -euo pipefail
[ $# -ge 3 ] || { sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
program=$(realpath "$1") deck=$2 folder=$3
shift 3
settings=()
for setting in "$@"; do settings+=(--set "$setting"); done
mkdir -p "$folder"
"$program" export "$deck" --factors --force --quiet --output "$folder" "${settings[@]}"
cd "$folder"
for triangle in L U; do
    cat >"$triangle.ini" <<DECK
[problem]
name = matrix
file = $triangle.mtx
right_hand_side = ones
[solver]
name = richardson
rtol = 1e-12
max_iterations = 1000
[preconditioner]
name = jacobi
[output]
file = $triangle.h5
DECK
    "$program" run "$triangle.ini" --backend cpu --force --quiet >"$triangle.txt"
    "$program" plot "$triangle.h5" residual --force --output "$triangle.png" >/dev/null
done
"${PYTHON:-python3}" - <<'PYTHON'
import h5py

found = {name: h5py.File(f"{name}.h5")["history/rel_res_true"][:] for name in "LU"}
print(f"{'sweeps':>6} {'L':>10} {'U':>10}")
for sweep in range(max(map(len, found.values()))):
    print(f"{sweep:>6}", *(f"{values[sweep]:>10.2e}" if sweep < len(values) else f"{'':>10}" for values in found.values()))
PYTHON
