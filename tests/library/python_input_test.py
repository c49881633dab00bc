# SPDX-License-Identifier: BSD-3-Clause
"""What hyperplane.solve makes of matrices and vectors that are not as it expects them, and its errors in other processes."""

import decimal
import fractions
import multiprocessing
import os
import pickle
import sys
import unittest

try:
    import h5py  # noqa: F401
    import numpy as np
    import scipy.sparse as sparse
except ImportError as missing:
    print(f"skipped: {missing} ({sys.executable})")
    sys.exit(77)

sys.path.insert(0, os.environ["HYPERPLANE_MODULE"])

import hyperplane  # noqa: E402
from hyperplane.arrays import arrays_of  # noqa: E402


def line(rows=12):
    return sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (rows, rows)).tocsr()


def with_arrays(a, **arrays):
    made = a.copy()
    for name, values in arrays.items():
        setattr(made, name, values)
    return made


class Inputs(unittest.TestCase):
    def refusal(self, call, *arguments, **settings):
        with self.assertRaises(hyperplane.SolveError) as caught:
            call(*arguments, **settings)
        self.assertEqual(caught.exception.code, 2)
        return caught.exception.reason


class Matrices(Inputs):
    def test_columns_of_64_bits_do_not_wrap(self):
        values, pointers = np.array([2.0, 1.0, 3.0]), np.array([0, 1, 3])
        solver = hyperplane.LinearSolver(sparse.csr_matrix(np.array([[2.0, 0.0], [1.0, 3.0]])))
        for column in (2**32, -(2**32), 2**31, 2, -1):
            columns = np.array([column, 0, 1])
            wide = with_arrays(sparse.csr_matrix((2, 2)), data=values, indices=columns, indptr=pointers)
            by_columns = with_arrays(sparse.csc_matrix((2, 2)), data=values, indices=columns, indptr=pointers)
            by_blocks = with_arrays(sparse.bsr_matrix((4, 4), blocksize=(2, 2)), data=np.ones((3, 2, 2)),
                                    indices=columns, indptr=pointers)
            for a in (wide, by_columns, by_blocks):
                for call in (hyperplane.LinearSolver, hyperplane.preconditioner, solver.update):
                    self.assertIn(f"A.indices has the value {column}, but the matrix has 2 rows", self.refusal(call, a))
            self.assertIn("A.indices", self.refusal(hyperplane.solve, wide, np.ones(2)))

    def test_row_pointers_of_64_bits_do_not_wrap(self):
        a = line()
        for at, value in ((12, 2**32 + a.nnz), (5, 2**32 + int(a.indptr[5])), (0, 2**32)):
            pointers = a.indptr.astype(np.int64)
            pointers[at] = value
            for indices in (a.indices, a.indices.astype(np.int64)):
                broken = with_arrays(a, indptr=pointers, indices=indices)
                self.assertIn("A.indptr must begin with 0", self.refusal(hyperplane.LinearSolver, broken))
        self.assertEqual(arrays_of(with_arrays(a, indptr=a.indptr.astype(np.int64)))[1].dtype, np.int32)

    def test_arrays_in_a_gpu_s_memory_do_not_wrap(self):
        """An object says that its arrays lie there; it is refused before they are read."""
        def claimed(array):
            interface = {**array.__array_interface__, "strides": array.strides}
            return type("array", (), {"__cuda_array_interface__": interface, "min": lambda self: array.min(),
                                      "max": lambda self: array.max(), "__len__": lambda self: len(array)})()

        for indices, words in ((np.array([2**32, 1]), "A.indices has the value 4294967296"),
                               (np.array([0.0, 1.0]), "A.indices has elements of type float64")):
            parts = {"data": claimed(np.ones(2)), "indices": claimed(indices), "indptr": claimed(np.arange(3))}
            a = type("csr_matrix", (), {**parts, "format": "csr", "shape": (2, 2), "tocsr": lambda self: self})()
            self.assertIn(words, self.refusal(hyperplane.LinearSolver, a))

    def test_integers_of_any_kind(self):
        a, b = line(), np.ones(12)
        expected = hyperplane.solve(a, b).x
        for kind in (np.uint64, np.uint32, np.int16, np.uint8):
            for arrays in ({"indices": a.indices.astype(kind)}, {"indptr": a.indptr.astype(kind)},
                           {"indices": a.indices.astype(kind), "indptr": a.indptr.astype(np.int64)}):
                np.testing.assert_array_equal(hyperplane.solve(with_arrays(a, **arrays), b).x, expected)
        far = with_arrays(a, indices=a.indices.astype(np.uint64) + np.uint64(2**63))
        self.assertIn("A.indices has the value 9223372036854775", self.refusal(hyperplane.solve, far, b))
        for name in ("indices", "indptr"):
            broken = with_arrays(a, **{name: getattr(a, name).astype(float)})
            self.assertIn(f"A.{name} has elements of type float64", self.refusal(hyperplane.solve, broken, b))

    def test_room_behind_the_last_entry(self):
        """SciPy allows it, and prune() removes it."""
        b = np.ones(12)
        for a in (line(), line().tobsr((2, 2))):
            extra = np.full((5, *a.data.shape[1:]), np.nan)
            roomy = with_arrays(a, data=np.concatenate([a.data, extra]), indices=np.append(a.indices, [0] * 5).astype(np.int32))
            np.testing.assert_array_equal(hyperplane.solve(roomy, b).x, hyperplane.solve(a, b).x)
        for form in ("csr", "csc"):
            for kind in (np.int32, np.int64):
                a = line().asformat(form)
                roomy = with_arrays(a, data=np.append(a.data, [np.nan] * 5), indptr=a.indptr.astype(kind),
                                    indices=np.append(a.indices, [-7, 0, 12, 99, 1]).astype(kind))
                np.testing.assert_array_equal(hyperplane.solve(roomy, b).x, hyperplane.solve(line(), b).x)
        short = with_arrays(line(), data=np.ones(5))
        self.assertIn("SparseMatrix::values has 5 elements", self.refusal(hyperplane.solve, short, b))

    def test_names_that_are_given_twice(self):
        for word, name, other in (("solver", "cg", "gmres"), ("preconditioner", "jacobi", "none"), ("scaling", "row", "none")):
            reason = self.refusal(hyperplane.LinearSolver, line(), **{word: name, f"{word}.name": other})
            self.assertEqual(reason, f"{word}='{name}' and {word}.name='{other}' both name the {word}; leave one of them out")
            hyperplane.LinearSolver(line(), **{f"{word}.name": other})
            hyperplane.LinearSolver(line(), **{word: other, f"{word}.name": other})
        hyperplane.preconditioner(line(), **{"solver.name": "cg"})

    def test_elements_that_are_no_numbers(self):
        a, b = line(), np.ones(12)
        self.assertIn("A has elements of type object; expected real numbers",
                      self.refusal(hyperplane.solve, with_arrays(a, data=a.data.astype(object)), b))
        self.assertTrue(hyperplane.solve(a.astype(bool).astype(np.int8) + 4 * sparse.identity(12, np.int8), b).converged)

    def test_other_objects(self):
        a, b = line(), np.ones(12)
        names = ("indptr", "indices", "data", "shape", "format", "nnz", "dtype")
        alike = type("Matrix", (), {name: getattr(a, name) for name in names})()
        self.assertIn("scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)",
                      self.refusal(hyperplane.solve, alike, b))
        other = type("Other", (), {"shape": a.shape, "tocsr": lambda self: a})()
        np.testing.assert_array_equal(hyperplane.solve(other, b).x, hyperplane.solve(a, b).x)

    def test_a_solver_says_what_it_is(self):
        self.assertEqual(repr(hyperplane.LinearSolver(line(), solver="cg", preconditioner="jacobi")),
                         "<LinearSolver of 12 rows: cg + jacobi on the CPU>")
        self.assertEqual(hyperplane.__version__, hyperplane.linear._library().version)


