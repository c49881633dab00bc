# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of unrestarted GMRES with ILU(k) of general matrices: this program's beside PETSc's.

    HYPERPLANE=build/release/apps/hyperplane tests/peers/compare_general.py [--levels 0 1] [--markdown] [FILE.mtx ...]

Each family of general_families.py and each given Matrix Market file, with b = A 1 and x0 = 0, to ||b - A x|| <= 1e-8
||b||; the preconditioner from the right. PETSc: PCILU in natural order without any shift, and GMRES with Gram-Schmidt
twice. Exits with 1 if counts differ by more than one, and with 77 where petsc4py is missing.
"""

import argparse
import json
import os
import pathlib
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


def petsc():
    try:
        from petsc4py import PETSc
    except ImportError:
        print("skipped: petsc4py is not there")
        sys.exit(77)
    return PETSc


def read(path):
    """The entries of a Matrix Market coordinate file."""
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    symmetric = "symmetric" in lines[0].lower()
    entries = {}
    for line in [line for line in lines if not line.startswith("%")][1:]:
        i, j, value = line.split()
        entries[int(i) - 1, int(j) - 1] = float(value)
        if symmetric:
            entries[int(j) - 1, int(i) - 1] = float(value)
    return entries


def count_of_petsc(PETSc, entries, level, block):
    rows = 1 + max(i for i, _ in entries)
    begin, columns, values = [0] * (rows + 1), [], []
    for (i, j), value in sorted(entries.items()):
        begin[i + 1] += 1
        columns.append(j)
        values.append(value)
    for row in range(rows):
        begin[row + 1] += begin[row]
    a = PETSc.Mat().createAIJ((rows, rows), csr=(begin, columns, values), comm=PETSc.COMM_SELF)
    if block > 1:
        a.setBlockSize(block)
        a = a.convert("baij")
    x, b = a.createVecs()
    x.set(1.0)
    a.mult(x, b)
    x.set(0.0)
    solver = PETSc.KSP().create(PETSc.COMM_SELF)
    options = PETSc.Options()
    for key, value in {"ksp_type": "gmres", "ksp_gmres_restart": 1000, "ksp_max_it": 1000, "ksp_rtol": 1e-8,
                       "ksp_pc_side": "right", "ksp_norm_type": "unpreconditioned",
                       "ksp_gmres_cgs_refinement_type": "refine_always", "pc_type": "ilu",
                       "pc_factor_levels": level, "pc_factor_mat_ordering_type": "natural",
                       "pc_factor_shift_type": "none"}.items():
        options[key] = value
    solver.setOperators(a)
    solver.setFromOptions()
    solver.solve(b, x)
    return solver.getIterationNumber() if solver.getConvergedReason() > 0 else None


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
    PETSc = petsc()
    program = os.path.abspath(os.environ["HYPERPLANE"])
    systems = [(name, family()) for name, family in FAMILIES.items()]
    systems += [(pathlib.Path(file).name, read(file)) for file in options.files]
    mark = " | " if options.markdown else "  "
    print(mark.join(f"{word:>18}" for word in ("system", "rows", "entries", "block", "fill level", "PETSc", "here")))
    differing = 0
    for name, entries in systems:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "a.mtx").write_text(matrix_market(entries), encoding="ascii")
            for block in BLOCKS.get(name, (1,)):
                for level in options.levels:
                    there = count_of_petsc(PETSc, entries, level, block)
                    here = count_of_ours(program, folder, level, block)
                    rows = 1 + max(i for i, _ in entries)
                    print(mark.join(f"{value!s:>18}" for value in (name, rows, len(entries), block, level, there, here)),
                          flush=True)
                    differing += there is None or here is None or abs(there - here) > 1
    print(f"{differing} of them differ by more than one iteration")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
