# SPDX-License-Identifier: BSD-3-Clause
"""The arrays of matrices and vectors as the library takes them: checked, and copied where they have another form."""

import copy
import numbers

import numpy as np

from . import on_gpu
from .errors import refusal

MOST_ROWS_OF_A_BLOCK = 32
COMPRESSED = ("csr", "csc", "bsr")


def lies_there(A):
    """Whether a matrix lies in a GPU's memory."""
    return on_gpu.lies_there(A) or on_gpu.lies_there(getattr(A, "data", None))


def check_square(A):
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise refusal(f"A has {' rows and '.join(map(str, A.shape))} columns; it must be square")


def arrays_there(A):
    """The arrays of a matrix in a GPU's memory, and what Solver.there takes of them. What is not CSR with ascending columns
    and values in float64 is copied on the GPU."""
    if not hasattr(A, "tocsr"):
        raise refusal(f"A is a {type(A).__name__} in a GPU's memory; expected a sparse matrix of cupyx.scipy.sparse")
    check_square(A)
    if A.format != "csr":
        A = A.tocsr()
    if not getattr(A, "has_canonical_format", True):
        A = A.copy()
        A.sum_duplicates()
    types = {name: on_gpu.imported(getattr(A, name), f"A.{name}").__cuda_array_interface__["typestr"]
             for name in ("indptr", "indices")}
    for name, found in types.items():
        check_integers(f"A.{name}", np.dtype(found))
    if types["indices"] != on_gpu.INT32:
        check_range(A.indices, A.shape[0])
    wide = types["indptr"] != on_gpu.INT32
    arrays = [on_gpu.of_type(A.indptr, on_gpu.INT64 if wide else on_gpu.INT32, "A.indptr"),
              on_gpu.of_type(A.indices, on_gpu.INT32, "A.indices"),
              on_gpu.of_type(A.data, on_gpu.DOUBLE, "A")]
    rows, columns, values = map(on_gpu.place_of, arrays)
    return arrays, (rows, 8 if wide else 4, columns, values, 1)


def arrays_of(A):
    """Row pointers, columns, values and block size. SciPy's arrays are passed on as they are, but values of other types
    than float64, columns of 64 bits, other formats, columns that do not ascend and blocks that are not square are copied."""
    if not hasattr(A, "tocsr"):
        raise refusal(f"A is a {type(A).__name__}; expected a sparse matrix of scipy.sparse, which "
                      "scipy.sparse.csr_matrix((data, indices, indptr), shape=shape) makes of arrays")
    check_square(A)
    if not hasattr(A, "format"):  # of another library
        A = A.tocsr()
    if A.dtype.kind == "c":
        raise refusal("A is complex; matrices are real")
    if A.dtype.kind not in "biuf":
        raise refusal(f"A has elements of type {A.dtype}; expected real numbers, as A.astype(float) has")
    if A.format in COMPRESSED:
        A = with_integers(A)
    rows, columns = A.blocksize if A.format == "bsr" else (1, 1)
    if A.format not in ("csr", "bsr") or rows != columns or rows > MOST_ROWS_OF_A_BLOCK:
        A, rows = A.tocsr(), 1
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    if A.indices.dtype != np.int32 and A.shape[0] // rows >= 2**31:
        raise refusal(f"A has {A.shape[0]} rows; columns of 32 bits can count at most {2**31 - 1}")
    return (np.ascontiguousarray(A.indptr), np.ascontiguousarray(A.indices, np.int32),
            np.ascontiguousarray(A.data, np.float64), rows)


def with_integers(A):
    """A compressed matrix, or one that shares its values, whose indices SciPy's loops can read without leaving arrays, and
    without the room that there may be behind its last entry, which A.prune() removes."""
    check_integers("A.indptr", A.indptr.dtype)
    check_integers("A.indices", A.indices.dtype)
    if not _are_pointers(A.indptr, len(A.indices)):
        raise refusal(f"A.indptr must begin with 0, never fall, and end with at most {len(A.indices)}, the length of "
                      "A.indices")
    entries = int(A.indptr[-1])
    if entries < len(A.indices) == len(A.data):
        A = copy.copy(A)
        A.indices, A.data = A.indices[:entries], A.data[:entries]
    if A.indices.dtype != np.int32 or A.format == "csc":  # those of the others are checked by the library
        check_range(A.indices, A.shape[0] // (A.blocksize[1] if A.format == "bsr" else 1))
    if A.indices.dtype == A.indptr.dtype and A.indices.dtype in (np.int32, np.int64):
        return A
    made = copy.copy(A)
    made.indptr, made.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    return made


def check_integers(name, dtype):
    if dtype.kind not in "iu":
        raise refusal(f"{name} has elements of type {dtype}; expected integers of 32 or 64 bits")


def check_range(indices, end):
    """Refuses columns, or rows of CSC, that integers of 32 bits would take for others."""
    for worst in (indices.min(), indices.max()) if len(indices) else ():
        if not 0 <= int(worst) < end:
            raise refusal(f"A.indices has the value {int(worst)}, but the matrix has {end} rows and columns, of blocks "
                          f"where it is BSR; expected 0 to {end - 1}")


def _are_pointers(pointers, entries):
    return len(pointers) > 0 and pointers[0] == 0 and pointers[-1] <= entries and not (pointers[1:] < pointers[:-1]).any()


def vector(values, name, rows):
    """A vector in the host's memory, in float64 and without gaps."""
    if on_gpu.lies_there(values):
        raise refusal(f"{name} lies in a GPU's memory, and A in the host's: {name}.get() of CuPy copies it, and a "
                      "matrix of CuPy (cupyx.scipy.sparse) is solved with on its GPU")
    if hasattr(values, "tocsr"):
        raise refusal(f"{name} is a sparse matrix; vectors are dense: {name}.toarray().ravel()")
    check_given(values, name, rows)
    if np.ma.is_masked(values):
        raise refusal(f"{name} has masked elements, which have no value; {name}.filled(0.0) gives them one")
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise refusal(f"{name} is complex; vectors are real")
        strange = {given.dtype.name} if given.dtype.kind not in "biufO" else {
            type(value).__name__ for value in given.flat if not isinstance(value, numbers.Number)
        } if given.dtype.kind == "O" else ()
        if strange:
            raise refusal(f"{name} is no vector of real numbers: it has elements of type {', '.join(sorted(strange))}")
        check_shape(given.shape, name, rows)
        return np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise refusal(f"{name} is no vector of real numbers: {error}") from error


def vector_there(values, name, rows):
    """A vector in a GPU's memory, in float64 and without gaps."""
    check_given(values, name, rows)
    if not on_gpu.lies_there(values):
        raise refusal(f"{name} lies in the host's memory, and A in a GPU's: cupy.asarray({name}) copies it")
    made = on_gpu.of_type(values, on_gpu.DOUBLE, name)
    check_shape(tuple(made.__cuda_array_interface__["shape"]), name, rows)
    return made


def check_given(values, name, rows):
    if values is None:
        raise refusal(f"{name} is None; expected a vector of {rows} real numbers")


def check_shape(shape, name, rows):
    if shape in ((rows,), (rows, 1)):
        return
    if len(shape) == 1:
        raise refusal(f"{name} has {shape[0]} elements, the matrix {rows} rows")
    raise refusal(f"{name} has the shape {shape}, and the matrix {rows} rows; expected ({rows},) or ({rows}, 1): several "
                  "vectors are given one after the other")
