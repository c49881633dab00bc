# SPDX-License-Identifier: BSD-3-Clause
"""Solves A x = b for SciPy's sparse matrices in this process, with the library that the program is made of
(docs/python.md). Arrays of CSR and BSR matrices are read where they are."""

from dataclasses import dataclass, field

import numpy as np

from . import show
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

    A: a square sparse matrix of SciPy, or anything with its attributes. Values of CSR and BSR in float64 are read where
    they are, and must not change before `update`. solver, preconditioner, scaling: names as in a deck; **keys: their keys,
    as in a deck, such as rtol=1e-10 or fill_level=1. threads: 0 leaves their number to OpenMP. backend: "cpu", or
    "cuda" for the GPU `device`, to which arrays are copied. Raises SolveError.
    """

    def __init__(self, A, *, solver="gmres", preconditioner="sync_free_ilu", scaling="none", threads=0, backend="cpu",
                 device=0, **keys):
        if backend not in ("cpu", "cuda"):
            raise SolveError(USAGE, f"backend: expected cpu or cuda, got '{backend}'")
        keys = {"solver.name": solver, "preconditioner.name": preconditioner, "scaling.name": scaling, **keys}
        self._solver = _library().Solver(*_arrays(A), keys={key: value_text(value) for key, value in keys.items()},
                                         threads=threads, gpu=device if backend == "cuda" else None)
        self.shape, self.dtype = A.shape, np.dtype(np.float64)

    def update(self, A):
        """Takes new values of a matrix of the same pattern; what follows from the pattern alone is kept."""
        self._solver.update(*_arrays(A))

    def solve(self, b, x0=None):
        """Solves A x = b, beginning with x0 or zero; returns the Solution, also where it did not converge."""
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
        r = _vector(r, "r")
        z = np.empty(r.shape)
        self._solver.precondition(r, z)
        return z

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
    """M^-1 as a LinearOperator for SciPy's solvers: scipy.sparse.linalg.cg(A, b, M=hyperplane.preconditioner(A))."""
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


def _arrays(A):
    """Row pointers, columns, values and block size. SciPy's arrays are passed on as they are, but values of other types
    than float64, columns of 64 bits, other formats, columns that do not ascend and blocks that are not square are copied."""
    _check_place(A, "A")
    _check_place(getattr(A, "data", None), "A")
    if not hasattr(A, "tocsr"):
        raise SolveError(USAGE, f"A is a {type(A).__name__}; expected a sparse matrix of scipy.sparse")
    if A.shape[0] != A.shape[1]:
        raise SolveError(USAGE, f"A has {A.shape[0]} rows and {A.shape[1]} columns; it must be square")
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


def _vector(values, name):
    _check_place(values, name)
    if np.iscomplexobj(values):
        raise SolveError(USAGE, f"{name} is complex; vectors are real")
    return np.ascontiguousarray(values, np.float64)


def _check_place(array, name):
    """Refuses arrays in a GPU's memory."""
    device = getattr(array, "__dlpack_device__", lambda: (1, 0))()  # 1: the host's memory, 3: the host's, pinned
    if hasattr(array, "__cuda_array_interface__") or device[0] not in (1, 3):
        raise SolveError(USAGE, f"{name} lies in a GPU's memory; arrays must lie in the host's ({name}.get() of CuPy): "
                                "backend='cuda' copies them to the GPU")
