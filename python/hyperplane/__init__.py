# SPDX-License-Identifier: BSD-3-Clause
"""Runs hyperplane, reads its records, and solves SciPy's sparse systems.

    import hyperplane
    run = hyperplane.load("run.h5")
    run.iterations, run.relative_residual, run.value("solver.rtol")
    run.history.seconds                # numpy columns
    run.history.to_pandas()            # the same as a DataFrame, where pandas is installed
    run.fields["velocity"]             # of output.fields; run.states of output.fields_every

    run = hyperplane.run({"problem": {"name": "poisson"}, "grid": {"cells": 32}}, set={"solver.name": "cg"})
    run.plot()                         # with matplotlib
    hyperplane.compare("poisson.ini", preconditioners=["struct_ilu", "jacobi"])
    hyperplane.study("sizes.ini", progress=True).cases.to_pandas()

    hyperplane.load("case_compare.h5").records["cg+jacobi"].history      # of `hyperplane compare`
    hyperplane.load("study.h5").cases.to_pandas()                        # of `hyperplane study collect`

    hyperplane.solve(A, b, solver="cg", preconditioner="sync_free_ilu", rtol=1e-10).x     # A of scipy.sparse
    scipy.sparse.linalg.gmres(A, b, M=hyperplane.preconditioner(A, "sync_free_ilu", fill_level=1))

docs/python.md shows all of it; docs/record.md, docs/compare.md and docs/study.md say what each table holds.
"""

from .collection import Comparison, Study
from .errors import RunError, SolveError
from .fields import State
from .linear import LinearSolver, Solution, preconditioner, solve
from .load import load, load_all, with_labels
from .program import compare, run, study
from .record import Record, RecordError, Value
from .table import Table

__version__ = "0.2.0"

__all__ = ["Comparison", "LinearSolver", "Record", "RecordError", "RunError", "Solution", "SolveError", "State", "Study",
           "Table", "Value", "compare", "load", "load_all", "preconditioner", "run", "solve", "study", "with_labels"]
