# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of set-up and solve of one system by hyperplane.solve and by the program, in turns; docs/python.md has one result.

    HYPERPLANE=build/release/apps/hyperplane PYTHONPATH=build/release/python python3 tests/library/python_speed.py
"""

import os
import sys
from tempfile import TemporaryDirectory

import hyperplane
import numpy as np
import scipy.io
import scipy.sparse as sparse

TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10

os.environ["HYPERPLANE"] = os.path.abspath(os.environ["HYPERPLANE"])
line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (48, 48))
a = sparse.kronsum(line, sparse.kronsum(line, line)).tocsr()
deck = {"problem": {"name": "matrix", "file": "a.mtx", "right_hand_side": "ones"}, "solver": {"name": "cg"},
        "preconditioner": {"name": "sync_free_ilu"}, "device": {"threads": 1}}
in_python, in_program = [], []
with TemporaryDirectory() as folder:
    os.chdir(folder)
    scipy.io.mmwrite("a.mtx", a, precision=17, symmetry="general")
    for _ in range(TURNS):
        solution = hyperplane.solve(a, np.ones(a.shape[0]), solver="cg", preconditioner="sync_free_ilu", threads=1)
        in_python.append(solution.setup_seconds + solution.seconds)
        record = hyperplane.run(deck)
        in_program.append(record.seconds("setup") + record.seconds("solve"))
    os.chdir("/")
print(f"{a.shape[0]} rows, {a.nnz} entries, {solution.iterations} and {record.iterations} iterations; least of {TURNS}: "
      f"{min(in_python):.3f} s in Python, {min(in_program):.3f} s in the program")
