# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane.solve, preconditioner and LinearSolver: SciPy's matrices, judged by SciPy's own solutions and by the program."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]

try:
    import h5py  # noqa: F401
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
    from scipy.sparse import linalg
except ImportError as missing:
    print(f"skipped: {missing} ({sys.executable})")
    sys.exit(77)

sys.path[:0] = [os.environ["HYPERPLANE_MODULE"], str(ROOT / "tests/docs")]

import hyperplane  # noqa: E402
from document import blocks  # noqa: E402
from hyperplane.arrays import arrays_of  # noqa: E402


def laplacian(side=12):
    """-u'' in two dimensions; symmetric positive definite."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (side, side))
    return sparse.kronsum(line, line).tocsr()


def unsymmetric(rows=300, seed=1):
    a = sparse.random(rows, rows, 0.03, random_state=seed)
    return (a + sparse.diags(1.0 + np.asarray(abs(a).sum(axis=1)).ravel())).tocsr()


def claimed(array):
    """An object that says that an array of the host lies in a GPU's memory."""
    interface = {**array.__array_interface__, "strides": array.strides}
    return type("array", (), {"__cuda_array_interface__": interface})()


def claimed_matrix(a, shape=None):
    parts = {name: claimed(getattr(a, name)) for name in ("data", "indices", "indptr")}
    return type("csr_matrix", (), {**parts, "format": "csr", "shape": shape or a.shape, "tocsr": lambda self: self})()


def right_hand_side(a):
    return np.random.default_rng(5).standard_normal(a.shape[0])


