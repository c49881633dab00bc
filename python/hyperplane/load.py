# SPDX-License-Identifier: BSD-3-Clause
"""Opens a file and finds out what it contains, or what is wrong with it."""

import os
import re
from collections.abc import Iterable

import h5py

from .collection import read_comparison, read_study
from .record import SCHEMA_VERSIONS, Record, RecordError, read_run
from .sealed import is_sealed, try_in_child
from .table import TableError


def read_any(path, file):
    if "study_schema_version" in file.attrs:
        return read_study(path, file)
    if "schema_version" not in file.attrs:
        raise RecordError(f"{path}: an HDF5 file, but no record of hyperplane (it has no schema_version)")
    version = int(file.attrs["schema_version"])
    if version not in SCHEMA_VERSIONS:
        newer = "; a newer program wrote it, and its module reads it" if version > max(SCHEMA_VERSIONS) else ""
        raise RecordError(f"{path}: record schema {version}; this module reads schemas 1 and 2{newer}")
    return read_comparison(path, file) if "candidates" in file else read_run(path, file)


def load(path):
    """Reads a Record, a Comparison or a Study; raises a RecordError that names the file and what is wrong with it."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise RecordError(f"load: expected the name of a file; got {path!r}")
    path = os.fsdecode(path)
    if os.path.isdir(path):
        raise RecordError(f"{path}: is a folder; name the records in it")
    if not os.path.isfile(path):
        raise RecordError(f"{path}: {'is no regular file' if os.path.exists(path) else 'no such file'}")
    if not is_sealed(path):
        try_in_child(path, lambda: read_file(path))
    return read_file(path)


def read_file(path):
    try:
        with h5py.File(path, "r") as file:
            return read_any(path, file)
    except OSError as error:
        reason = "truncated" if "truncated" in str(error) else "not an HDF5 file, or damaged"
        raise RecordError(f"{path}: cannot be read ({reason})") from error
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, RuntimeError, MemoryError, OverflowError,
            StopIteration) as error:
        raise RecordError(f"{path}: incomplete record: {_lack(error)}") from error


def _lack(error):
    """What a record lacks, in place of what h5py or Python say of it."""
    if isinstance(error, TableError):
        return error
    missing = re.search(r"(?:object|attribute:) '([^']+)'", str(error)) if isinstance(error, KeyError) else None
    return f"{missing[1]} is missing" if missing else "not all that it holds has the form that docs/record.md describes"


def load_all(paths):
    """The records of all these files, or of one, also those within comparisons and studies, each with a label of its
    own."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    elif not isinstance(paths, Iterable):
        raise RecordError(f"load_all: expected names of files; got {paths!r}")
    return with_labels([load(path) for path in paths])


def with_labels(files):
    """The records of these files. Their labels are methods, or names within a comparison or study, where those tell
    them apart, else names of files."""
    records = []
    for file in files:
        records += [file] if isinstance(file, Record) else file.records.values()
    short = [record.label for record in records]
    names = [os.path.splitext(os.path.basename(record.path))[0] for record in records]
    both = [f"{name}: {label}" for name, label in zip(names, short)]
    for choice in (short, names, both, [record.path for record in records]):
        if len(set(choice)) == len(choice):
            break
    else:
        choice = [f"{record.path} ({number})" for number, record in enumerate(records, 1)]
    for record, label in zip(records, choice):
        record.label = label
    return records

