# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of unrestarted GMRES with ILU(k) of general matrices: this program's beside PETSc's.

    HYPERPLANE=build/release/apps/hyperplane tests/peers/compare_general.py [--levels 0 1] [--markdown] [FILE.mtx ...]

Each family of general_families.py and each given Matrix Market file, with b = A 1 and x0 = 0, to ||b - A x|| <= 1e-8
||b||; the preconditioner from the right. PETSc: tests/peers/petsc_general.cpp of the same build folder, which has PCILU
in natural order without any shift, and GMRES with Gram-Schmidt twice. PETSc stops by the recurrence, and here the true
residual decides, too: where counts differ, both of PETSc's residuals are printed. Exits with 1 if any counts differ, and
with 77 where petsc_general is not built.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from general_families import FAMILIES, matrix_market

DECK = """
[problem]
name = matrix
file = a.mtx
block = {block}
[solver]
name = gmres
restart = 1000
max_iterations = 1000
rtol = 1e-8
[preconditioner]
name = sync_free_ilu
fill_level = {level}
"""
BLOCKS = {"reservoir": (1, 3)}


def peer(program):
    """petsc_general of the build folder that `program` is from; None if it is not built."""
    found = pathlib.Path(program).resolve().parents[1] / "tests/peers/petsc_general"
    return found if found.exists() else None


def read(path):
    """The entries of a Matrix Market coordinate file. A file without a banner that has no entry above the diagonal is
    taken for the lower triangle of a symmetric matrix, as nos7.mtx is (there, the program asks for problem.symmetry)."""
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    entries = {}
    for line in [line for line in lines if not line.startswith("%")][1:]:
        i, j, value = line.split()
        entries[int(i) - 1, int(j) - 1] = float(value)
    if lines[0].startswith("%%"):
        symmetric = "symmetric" in lines[0].lower()
    else:
        symmetric = all(i >= j for i, j in entries)
    if symmetric:
        entries.update({(j, i): value for (i, j), value in entries.items()})
    return entries


def petsc_binary(entries):
    """The matrix as PETSc's MatLoad reads it: 32-bit integers and doubles, the most significant byte first."""
    rows = 1 + max(i for i, _ in entries)
    lengths = [0] * rows
    for i, _ in entries:
        lengths[i] += 1
    ordered = sorted(entries.items())
    count = len(ordered)
    return struct.pack(f">4i{rows}i{count}i{count}d", 1211216, rows, rows, count, *lengths, *(j for (_, j), _ in ordered),
                       *(value for _, value in ordered))


def solve_of_petsc(program, folder, level, block):
    """What petsc_general prints about a.petsc."""
    done = subprocess.run([program, "-matrix", folder / "a.petsc", "-levels", str(level), "-block", str(block)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} ends with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def count_of_ours(program, folder, level, block):
    (folder / "a.ini").write_text(DECK.format(level=level, block=block))
    done = subprocess.run([program, "run", "a.ini", "--json", "--quiet", "--fresh"], cwd=folder, capture_output=True,
                          text=True, check=False)
    return json.loads(done.stdout)["iterations"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--levels", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    program = os.path.abspath(os.environ["HYPERPLANE"])
    petsc = peer(program)
    if petsc is None:
        print("skipped: petsc_general is not built (it needs petsc-dev)")
        sys.exit(77)
    systems = [(name, family()) for name, family in FAMILIES.items()]
    systems += [(pathlib.Path(file).name, read(file)) for file in options.files]
    mark = " | " if options.markdown else "  "
    print(mark.join(f"{word:>18}" for word in ("system", "rows", "entries", "block", "fill level", "PETSc", "here")))
    differing = []
    for name, entries in systems:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "a.mtx").write_text(matrix_market(entries), encoding="ascii")
            (folder / "a.petsc").write_bytes(petsc_binary(entries))
            for block in BLOCKS.get(name, (1,)):
                for level in options.levels:
                    there = solve_of_petsc(petsc, folder, level, block)
                    here = count_of_ours(program, folder, level, block)
                    rows = 1 + max(i for i, _ in entries)
                    print(mark.join(f"{value!s:>18}" for value in (name, rows, len(entries), block, level,
                                                                   there["iterations"], here)), flush=True)
                    if there["reason"] <= 0 or here != there["iterations"]:
                        differing.append(f"{name}, block {block}, fill level {level}: PETSc {there}, here {here}")
    print("\n".join([f"{len(differing)} of them differ", *differing]))
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
