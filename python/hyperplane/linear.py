# SPDX-License-Identifier: BSD-3-Clause
"""Solves A x = b for SciPy's and CuPy's sparse matrices in this process, with the library that the program is made of
(docs/python.md). Arrays of CSR and BSR matrices are read where they are, in the host's memory or in a GPU's."""

import numbers
from dataclasses import dataclass, field

import numpy as np

from . import on_gpu, show
from .program import value_text

MOST_ROWS_OF_A_BLOCK = 32
USAGE, NO_DEVICE = 2, 9  # exit codes of the program


class SolveError(Exception):
    """The input is wrong, or the work cannot be done. `reason` says why and what to do; `code` is the exit code that the
    program has for it: 2 wrong keys or arrays, 5 a pivot that cannot be used, 6 out of memory, 9 no GPU."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code, self.reason = code, reason


@dataclass(repr=False)
class Solution:
    """The result of a solve; `x` has the shape of b."""

    x: np.ndarray
    converged: bool  # ||b - A x|| <= max(rtol ||b||, atol), for the residual computed from x
    reason: str  # why it ended: "converged_rtol", "max_iterations", ..., as a record's stop_reason
    explanation: str  # the same as a sentence, with what to try
    iterations: int
    right_hand_side: float  # ||b||
    residual: float  # ||b - A x||
    setup_seconds: float
    seconds: float  # of the iterations
    history: np.ndarray = field(default=None)  # ||r|| / ||b|| by iteration

    @property
    def relative_residual(self):
        return self.residual / self.right_hand_side if self.right_hand_side else self.residual

    def __repr__(self):
        return (f"<Solution: {self.reason} after {self.iterations} iterations, "
                f"||b - A x|| = {show.shown(self.relative_residual)} ||b||, "
                f"{show.shown(self.setup_seconds)} s set-up, {show.shown(self.seconds)} s>")


class LinearSolver:
    """A matrix with its preconditioner, for many right-hand sides or changing values.

    A: a square sparse matrix of SciPy or CuPy, or anything with its attributes. Values of CSR and BSR in float64 are read
    where they are, and must not change before `update`. solver, preconditioner, scaling: names as in a deck; **keys: their
    keys, as in a deck, such as rtol=1e-10 or fill_level=1. threads: 0 leaves their number to OpenMP. backend: "cpu", or
    "cuda" for the GPU `device`, to which SciPy's arrays are copied; None: where A lies. Where A lies in a GPU's memory,
    vectors do so, too. Raises SolveError.
    """

    def __init__(self, A, *, solver="gmres", preconditioner="sync_free_ilu", scaling="none", threads=0, backend=None,
                 device=None, **keys):
        if backend not in (None, "cpu", "cuda"):
            raise SolveError(USAGE, f"backend: expected cpu or cuda, got '{backend}'")
        self.on_gpu = _lies_there(A)
        if self.on_gpu and backend == "cpu":
            raise SolveError(USAGE, "A lies in a GPU's memory, and backend is cpu; leave out backend, or copy the matrix: "
                                    "A.get() of CuPy")
        if device is not None and not self.on_gpu and backend != "cuda":
            raise SolveError(USAGE, f"device is {device}, the number of a GPU, and the solve is on the CPU; give "
                                    'backend="cuda", too, or leave out device')
        if not isinstance(threads, numbers.Integral) or threads < 0:
            raise SolveError(USAGE, f"threads: expected an integer >= 0, got {threads!r}")
        keys = {"solver.name": solver, "preconditioner.name": preconditioner, "scaling.name": scaling, **keys}
        settings = {"keys": {key: value_text(value) for key, value in keys.items()}, "threads": threads}
        if self.on_gpu:
            self._held, places = _arrays_there(A)
            gpu = _library().gpu_of(places[3][0])
            if gpu is None:
                raise SolveError(NO_DEVICE, "A says that it lies in a GPU's memory, and CUDA finds no GPU there: the module "
                                            "was built without CUDA, or no driver works (hyperplane info device)")
            if device not in (None, gpu):
                raise SolveError(USAGE, f"A lies in the memory of GPU {gpu}, and device is {device}; leave out device")
            self._solver = _library().Solver.there(*places, **settings, gpu=gpu)
        else:
            self._solver = _library().Solver(*_arrays(A), **settings, gpu=(device or 0) if backend == "cuda" else None)
        self.shape, self.dtype = A.shape, np.dtype(np.float64)

    def update(self, A):
        """Takes new values of a matrix of the same pattern; what follows from the pattern alone is kept."""
        if _lies_there(A) != self.on_gpu:
            raise SolveError(USAGE, "A lies in the host's memory, and the first matrix in a GPU's" if self.on_gpu else
                             "A lies in a GPU's memory, and the first matrix in the host's")
        if self.on_gpu:
            held, places = _arrays_there(A)
            self._solver.update_there(*places)
            self._held = held
        else:
            self._solver.update(*_arrays(A))

    def solve(self, b, x0=None):
        """Solves A x = b, beginning with x0 or zero; returns the Solution, also where it did not converge."""
        if self.on_gpu:
            b = self._vector_there(b, "b")
            x = on_gpu.zeros_like(b, "b", _refusal) if x0 is None else on_gpu.copy_of(self._vector_there(x0, "x0"))
            result = self._solver.solve_there(on_gpu.place_of(b), on_gpu.place_of(x))
        else:
            b = _vector(b, "b")
            x = np.zeros(b.shape) if x0 is None else _vector(x0, "x0").copy()
            result = self._solver.solve(b, x)
        return Solution(x=x.reshape(b.shape), converged=result.converged, reason=result.reason,
                        explanation=result.explanation, iterations=result.iterations,
                        right_hand_side=result.right_hand_side, residual=result.residual,
                        setup_seconds=self._solver.setup_seconds, seconds=result.seconds,
                        history=np.array(result.history))

    def precondition(self, r):
        """M^-1 r, one application of the preconditioner."""
        if self.on_gpu:
            r = self._vector_there(r, "r")
            z = on_gpu.zeros_like(r, "r", _refusal)
            self._solver.precondition_there(on_gpu.place_of(r), on_gpu.place_of(z))
            return z
        r = _vector(r, "r")
        z = np.empty(r.shape)
        self._solver.precondition(r, z)
        return z

    def _vector_there(self, values, name):
        if not on_gpu.lies_there(values):
            raise SolveError(USAGE, f"{name} lies in the host's memory, and A in a GPU's: cupy.asarray({name}) copies it")
        return on_gpu.of_type(values, on_gpu.DOUBLE, name, _refusal)

    @property
    def setup_seconds(self):
        """Seconds of the last set-up of the preconditioner."""
        return self._solver.setup_seconds

    @property
    def peak_memory(self):
        """Most bytes that the solver held at once, without arrays that it reads where they are."""
        return self._solver.peak_memory


def solve(A, b, *, x0=None, **settings):
    """Solves A x = b; returns the Solution. Settings are those of LinearSolver."""
    return LinearSolver(A, **settings).solve(b, x0)


def preconditioner(A, name="sync_free_ilu", **settings):
    """M^-1 as a LinearOperator for SciPy's solvers: scipy.sparse.linalg.cg(A, b, M=hyperplane.preconditioner(A)). For a
    matrix of CuPy it is one of cupyx.scipy.sparse.linalg."""
    if _lies_there(A):
        from cupyx.scipy.sparse.linalg import LinearOperator
    else:
        from scipy.sparse.linalg import LinearOperator

    made = LinearSolver(A, preconditioner=name, **{"solver": "fgmres", **settings})  # fgmres takes any preconditioner
    return LinearOperator(made.shape, matvec=made.precondition, dtype=made.dtype)


def _library():
    try:
        from . import _library as library
    except ImportError as error:
        raise ImportError(
            "hyperplane was installed without its compiled part, which solve, preconditioner and LinearSolver need: build "
            "it with pybind11-dev and python3-dev, for this Python, and take the module of that build or of its "
            f"installation (docs/python.md). {error}") from error
    return library


def _refusal(reason):
    return SolveError(USAGE, reason)


def _lies_there(A):
    """Whether a matrix lies in a GPU's memory."""
    return on_gpu.lies_there(A) or on_gpu.lies_there(getattr(A, "data", None))


