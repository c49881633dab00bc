#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Does what the Dockerfile does, without a container: two bare Debian 12 systems stand for its two images, and its own RUN
# lines are run in them. Then runs decks with the program of the second one.
#   packaging/containers/check.sh [FOLDER]
# FOLDER keeps the systems for the next time (default: a folder that is removed). Takes as long as a build. Needs root,
# debootstrap and Debian's packages; exit code 77 says what is missing.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
recipe=$source/packaging/containers/Dockerfile
scratch=$(mktemp -d)
folder=${1:-$scratch}

source "$source/packaging/bare_system.sh"
tidy_up() {
    unmount "$folder/build/proc" "$folder/final/proc"
    rm -rf "$scratch"
}
trap tidy_up EXIT
need_bare_systems

# The RUN lines of a stage of the Dockerfile, which is counted from 1.
steps() {
    awk -v stage="$2" '/^FROM/ { at++ } at == stage' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | sed -n 's/^RUN //p'
}

bare "$folder/build"
say "first image"
mkdir -p "$folder/build/source"
find "$folder/build/source" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +  # what was compiled before stays
rm -rf "$folder/build/packages"
git -C "$source" ls-files -z | tar -C "$source" --null -T - -c | tar -C "$folder/build/source" -x
steps "$recipe" 1 | while read -r step; do
    say "$step"
    inside "$folder/build" "$step" >"$scratch/build.log" 2>&1 || { tail -n 30 "$scratch/build.log"; exit 1; }
done

bare "$folder/final"
say "second image"
cp "$folder"/build/packages/hyperplane_*.deb "$folder/final/tmp/"
steps "$recipe" 2 | while read -r step; do
    say "$step"
    inside "$folder/final" "$step" >"$scratch/final.log" 2>&1 || { tail -n 30 "$scratch/final.log"; exit 1; }
done

say "run"
rm -rf "$folder/final/work"
mkdir -p "$folder/final/work"
cp "$source"/inputs/{poisson,navier_stokes}.ini "$folder/final/work/"
inside "$folder/final" "cd /work && /usr/bin/hyperplane --version && /usr/bin/hyperplane run poisson.ini 2>&1 | tail -n 4 && \
    /usr/bin/hyperplane run navier_stokes.ini 2>&1 | tail -n 4 && /usr/bin/hyperplane report poisson.h5 && \
    ! ldd /usr/bin/hyperplane | grep 'not found'"
say "the steps of both images work"
