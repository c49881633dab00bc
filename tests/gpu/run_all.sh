#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every test that needs a GPU to its end, on a machine with one, in parts for machines with a time limit: run it again
# until it ends with 0 (all passed) or 1 (all ended, some failed or were skipped for a reason that is not in skips.txt).
# Code 75 says that tests are left for the next part.
#   tests/gpu/run_all.sh [--build build/release] [--jobs 16] [--minutes 8.5] [--only precond,apps] [--fresh] [--copy-to DIR]
#   tests/gpu/run_all.sh sanitize     compute-sanitizer's memcheck, racecheck and synccheck on the tests of sanitize.txt
# --help names the other options. Results: build/gpu-results/summary.md.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/run_all.py" "$@"
