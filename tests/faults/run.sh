#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Damages what the program reads, stops and starves it, and counts what it does about that.
#   tests/faults/run.sh              a few minutes
#   tests/faults/run.sh --long       hours: 10,000 damaged records and more of everything
#   tests/faults/run.sh --write      also puts the table into docs/reliability.md
# Other arguments go to faults.py (--only records, --seed 7). $HYPERPLANE names the program, else that of build/release.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export HYPERPLANE=${HYPERPLANE:-$here/../../build/release/apps/hyperplane}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" -B "$here/faults.py" "$@"
