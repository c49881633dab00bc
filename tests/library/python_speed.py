# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of set-up and solve of one system by hyperplane.solve and by the program, in turns; docs/python.md has results.

    HYPERPLANE=build/release/apps/hyperplane PYTHONPATH=build/release/python python3 tests/library/python_speed.py
    ... python_speed.py --backend cuda --cells 128     arrays of NumPy and, where it is installed, of CuPy
"""

import argparse
import os
from tempfile import TemporaryDirectory

import hyperplane
import numpy as np
import scipy.io
import scipy.sparse as sparse

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--turns", type=int, default=10)
parser.add_argument("--cells", type=int, default=48, help="of Poisson's equation on a cube, a side")
parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
given = parser.parse_args()

os.environ["HYPERPLANE"] = os.path.abspath(os.environ["HYPERPLANE"])
line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (given.cells, given.cells))
a = sparse.kronsum(line, sparse.kronsum(line, line)).tocsr()
b = np.ones(a.shape[0])
where = {"threads": 1} if given.backend == "cpu" else {"backend": "cuda"}
deck = {"problem": {"name": "matrix", "file": "a.mtx", "right_hand_side": "ones"}, "solver": {"name": "cg"},
        "preconditioner": {"name": "sync_free_ilu"}, "device": where}
arrays = {"NumPy": (a, b, where)}
if given.backend == "cuda":
    try:
        import cupy
        import cupyx.scipy.sparse
        arrays["CuPy"] = (cupyx.scipy.sparse.csr_matrix(a), cupy.asarray(b), {})
    except ImportError as missing:
        print(f"without CuPy: {missing}")

least = {}


def took(name, setup, solve, iterations):
    if name not in least or setup + solve < least[name][0] + least[name][1]:
        least[name] = (setup, solve, iterations)


with TemporaryDirectory() as folder:
    os.chdir(folder)
    scipy.io.mmwrite("a.mtx", a, precision=17, symmetry="general")
    for _ in range(given.turns):
        for name, (matrix, right, settings) in arrays.items():
            solution = hyperplane.solve(matrix, right, solver="cg", preconditioner="sync_free_ilu", **settings)
            took(name, solution.setup_seconds, solution.seconds, solution.iterations)
        record = hyperplane.run(deck)
        took("the program", record.seconds("setup"), record.seconds("solve"), record.iterations)
    os.chdir("/")
print(f"{a.shape[0]} rows, {a.nnz} entries; seconds of set-up and solve, least of {given.turns}")
for name, (setup, solve, iterations) in least.items():
    print(f"{name:12} {setup:.4f} + {solve:.4f} = {setup + solve:.4f}, {iterations} iterations")