class Solves(unittest.TestCase):
    def assert_solved(self, a, solution, b):
        self.assertTrue(solution.converged, solution.explanation)
        self.assertLess(np.abs(solution.x - linalg.spsolve(a.tocsc(), b)).max(), 1e-6)
        self.assertAlmostEqual(solution.residual, np.linalg.norm(b - a @ solution.x), delta=1e-10 * np.linalg.norm(b))

    def test_every_format(self):
        a = unsymmetric()
        b = right_hand_side(a)
        for given in (a, a.tobsr((3, 3)), a.tobsr((2, 3)), a.tocoo(), a.tocsc(), a.tolil(), sparse.csr_array(a)):
            with self.subTest(type(given).__name__):
                self.assert_solved(a, hyperplane.solve(given, b, rtol=1e-10), b)
        self.assertEqual(hyperplane.solve(a, b.reshape(-1, 1)).x.shape, (300, 1))

    def test_what_a_solution_tells(self):
        a = laplacian()
        b = right_hand_side(a)
        solution = hyperplane.solve(a, b, solver="cg", preconditioner="sync_free_ilu", fill_level=1, threads=1)
        self.assertEqual(solution.reason, "converged_rtol")
        self.assertEqual(len(solution.history), solution.iterations + 1)
        self.assertLessEqual(solution.relative_residual, 1e-8)
        self.assertAlmostEqual(solution.right_hand_side, np.linalg.norm(b), places=12)
        self.assertRegex(repr(solution), r"^<Solution: converged_rtol after \d+ iterations, ")
        self.assertEqual(hyperplane.solve(a, b, solver="cg", x0=solution.x).iterations, 0)
        again = hyperplane.solve(a, b, solver="cg", preconditioner="sync_free_ilu", fill_level=1, threads=2)
        np.testing.assert_array_equal(again.x, solution.x)

    def test_a_solve_that_does_not_converge_is_a_result(self):
        solution = hyperplane.solve(laplacian(), np.ones(144), max_iterations=2)
        self.assertEqual((solution.converged, solution.reason, solution.iterations), (False, "max_iterations", 2))
        self.assertIn("iterations allowed were not enough", solution.explanation)

    def test_the_program_finds_the_same(self):
        a = unsymmetric()
        keys = {"solver": {"name": "bicgstab", "rtol": 1e-10}, "preconditioner": {"name": "sync_free_ilu", "fill_level": 1}}
        solution = hyperplane.solve(a, np.ones(300), solver="bicgstab", rtol=1e-10, preconditioner="sync_free_ilu",
                                    fill_level=1)
        with TemporaryDirectory() as folder:
            scipy.io.mmwrite(f"{folder}/a.mtx", a, precision=17, symmetry="general")
            problem = {"name": "matrix", "file": f"{folder}/a.mtx", "right_hand_side": "ones"}
            os.chdir(folder)
            record = hyperplane.run({"problem": problem, **keys})
            os.chdir("/")
        np.testing.assert_array_equal(record.history.rel_res_recurrence, solution.history)

    def test_rows_are_matched_as_in_the_program(self):
        a = unsymmetric()[np.random.default_rng(2).permutation(300)]
        b = right_hand_side(a)
        with self.assertRaises(hyperplane.SolveError):
            hyperplane.solve(a, b, preconditioner="jacobi")
        keys = {"preconditioner": "par_ilut", "scaling": "matching", "ordering.rows": "matching", "rtol": 1e-10}
        solution = hyperplane.solve(a, b, **keys)
        self.assert_solved(a, solution, b)
        with TemporaryDirectory() as folder:
            scipy.io.mmwrite(f"{folder}/a.mtx", a, precision=17, symmetry="general")
            scipy.io.mmwrite(f"{folder}/b.mtx", b.reshape(-1, 1), precision=17)
            problem = {"name": "matrix", "file": f"{folder}/a.mtx", "right_hand_side": f"{folder}/b.mtx", "block": 1}
            os.chdir(folder)
            record = hyperplane.run({"problem": problem, "solver": {"rtol": 1e-10}, "preconditioner": {"name": "par_ilut"},
                                     "ordering": {"rows": "matching"}, "scaling": {"name": "matching"}})
            os.chdir("/")
        np.testing.assert_array_equal(record.history.rel_res_recurrence, solution.history)

    def test_update(self):
        a, other = laplacian(), laplacian() * 2.0
        b = right_hand_side(a)
        solver = hyperplane.LinearSolver(a, solver="cg")
        self.assert_solved(a, solver.solve(b), b)
        solver.update(other)
        self.assert_solved(other, solver.solve(b), b)
        other.data *= 2.0
        solver.update(other)
        self.assert_solved(other, solver.solve(b), b)
        with self.assertRaisesRegex(hyperplane.SolveError, "another pattern"):
            solver.update(laplacian(11))

    def test_preconditioner(self):
        a = laplacian(30)
        b = right_hand_side(a)

        def iterations(m):
            count = []
            x, info = linalg.cg(a, b, M=m, tol=1e-8, atol=0, callback=count.append)
            self.assertEqual(info, 0)
            return len(count)

        self.assertLess(iterations(hyperplane.preconditioner(a, "sync_free_ilu", fill_level=2)), iterations(None) / 3)
        jacobi = hyperplane.preconditioner(a, "jacobi")
        np.testing.assert_allclose(jacobi @ b, b / 4.0, rtol=1e-15)
        self.assertEqual((jacobi @ np.ones((900, 2))).shape, (900, 2))


