# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane.solve with arrays of CuPy and PyTorch, judged by SciPy's own solutions. Skipped without a GPU, CuPy or PyTorch.

    HYPERPLANE_MODULE=build/release/python python3 tests/library/python_device_test.py
"""

import inspect
import os
import sys
import unittest

try:
    import cupy
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg
    import numpy as np
    import scipy.sparse as sparse
    from scipy.sparse import linalg
    cupy.zeros(1)
except Exception as missing:  # CuPy without a GPU has errors of its own
    print(f"skipped: {missing} ({sys.executable})")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

sys.path.insert(0, os.environ["HYPERPLANE_MODULE"])

import hyperplane  # noqa: E402


def laplacian(nx=17, ny=9, nz=5):
    lines = [sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], (n, n)) for n in (nz, ny, nx)]
    return sparse.kronsum(lines[2], sparse.kronsum(lines[1], lines[0])).tocsr()


def unsymmetric(rows=301):
    a = sparse.random(rows, rows, 0.03, random_state=1)
    return (a + sparse.diags(1.0 + np.asarray(abs(a).sum(axis=1)).ravel())).tocsr()


def there(a):
    return cupyx.scipy.sparse.csr_matrix(a)


class Arrays(unittest.TestCase):
    def agrees(self, a, x, b):
        expected = linalg.spsolve(a.tocsc(), b)
        np.testing.assert_allclose(cupy.asnumpy(x), expected, rtol=0, atol=1e-7 * abs(expected).max())

    def test_solutions_are_scipys(self):
        for a, solver in ((laplacian(), "cg"), (unsymmetric(), "gmres"), (unsymmetric(), "bicgstab")):
            for name in ("sync_free_ilu", "jacobi", "none"):
                with self.subTest(solver=solver, preconditioner=name):
                    b = np.random.default_rng(5).standard_normal(a.shape[0])
                    on_gpu = cupy.asarray(b)
                    solution = hyperplane.solve(there(a), on_gpu, solver=solver, preconditioner=name, rtol=1e-10)
                    self.assertIsInstance(solution.x, cupy.ndarray)
                    self.assertTrue(solution.converged, solution.explanation)
                    self.agrees(a, solution.x, b)
                    np.testing.assert_array_equal(cupy.asnumpy(on_gpu), b)
                    copied = hyperplane.solve(a, b, solver=solver, preconditioner=name, rtol=1e-10, backend="cuda")
                    self.assertEqual(solution.iterations, copied.iterations)
                    np.testing.assert_array_equal(cupy.asnumpy(solution.x), copied.x)

    def test_other_types_formats_and_streams(self):
        a, b = laplacian(), np.ones(17 * 9 * 5)
        narrow = a.astype(np.float32)  # another matrix: the diagonal is rounded
        for here, matrix in ((a, there(a).tocsc()), (a, there(a).tocoo()), (narrow.astype(np.float64), there(narrow))):
            self.agrees(here, hyperplane.solve(matrix, cupy.asarray(b), solver="cg", rtol=1e-10).x, b)
        wide = cupy.zeros(2 * b.size)
        wide[::2] = 1.0
        self.agrees(a, hyperplane.solve(there(a), wide[::2], solver="cg", rtol=1e-10).x, b)
        with cupy.cuda.Stream(non_blocking=True):  # work that is still under way there is waited for
            late = cupy.ones((400, 400))
            for _ in range(50):
                late = late @ late / 400.0
            late = late.ravel()[:b.size] * 1.0
            solution = hyperplane.solve(there(a), late, solver="cg", rtol=1e-10)
        self.agrees(a, solution.x, b)

    def test_guesses_updates_and_preconditioners(self):
        a, b = laplacian(), np.random.default_rng(5).standard_normal(17 * 9 * 5)
        matrix, right = there(a), cupy.asarray(b)
        solver = hyperplane.LinearSolver(matrix, solver="cg", rtol=1e-10)
        first = solver.solve(right)
        self.assertEqual(solver.solve(right, x0=first.x).iterations, 0)
        matrix.data *= 2.0
        solver.update(matrix)
        self.agrees(2.0 * a, solver.solve(right).x, b)
        m = hyperplane.preconditioner(there(a), "jacobi")
        np.testing.assert_allclose(cupy.asnumpy(m.matvec(right)), b / a.diagonal(), rtol=1e-14)
        cg = cupyx.scipy.sparse.linalg.cg
        tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # CuPy 14 renamed it
        x, info = cg(there(a), right, M=hyperplane.preconditioner(there(a)), **{tolerance: 1e-10})
        self.assertEqual(info, 0)
        self.agrees(a, x, b)

    def test_tensors(self):
        if torch is None or not torch.cuda.is_available():
            self.skipTest("no PyTorch that can use the GPU")
        a, b = laplacian(), np.random.default_rng(5).standard_normal(17 * 9 * 5)
        tensor = torch.from_numpy(b).cuda().requires_grad_()
        solution = hyperplane.solve(there(a), tensor, solver="cg", rtol=1e-10)
        self.assertIsInstance(solution.x, torch.Tensor)
        self.assertTrue(solution.x.is_cuda)
        self.agrees(a, solution.x.cpu().numpy(), b)

    def test_refusals(self):
        a, b = laplacian(), np.ones(17 * 9 * 5)
        for code, words, matrix, vector, settings in (
                (2, "b lies in the host's memory, and A in a GPU's", there(a), b, {}),
                (2, "b lies in a GPU's memory, and A in the host's", a, cupy.asarray(b), {}),
                (2, "b has 764 elements, the matrix 765 rows", there(a), cupy.asarray(b[1:]), {}),
                (2, "leave out backend", there(a), cupy.asarray(b), {"backend": "cpu"}),
                (2, "leave out device", there(a), cupy.asarray(b), {"device": 7}),
                (2, "cg needs a symmetric matrix", there(unsymmetric()), cupy.ones(301), {"solver": "cg"}),
                (5, "pivot", there(sparse.csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))), cupy.ones(2), {})):
            with self.subTest(words=words), self.assertRaises(hyperplane.SolveError) as caught:
                hyperplane.solve(matrix, vector, **settings)
            self.assertIn(words, caught.exception.reason)
            self.assertEqual(caught.exception.code, code)


if __name__ == "__main__":
    unittest.main()
