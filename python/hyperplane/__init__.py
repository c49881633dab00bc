# SPDX-License-Identifier: BSD-3-Clause
"""Reads the records of hyperplane.

    import hyperplane
    run = hyperplane.load("run.h5")
    run.iterations, run.relative_residual, run.value("solver.rtol")
    run.history.seconds                # numpy columns
    run.history.to_pandas()            # the same as a DataFrame, where pandas is installed

    hyperplane.load("case_compare.h5").records["cg+jacobi"].history      # of `hyperplane compare`
    hyperplane.load("study.h5").cases.to_pandas()                        # of `hyperplane study collect`

docs/record.md, docs/compare.md and docs/study.md say what each table holds.
"""

from .collection import Comparison, Study
from .load import load, load_all, with_labels
from .record import Record, RecordError, Value
from .table import Table

__all__ = ["Comparison", "Record", "RecordError", "Study", "Table", "Value", "load", "load_all", "with_labels"]