class Runs(unittest.TestCase):
    """Where hyperplane.run leaves its files."""

    DECK = {"problem": {"name": "poisson"}, "grid": {"cells": 5}, "solver": {"name": "cg"}}

    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def left(self, deck, **options):
        """The files that a run leaves, which are removed."""
        before = set(os.listdir())
        record = hyperplane.run(deck, **options)
        self.assertIn("u", record.fields)
        files = sorted(set(os.listdir()) - before)
        for file in files:
            os.remove(file)
        return files

    def test_files_are_kept_where_the_deck_or_set_names_them(self):
        text = "[problem]\nname = poisson\n[grid]\ncells = 5\n[solver]\nname = cg\n[output]\nfields = true\n"
        Path("plain.ini").write_text(text, encoding="utf-8")
        Path("named.ini").write_text(text + "file = mine.h5  ; kept\n", encoding="utf-8")
        Path("quoted.ini").write_text(text + 'file = "my; own.h5" # kept\n', encoding="utf-8")
        in_dictionary = {**self.DECK, "output": {"fields": True, "file": Path("mine.h5")}}
        mine, other = ["mine.h5", "mine.vtkhdf"], ["other.h5", "other.vtkhdf"]
        self.assertEqual(self.left("plain.ini"), [])
        self.assertEqual(self.left("named.ini"), mine)
        self.assertEqual(self.left("quoted.ini"), ["my; own.h5", "my; own.vtkhdf"])
        self.assertEqual(self.left(in_dictionary), mine)
        for deck in ("plain.ini", "named.ini", in_dictionary):
            self.assertEqual(self.left(deck, set={"output.file": "other.h5"}), other)
            self.assertEqual(self.left(deck, output="other.h5"), other)
        self.assertEqual(self.left("named.ini", set=["output.file=x.h5", "output.file = other.h5"]), other)
        self.assertEqual(self.left("named.ini", set="output.file="), [])
        self.assertEqual(self.left("named.ini", set={"output.file": "other.h5"}, output="other.h5"), other)
        self.assertEqual(self.left("named.ini", set="output.file=", output="other.h5"), other)  # an empty value names none

    def test_two_names_for_one_record(self):
        with self.assertRaises(hyperplane.RunError) as caught:
            hyperplane.run(self.DECK, set={"output.file": "other.h5"}, output="kept.h5")
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertRegex(str(caught.exception), "output='kept.h5' and set output.file='other.h5' both name ")
        self.assertEqual(os.listdir(), [])

    def test_a_record_that_is_run_again_does_not_keep_its_place(self):
        hyperplane.run(self.DECK, output="first.h5")
        again = hyperplane.run("first.h5")
        self.assertEqual(again.status, "ok")
        self.assertEqual(os.listdir(), ["first.h5"])


class Arrays(unittest.TestCase):
    def test_are_read_where_they_are(self):
        blocks_of_4 = laplacian().tobsr((4, 4))
        blocks_of_4.sort_indices()
        for a in (laplacian(), blocks_of_4):
            row_begin, columns, values, block = arrays_of(a)
            for passed, held in ((row_begin, a.indptr), (columns, a.indices), (values, a.data)):
                self.assertEqual(passed.__array_interface__["data"], held.__array_interface__["data"])
        a = sparse.random(80, 80, 0.5, random_state=1).tobsr((20, 20))
        solver = hyperplane.LinearSolver(a, preconditioner="none", restart=5)
        solver.solve(np.ones(80))
        self.assertLess(solver.peak_memory, a.data.nbytes)

    def test_are_copied_where_they_must_be(self):
        a = unsymmetric()
        b = right_hand_side(a)
        expected = hyperplane.solve(a, b).x
        narrow = a.astype(np.float32)
        wide = a.copy()
        wide.indices, wide.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
        shuffled = a[:, ::-1].tocsr()[:, ::-1]
        shuffled.indices, shuffled.data = shuffled.indices.copy(), shuffled.data.copy()
        for row in range(300):  # columns descend
            of_row = slice(shuffled.indptr[row], shuffled.indptr[row + 1])
            order = np.argsort(-shuffled.indices[of_row])
            shuffled.indices[of_row], shuffled.data[of_row] = shuffled.indices[of_row][order], shuffled.data[of_row][order]
        shuffled.has_sorted_indices = shuffled.has_canonical_format = False
        before = shuffled.indices.copy()
        for same in (wide, shuffled):
            np.testing.assert_array_equal(hyperplane.solve(same, b).x, expected)
        np.testing.assert_array_equal(shuffled.indices, before)  # the user's matrix is left as it is
        np.testing.assert_allclose(hyperplane.solve(narrow, b, rtol=1e-12).x, linalg.spsolve(narrow.astype(float).tocsc(), b))

    def test_outlive_the_matrix(self):
        a = laplacian()
        b = right_hand_side(a)
        solver = hyperplane.LinearSolver(a, solver="cg")
        expected = solver.solve(b).x
        del a
        trash = [np.full(4 * 144, np.nan) for _ in range(100)]
        np.testing.assert_array_equal(solver.solve(b).x, expected)
        del trash


