#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# record_seeds.sh PROGRAM FOLDER: writes a small record and a small comparison into the folder, with their seals and without.
set -eu
program=$1
mkdir -p "$2"
cd "$2"
printf '[problem]\nname = poisson\n[grid]\ncells = 3\n' >deck.txt
"$program" run deck.txt --quiet --threads 1 --force --set output.file=record.h5
"$program" compare deck.txt --quiet --threads 1 --force --preconditioners jacobi --solvers cg -o comparison.h5
for name in record comparison; do
    dd if=$name.h5 of=$name.unsealed.h5 bs=512 skip=1 2>/dev/null
done
rm -f deck.txt ./*.lock
