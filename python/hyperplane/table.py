# SPDX-License-Identifier: BSD-3-Clause
"""A table of columns as h5py reads them, with names, rows and a conversion to pandas."""

from collections.abc import Mapping
from types import SimpleNamespace

from . import show


class TableError(ValueError):
    """Columns that are no table; the message says why."""


class Table(Mapping):
    """Columns of one length by name, each a numpy array: `table["seconds"]` or `table.seconds`.

    `len(table)` is the number of rows. It is a mapping of its columns, so `dict(table)` and
    `pandas.DataFrame(dict(table))` work, and `table.to_pandas()` is the latter.
    """

    def __init__(self, columns):
        self._columns = dict(columns)
        lengths = {name: len(values) for name, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(f"columns of different lengths: {', '.join(f'{name} {n}' for name, n in lengths.items())}")
        self._rows = next(iter(lengths.values()), 0)

    def __getitem__(self, name):
        return self._columns[name]

    def __getattr__(self, name):
        if name.startswith("_"):  # also of an object without its own attributes yet, as copy and pickle make it
            raise AttributeError(f"a Table has no attribute '{name}'")
        if name in self._columns:
            return self._columns[name]
        raise AttributeError(f"no column is called '{name}'; there are {', '.join(self._columns)}")

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return self._rows

    def __contains__(self, name):
        return name in self._columns

    def __bool__(self):
        return self._rows > 0

    def __dir__(self):
        return [*super().__dir__(), *self._columns]

    def rows(self):
        """The rows, one after the other, each with its columns as attributes."""
        for values in zip(*self._columns.values()):
            yield SimpleNamespace(**dict(zip(self._columns, values)))

    def where(self, rows):
        """The rows of a mask or a slice, as a table."""
        return Table({name: values[rows] for name, values in self._columns.items()})

    def to_pandas(self):
        """The same as a pandas.DataFrame; raises ImportError if pandas is missing."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_xarray(self):
        """The same as an xarray.Dataset with the dimension `row`; raises ImportError if xarray is missing."""
        import xarray

        return xarray.Dataset({name: ("row", values) for name, values in self._columns.items()})

    def _repr_html_(self):
        places = range(len(self)) if len(self) <= 20 else [*range(10), *range(len(self) - 10, len(self))]
        rows = [[show.shown(values[at]) for values in self._columns.values()] for at in places]
        return show.html_table(rows, self._columns) + f"<p>{show.counted(len(self), 'row')}</p>"

    def __repr__(self):
        places = list(range(len(self))) if len(self) <= 10 else [*range(5), None, *range(len(self) - 3, len(self))]
        columns = [[name, *("..." if at is None else show.shown(values[at]) for at in places)]
                   for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in columns]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in zip(*columns)]
        return "\n".join([*lines, f"[{show.counted(len(self), 'row')} x {show.counted(len(columns), 'column')}]"])