class Refusals(unittest.TestCase):
    def refusal(self, code, *arguments, **settings):
        with self.assertRaises(hyperplane.SolveError) as caught:
            hyperplane.solve(*arguments, **settings)
        self.assertEqual(caught.exception.code, code)
        self.assertEqual(str(caught.exception), caught.exception.reason)
        return caught.exception.reason

    def test_keys(self):
        a, b = laplacian(), np.ones(144)
        self.assertIn("no solver is called 'cgs'; there are cg,", self.refusal(2, a, b, solver="cgs"))
        self.assertIn("unknown key 'rtoll'; solver gmres and", self.refusal(2, a, b, rtoll=1))
        self.assertIn("struct_ilu takes matrices on a grid alone", self.refusal(2, a, b, preconditioner="struct_ilu"))
        self.assertIn("cg needs a symmetric matrix", self.refusal(2, unsymmetric(), np.ones(300), solver="cg"))
        self.assertIn("expected cpu or cuda", self.refusal(2, a, b, backend="gpu"))
        for threads in ("all", -1, 4097, 100000, 1.5):
            self.assertIn(f"threads: expected integer >= 0 and <= 4096, got {threads!r}",
                          self.refusal(2, a, b, threads=threads))
        self.assertIn("device is 1, the number of a GPU", self.refusal(2, a, b, device=1))
        self.assertTrue(hyperplane.solve(a, b, **{"solver.rtol": 1e-3}).converged)

    def test_arrays(self):
        a, b = laplacian(), np.ones(144)
        self.assertIn("b has 143 elements, the matrix 144 rows", self.refusal(2, a, b[1:]))
        self.assertIn("must be square", self.refusal(2, a[:10], b))
        self.assertIn("expected a sparse matrix", self.refusal(2, a.toarray(), b))
        self.assertIn("A is complex", self.refusal(2, a * 1j, b))
        self.assertIn("b is complex", self.refusal(2, a, b * 1j))
        self.assertIn("b.toarray().ravel()", self.refusal(2, a, sparse.csr_matrix(b)))
        self.assertIn("b is no vector of real numbers", self.refusal(2, a, ["one"] * 144))
        for at, value in ((0, 1), (4, 10**6), (144, 10**6)):
            broken = a.copy()
            broken.indptr[at] = value
            self.assertIn("A.indptr must begin with 0, never fall", self.refusal(2, broken, b))

    def test_arrays_on_a_gpu(self):
        """Objects that say so are refused with a reason where they do not fit; python_device_test.py has real ones."""
        a, b = laplacian(), np.ones(144)
        on_gpu = claimed(b)
        exported = type("array", (), {"__dlpack_device__": lambda self: (2, 0)})()
        for array in (on_gpu, exported):
            self.assertIn("b lies in a GPU's memory, and A in the host's", self.refusal(2, a, array))
            self.assertIn("x0 lies in", self.refusal(2, a, b, x0=array))
        self.assertIn("A says that it lies in a GPU's memory, and CUDA finds no GPU there",
                      self.refusal(9, claimed_matrix(a), on_gpu))
        self.assertIn("and backend is cpu", self.refusal(2, claimed_matrix(a), on_gpu, backend="cpu"))
        self.assertIn("must be square", self.refusal(2, claimed_matrix(a, shape=(144, 143)), on_gpu))
        self.assertIn("expected a sparse matrix of cupyx", self.refusal(2, on_gpu, on_gpu))
        self.assertIn("A is complex", self.refusal(2, claimed_matrix(a * 1j), on_gpu))
        self.assertIn("has elements of type <f4", self.refusal(2, claimed_matrix(a.astype(np.float32)), on_gpu))
        for gaps, dense in ((b, True), (b[::2], False), (np.ones((3, 4)), True), (np.ones((4, 3)).T, False)):
            self.assertEqual(hyperplane.on_gpu.is_dense(claimed(gaps).__cuda_array_interface__), dense)

    def test_pivots(self):
        a = sparse.csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
        self.assertIn("pivot", self.refusal(5, a, np.ones(2)))

    def test_devices(self):
        try:
            solution = hyperplane.solve(laplacian(), np.ones(144), backend="cuda")
        except hyperplane.SolveError as error:
            self.assertEqual(error.code, 9, error.reason)
        else:
            self.assertTrue(solution.converged)


