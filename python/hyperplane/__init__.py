"""Reads what hyperplane recorded.

    import hyperplane
    run = hyperplane.load("run.h5")
    run.iterations, run.relative_residual, run.value("solver.rtol")
    run.history.seconds                # numpy columns
    run.history.to_pandas()            # the same as a DataFrame, where pandas is installed

docs/record.md says what each table holds.
"""

from .record import Record, RecordError, Value, load, load_all
from .table import Table

__all__ = ["Record", "RecordError", "Table", "Value", "load", "load_all"]
