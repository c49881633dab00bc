#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, runs:  ./run.sh VERB ...   or   ./run.sh DECK.ini ...  for  run DECK.ini
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
came_from=$PWD
cd "$here"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

install_missing "${program_packages[@]}"
build release hyperplane

cd "$came_from"
program=$here/build/release/apps/hyperplane
if [ $# -eq 0 ]; then exec "$program" --help; fi
if [ -f "$1" ] || [[ $1 == *.ini ]]; then exec "$program" run "$@"; fi
exec "$program" "$@"