class Process(unittest.TestCase):
    def test_ctrl_c_ends_a_solve(self):
        """The signal comes from a thread of Python, which runs only if the solve has released the GIL."""
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, previous)

        def interrupt():
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        a = laplacian(100)
        solver = hyperplane.LinearSolver(a, solver="richardson", preconditioner="jacobi", rtol=0, max_iterations=10**9,
                                         damping=1e-9)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            solver.solve(np.ones(10000))
        thread.join()
        self.assertEqual(solver.precondition(np.ones(10000))[0], 0.25)  # it can still be used

    def run_python(self, code):
        """The words that code prints after a solve; a process that hangs fails after a minute."""
        head = ("import hyperplane, os, threading, time, numpy as np, scipy.sparse as s\n"
                "line = s.diags([-1.0, 2.1, -1.0], [-1, 0, 1], (60, 60))\n"
                "A, b = s.kronsum(line, s.kronsum(line, line)).tocsr(), np.ones(60 ** 3)\n"
                "solver = hyperplane.LinearSolver(A, solver='cg', preconditioner='jacobi', threads=2)\n"
                "x = solver.solve(b).x\n")
        done = subprocess.run([sys.executable, "-c", head + code], text=True, capture_output=True, timeout=60, check=False,
                              env={**os.environ, "PYTHONPATH": os.environ["HYPERPLANE_MODULE"], "OMP_NUM_THREADS": "2"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_a_forked_process_solves_too(self):
        """multiprocessing forks its processes, and the threads of OpenMP do not exist in them."""
        code = ("if os.fork():\n"
                "    print('parent', os.wait()[1])\n"
                "else:\n"
                "    made = hyperplane.solve(A, b, solver='cg', preconditioner='jacobi', threads=2)\n"
                "    try: hyperplane.solve(A, b[1:])\n"
                "    except hyperplane.SolveError as error: print(error.code)\n"
                "    print(np.array_equal(solver.solve(b).x, x), np.array_equal(made.x, x), flush=True)\n"
                "    os._exit(0)\n")
        self.assertEqual(self.run_python(code), ["2", "True", "True", "parent", "0"])

    def test_a_daemon_thread_may_be_solving_when_python_ends(self):
        code = ("endless = dict(solver='richardson', preconditioner='none', damping=1e-9, rtol=0, max_iterations=10**9)\n"
                "threading.Thread(target=lambda: hyperplane.solve(A, b, **endless), daemon=True).start()\n"
                "time.sleep(0.5)\n"
                "print('end')\n")
        self.assertEqual(self.run_python(code), ["end"])

    def test_without_the_compiled_part(self):
        code = ("import hyperplane, scipy.sparse as s\n"
                "try: hyperplane.solve(s.identity(3, format='csr'), [1, 2, 3])\n"
                "except ImportError as error: print(error)")
        done = subprocess.run([sys.executable, "-B", "-c", code], text=True, capture_output=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertIn("build it with pybind11-dev", done.stdout)

    def test_the_document(self):
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        names = {}
        for language, _, code in blocks(text):
            if language == "python":
                exec(compile(code, "docs/python.md", "exec"), names)  # noqa: S102
        self.assertTrue(names["solution"].converged)


if __name__ == "__main__":
    unittest.main()
