#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every test that needs a GPU to its end, on a machine with one, in calls of a few minutes: run it again until it
# ends with 0 (all passed) or 1 (all ended, some failed). Code 75 says that tests are left for the next call.
#   tests/gpu/run_all.sh [--build build/release] [--jobs 16] [--minutes 8.5] [--only precond,apps] [--fresh]
#   tests/gpu/run_all.sh sanitize     compute-sanitizer's memcheck, racecheck and synccheck on the tests of sanitize.txt
# --help names the other options. Results: build/gpu-results/summary.md, and a copy in $OUT where that is set.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/run_all.py" "$@"