def _arrays_there(A):
    """The arrays of a matrix in a GPU's memory, and what Solver.there takes of them. What is not CSR with ascending columns
    and values in float64 is copied on the GPU."""
    if not hasattr(A, "tocsr"):
        raise SolveError(USAGE, f"A is a {type(A).__name__} in a GPU's memory; expected a sparse matrix of cupyx.scipy.sparse")
    if A.shape[0] != A.shape[1]:
        raise SolveError(USAGE, f"A has {A.shape[0]} rows and {A.shape[1]} columns; it must be square")
    if A.format != "csr":
        A = A.tocsr()
    if not getattr(A, "has_canonical_format", True):
        A = A.copy()
        A.sum_duplicates()
    wide = on_gpu.imported(A.indptr, "A.indptr", _refusal).__cuda_array_interface__["typestr"] == on_gpu.INT64
    arrays = [on_gpu.of_type(A.indptr, on_gpu.INT64 if wide else on_gpu.INT32, "A.indptr", _refusal),
              on_gpu.of_type(A.indices, on_gpu.INT32, "A.indices", _refusal),
              on_gpu.of_type(A.data, on_gpu.DOUBLE, "A", _refusal)]
    rows, columns, values = map(on_gpu.place_of, arrays)
    return arrays, (rows, 8 if wide else 4, columns, values, 1)


