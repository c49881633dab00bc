# SPDX-License-Identifier: BSD-3-Clause
"""Solves A x = b for SciPy's and CuPy's sparse matrices in this process, with the library that the program is made of
(docs/python.md). Arrays of CSR and BSR matrices are read where they are, in the host's memory or in a GPU's."""

import numbers
from dataclasses import dataclass, field

import numpy as np

from . import arrays, on_gpu, show
from .errors import NO_DEVICE, SolveError, refusal
from .program import value_text

MOST_THREADS = 4096  # that device.threads of a deck allows


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
        return (f"<Solution: {self.reason} after {show.counted(self.iterations, 'iteration')}, "
                f"||b - A x|| = {show.shown(self.relative_residual)} ||b||, "
                f"{show.shown(self.setup_seconds)} s set-up, {show.shown(self.seconds)} s>")


class LinearSolver:
    """A matrix with its preconditioner, for many right-hand sides or changing values.

    A: a square sparse matrix of SciPy or CuPy, or an object whose method tocsr makes one of SciPy. Values of CSR and BSR in
    float64 are read where they are, and must not change before `update`. solver, preconditioner, scaling: names as in a
    deck; **keys: their keys, as in a deck, such as rtol=1e-10 or fill_level=1. threads: at most 4096; 0 leaves their number
    to OpenMP. backend: "cpu", or "cuda" for the GPU `device`, to which SciPy's arrays are copied; None: where A lies. Where
    A lies in a GPU's memory, vectors do so, too. Raises SolveError.
    """

    def __init__(self, A, *, solver="gmres", preconditioner="sync_free_ilu", scaling="none", threads=0, backend=None,
                 device=None, **keys):
        if backend not in (None, "cpu", "cuda"):
            raise refusal(f"backend: expected cpu or cuda, got '{backend}'")
        self.on_gpu = arrays.lies_there(A)
        if self.on_gpu and backend == "cpu":
            raise refusal("A lies in a GPU's memory, and backend is cpu; leave out backend, or copy the matrix: "
                          "A.get() of CuPy")
        if device is not None and not self.on_gpu and backend != "cuda":
            raise refusal(f"device is {device}, the number of a GPU, and the solve is on the CPU; give "
                          'backend="cuda", too, or leave out device')
        if not isinstance(threads, numbers.Integral) or not 0 <= threads <= MOST_THREADS:
            raise refusal(f"threads: expected integer >= 0 and <= {MOST_THREADS}, got {threads!r}")
        names = {"solver": (solver, "gmres"), "preconditioner": (preconditioner, "sync_free_ilu"), "scaling": (scaling, "none")}
        for word, (name, default) in names.items():
            other = keys.setdefault(f"{word}.name", name)
            if other != name != default:
                raise refusal(f"{word}={name!r} and {word}.name={other!r} both name the {word}; leave one of them out")
        settings = {"keys": {key: value_text(value) for key, value in keys.items()}, "threads": threads}
        if self.on_gpu:
            self._held, places = arrays.arrays_there(A)
            gpu = _library().gpu_of(places[3][0])
            if gpu is None:
                raise SolveError(NO_DEVICE, "A says that it lies in a GPU's memory, and CUDA finds no GPU there: the module "
                                            "was built without CUDA, or no driver works (hyperplane info device)")
            if device not in (None, gpu):
                raise refusal(f"A lies in the memory of GPU {gpu}, and device is {device}; leave out device")
            self._solver = _library().Solver.there(*places, **settings, gpu=gpu)
        else:
            self._solver = _library().Solver(*arrays.arrays_of(A), **settings,
                                             gpu=(device or 0) if backend == "cuda" else None)
        self.shape, self.dtype = A.shape, np.dtype(np.float64)
        self._method = f"{keys['solver.name']} + {keys['preconditioner.name']}"
        self._place = "a GPU" if self.on_gpu or backend == "cuda" else "the CPU"

    def __repr__(self):
        return f"<LinearSolver of {show.counted(self.shape[0], 'row')}: {self._method} on {self._place}>"

    def update(self, A):
        """Takes new values of a matrix of the same pattern; what follows from the pattern alone is kept."""
        if arrays.lies_there(A) != self.on_gpu:
            raise refusal("A lies in the host's memory, and the first matrix in a GPU's" if self.on_gpu else
                          "A lies in a GPU's memory, and the first matrix in the host's")
        if self.on_gpu:
            held, places = arrays.arrays_there(A)
            self._solver.update_there(*places)
            self._held = held
        else:
            self._solver.update(*arrays.arrays_of(A))

    def solve(self, b, x0=None):
        """Solves A x = b, beginning with x0 or zero; returns the Solution, also where it did not converge. Vectors have
        the shape (rows,) or (rows, 1); several right-hand sides are solved one after the other."""
        rows = self.shape[0]
        if self.on_gpu:
            b = arrays.vector_there(b, "b", rows)
            x = on_gpu.zeros_like(b, "b") if x0 is None else on_gpu.copy_of(arrays.vector_there(x0, "x0", rows))
            result = self._solver.solve_there(on_gpu.place_of(b), on_gpu.place_of(x))
        else:
            b = arrays.vector(b, "b", rows)
            x = np.zeros(b.shape) if x0 is None else arrays.vector(x0, "x0", rows).copy()
            result = self._solver.solve(b, x)
        return Solution(x=x.reshape(b.shape), converged=result.converged, reason=result.reason,
                        explanation=result.explanation, iterations=result.iterations,
                        right_hand_side=result.right_hand_side, residual=result.residual,
                        setup_seconds=self._solver.setup_seconds, seconds=result.seconds,
                        history=np.array(result.history))

    def precondition(self, r):
        """M^-1 r, one application of the preconditioner."""
        if self.on_gpu:
            r = arrays.vector_there(r, "r", self.shape[0])
            z = on_gpu.zeros_like(r, "r")
            self._solver.precondition_there(on_gpu.place_of(r), on_gpu.place_of(z))
            return z
        r = arrays.vector(r, "r", self.shape[0])
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
    """M^-1 as a LinearOperator for SciPy's solvers: scipy.sparse.linalg.cg(A, b, M=hyperplane.preconditioner(A)). For a
    matrix of CuPy it is one of cupyx.scipy.sparse.linalg."""
    if arrays.lies_there(A):
        from cupyx.scipy.sparse.linalg import LinearOperator
    else:
        from scipy.sparse.linalg import LinearOperator

    if "solver.name" not in settings:
        settings.setdefault("solver", "fgmres")  # which takes any preconditioner
    made = LinearSolver(A, preconditioner=name, **settings)
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