class Vectors(Inputs):
    def test_shapes(self):
        a = line()
        solver = hyperplane.LinearSolver(a)
        expected = solver.solve(np.ones(12)).x
        np.testing.assert_array_equal(solver.solve(np.ones((12, 1)), x0=np.zeros(12)).x, expected[:, np.newaxis])
        for shape in ((3, 4), (1, 12), (12, 1, 1), (12, 2), (1, 12, 1)):
            for name, call in (("b", solver.solve), ("x0", lambda x0: solver.solve(expected, x0)),
                               ("r", solver.precondition)):
                reason = self.refusal(call, np.ones(shape))
                self.assertIn(f"{name} has the shape {shape}, and the matrix 12 rows; expected (12,) or (12, 1)", reason)
                self.assertIn("several vectors are given one after the other", reason)
        self.assertIn("b has the shape ()", self.refusal(hyperplane.solve, line(1), 3.0))
        self.assertEqual((hyperplane.preconditioner(a) @ np.ones((12, 3))).shape, (12, 3))  # SciPy takes them one by one

    def test_elements(self):
        a, ones = line(), [1.0] * 12
        self.assertIn("b is None; expected a vector of 12 real numbers", self.refusal(hyperplane.solve, a, None))
        masked = np.ma.masked_greater(np.arange(12.0), 10.5)
        self.assertIn("b has masked elements", self.refusal(hyperplane.solve, a, masked))
        self.assertTrue(hyperplane.solve(a, np.ma.masked_greater(np.arange(12.0), 99.0)).converged)
        for b, kind in ((np.zeros(12, "datetime64[s]"), "datetime64"), (np.zeros(12, "timedelta64[s]"), "timedelta64"),
                        (["1.5"] * 12, "str"), ([b"1.5"] * 12, "bytes"), ([*ones[1:], None], "NoneType"),
                        (np.array([*ones[1:], "2"], object), "str")):
            self.assertRegex(self.refusal(hyperplane.solve, a, b), f"b is no vector of real numbers: .* of type {kind}")
        for b in ([*ones[1:], [1.0, 2.0]], np.array([*ones[1:], 1j], object), [*ones[1:], 10**400]):
            self.assertIn("b is no vector of real numbers", self.refusal(hyperplane.solve, a, b))
        for one in (1, True, np.float32(1.0), np.longdouble(1.0), fractions.Fraction(1), decimal.Decimal(1)):
            self.assertEqual(hyperplane.solve(a, [one] * 12).right_hand_side, np.sqrt(12.0))


def refused(rows):
    return hyperplane.solve(line(), np.ones(rows))


class Processes(unittest.TestCase):
    def test_errors_go_through_pickle(self):
        for error, numbers in ((hyperplane.SolveError(5, "why"), "code"), (hyperplane.RunError(7, "why"), "exit_code")):
            error.cases = 3
            same = pickle.loads(pickle.dumps(error))
            self.assertIs(type(same), type(error))
            self.assertEqual((str(same), getattr(same, numbers), same.cases), ("why", getattr(error, numbers), 3))
        self.assertEqual(pickle.loads(pickle.dumps(hyperplane.SolveError(5, "why"))).reason, "why")

    def test_a_pool_ends_with_the_error(self):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertTrue(pool.apply_async(refused, [12]).get(timeout=60).converged)
            with self.assertRaisesRegex(hyperplane.SolveError, "b has 11 elements"):
                pool.apply_async(refused, [11]).get(timeout=60)


if __name__ == "__main__":
    unittest.main()