def _arrays(A):
    """Row pointers, columns, values and block size. SciPy's arrays are passed on as they are, but values of other types
    than float64, columns of 64 bits, other formats, columns that do not ascend and blocks that are not square are copied."""
    if not hasattr(A, "tocsr"):
        raise SolveError(USAGE, f"A is a {type(A).__name__}; expected a sparse matrix of scipy.sparse")
    if A.shape[0] != A.shape[1]:
        raise SolveError(USAGE, f"A has {A.shape[0]} rows and {A.shape[1]} columns; it must be square")
    if hasattr(A, "indptr") and not _are_pointers(A.indptr, len(A.indices)):  # SciPy's loops would leave the arrays
        raise SolveError(USAGE, f"A.indptr must begin with 0, never fall, and end with at most {len(A.indices)}, the length "
                                "of A.indices")
    rows, columns = A.blocksize if A.format == "bsr" else (1, 1)
    if A.format not in ("csr", "bsr") or rows != columns or rows > MOST_ROWS_OF_A_BLOCK:
        A, rows = A.tocsr(), 1
    if np.iscomplexobj(A.data):
        raise SolveError(USAGE, "A is complex; matrices are real")
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    if A.indices.dtype != np.int32 and A.shape[0] // rows >= 2**31:
        raise SolveError(USAGE, f"A has {A.shape[0]} rows; columns of 32 bits can count at most {2**31 - 1}")
    pointers = A.indptr if A.indptr.dtype in (np.int32, np.int64) else A.indptr.astype(np.int64)
    return (np.ascontiguousarray(pointers), np.ascontiguousarray(A.indices, np.int32),
            np.ascontiguousarray(A.data, np.float64), rows)


def _are_pointers(pointers, entries):
    return len(pointers) > 0 and pointers[0] == 0 and pointers[-1] <= entries and not (pointers[1:] < pointers[:-1]).any()


def _vector(values, name):
    _check_place(values, name)
    if hasattr(values, "tocsr"):
        raise SolveError(USAGE, f"{name} is a sparse matrix; vectors are dense: {name}.toarray().ravel()")
    if np.iscomplexobj(values):
        raise SolveError(USAGE, f"{name} is complex; vectors are real")
    try:
        return np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise SolveError(USAGE, f"{name} is no vector of real numbers: {error}") from error


def _check_place(array, name):
    """Refuses arrays in a GPU's memory."""
    if on_gpu.lies_there(array):
        raise SolveError(USAGE, f"{name} lies in a GPU's memory, and A in the host's: {name}.get() of CuPy copies it, and a "
                                "matrix of CuPy (cupyx.scipy.sparse) is solved with on its GPU")
