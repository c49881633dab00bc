# SPDX-License-Identifier: BSD-3-Clause
"""The Python module `hyperplane`: what it reads from records, from the source tree and installed.

Run by ctest with a Python that has h5py; leaves with code 77, skipped, without it.
"""

import copy
import math
import os
import pickle
import signal
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: the Python module's tests, {missing} ({sys.executable})")
    sys.exit(77)

from make_record import make_comparison, make_record, make_study, seal

SOURCES = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(SOURCES))

import hyperplane  # noqa: E402
from hyperplane.record import Value  # noqa: E402
from hyperplane.sealed import try_in_child  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None
try:
    import xarray
except ImportError:
    xarray = None


class ModuleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def record(self, name="run.h5", **options):
        make_record(str(self.folder / name), **options)
        return self.folder / name

    def test_history(self):
        run = hyperplane.load(self.record(iterations=(20, 18), rate=0.4))
        self.assertEqual(len(run.history), 21 + 19)
        self.assertEqual(list(run.history), ["solve", "iteration", "rel_res_recurrence", "rel_res_true", "seconds"])
        self.assertEqual(run.history.solve.tolist(), 21 * [0] + 19 * [1])
        second = run.history_of(1)
        self.assertEqual(second.iteration.tolist(), list(range(19)))
        self.assertAlmostEqual(second.seconds[-1], 0.036)
        self.assertTrue(math.isnan(second.rel_res_true[1]))

    def test_results_of_a_run(self):
        run = hyperplane.load(self.record(iterations=(20, 18), rate=0.4, limit=40.0))
        self.assertEqual((run.status, run.exit_code, run.stop_reason), ("ok", 0, "converged_rtol"))
        self.assertEqual((run.iterations, run.unknowns, run.extents), (38, 64**3, (64, 64, 64)))
        self.assertAlmostEqual(run.relative_residual / (1.001 * run.history.rel_res_recurrence[-1]), 1.0)
        self.assertEqual(run.value("solver.rtol"), "1e-08")
        self.assertEqual(run.deck["problem.name"].provenance, "poisson.ini:2")
        self.assertEqual(run.value("output.file"), "a # name.h5")
        self.assertEqual((run.value("no.key"), run.value("no.key", None)), ("", None))
        self.assertAlmostEqual(run.seconds("solve/spmv"), 0.4 * run.seconds("solve"))
        self.assertEqual(run.memory.label.tolist(), ["matrix", "factors", "krylov vectors"])
        self.assertEqual(run.limit, 40.0)
        self.assertAlmostEqual(run.timers.bandwidth[2], 18e6 / (0.4 * 2e-3) * 1e-9)

    def test_a_run_that_recorded_nothing(self):
        run = hyperplane.load(self.record(status="running", exit_code=-1, iterations=()))
        self.assertEqual((run.iterations, run.unknowns, run.stop_reason), (0, 0, ""))
        self.assertTrue(math.isnan(run.relative_residual))
        self.assertTrue(math.isnan(run.limit))
        self.assertEqual(len(run.history), 0)

    def test_tables(self):
        run = hyperplane.load(self.record(iterations=(20,)))
        self.assertEqual(dict(run.history)["iteration"][3], 3)
        self.assertIn("iteration", run.history)
        self.assertEqual([row.iterations for row in run.solves.rows()], [20])
        self.assertIn("[21 rows x 5 columns]", repr(run.history))
        with self.assertRaisesRegex(AttributeError, "there are solve, iteration"):
            run.history.iterations

    def test_one_of_a_kind_is_singular(self):
        for iterations, words in (((24,), "24 iterations in 1 solve"), ((1,), "1 iteration in 1 solve"),
                                  ((20, 4), "24 iterations in 2 solves"), ((), "0 iterations in 0 solves")):
            run = hyperplane.load(self.record(iterations=iterations))
            self.assertIn(f": {words}, ", repr(run))
            self.assertIn(f"<td>{words.replace(' iterations', '').replace(' iteration', '')}</td>", run._repr_html_())
            rows = f"{len(iterations)} row{'s' if len(iterations) != 1 else ''}"
            self.assertIn(f"[{rows} x ", repr(run.solves))
            self.assertIn(f"<p>{rows}</p>", run.solves._repr_html_())

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_pandas(self):
        frame = hyperplane.load(self.record(iterations=(20,))).history.to_pandas()
        self.assertEqual(frame.shape, (21, 5))
        self.assertEqual(frame.iteration.max(), 20)

    @unittest.skipUnless(xarray, "xarray is not installed")
    def test_xarray(self):
        data = hyperplane.load(self.record(iterations=(20,))).history.to_xarray()
        self.assertEqual((dict(data.sizes), int(data.iteration[3])), ({"row": 21}, 3))

    def fields(self, name):
        """A file of fields beside the record run.h5, flat along z: two equal layers."""
        with h5py.File(self.folder / name, "w") as file:
            image = file.create_group("VTKHDF")
            image.attrs.update(WholeExtent=[0, 3, 0, 2, 0, 1], Origin=[0.0, 1.0, 0.0], Spacing=[0.5, 0.25, 1.0])
            image["PointData/u"] = np.tile(np.arange(12.0).reshape(1, 3, 4), (2, 1, 1))
            image["PointData/b"] = np.full((2, 3, 4, 3), [3.0, 4.0, 0.0])
            image["PointData/b"].attrs.update(units="length/time", description="wind")

    def test_fields(self):
        run = hyperplane.load(self.record())
        run.extents = (4, 3, 1)
        self.assertEqual((run.fields, run.states), (None, []))
        self.fields("run.vtkhdf")
        state = run.fields
        self.assertEqual((state["u"].shape, state["u"][0, 2, 3], state["b"].shape), ((1, 3, 4), 11.0, (1, 3, 4, 3)))
        self.assertEqual((list(state), state.units), (["b", "u"], {"b": "length/time", "u": "1"}))
        self.assertEqual(state.coordinates[1].tolist(), [1.0, 1.25, 1.5])
        self.assertEqual((state.scalar("b")[0, 0, 0], state.scalar("b_y")[0, 0, 0]), (5.0, 4.0))
        self.assertEqual(repr(state), "<State of 4 x 3 x 1 points: b, u>")
        self.assertIn("<td>length/time</td><td>5 to 5</td><td>wind</td>", state._repr_html_())
        with self.assertRaisesRegex(KeyError, "there are b, u"):
            state["p"]
        run.snapshots = hyperplane.Table({"step": [0, 4], "time": [0.0, 0.5], "file": ["run.vtkhdf", "gone.vtkhdf"]})
        self.assertEqual([state.time for state in run.states], [0.0])
        run.hold_fields()
        (self.folder / "run.vtkhdf").unlink()
        self.assertEqual(run.fields["u"].sum(), 66.0)
        self.assertEqual(run.states[0]["u"].sum(), 66.0)

    def test_fields_that_were_moved(self):
        run = hyperplane.load(self.record())
        run.extents, run.deck["output.fields"] = (4, 3, 1), Value("true")
        for exit_code in (0, 3, 8):
            run.exit_code = exit_code
            with self.assertRaisesRegex(hyperplane.RecordError, r"run\.vtkhdf: no such file; .*run\.h5 wrote its fields there"):
                run.fields["u"]
        (self.folder / "run.vtkhdf").write_text("text")
        with self.assertRaisesRegex(hyperplane.RecordError, r"run\.vtkhdf: is damaged, or of another grid"):
            run.fields["u"]
        (self.folder / "run.vtkhdf").unlink()
        run.exit_code = 5  # it ended before there were fields
        self.assertIsNone(run.fields)
        run.exit_code = 0
        self.assertIsNone(run.hold_fields().fields)
        compared = self.folder / "c.h5"
        make_comparison(compared, {"cg+jacobi": 60})
        of_comparison = hyperplane.load(compared).records["cg+jacobi"]
        of_comparison.deck["output.fields"] = Value("true")
        self.assertIsNone(of_comparison.fields)

    def test_a_matrix_from_a_file_has_no_grid(self):
        run = hyperplane.load(self.record())
        self.assertRegex(run.grid, r"^\d+ × \d+ × \d+ points$")
        run.extents, run.stencil = (1600, 1, 1), "general"
        self.assertEqual(run.grid, "none, 1600 block rows")
        self.assertIn("none, 1600 block rows, general, 1 a row", run._repr_html_())

    def test_points_of_an_uneven_grid(self):
        run = hyperplane.load(self.record())
        run.extents = (4, 3, 1)
        self.fields("run.vtkhdf")
        self.assertTrue(run.fields.even)
        x, y = np.array([0.0, 0.1, 0.4, 1.5]), np.array([1.0, 1.4, 1.5])
        with h5py.File(self.folder / "run.vtkhdf", "a") as file:
            place = np.stack(np.broadcast_arrays(x[None, None, :], y[None, :, None], np.zeros((2, 1, 1))), axis=-1)
            file["VTKHDF/PointData/position"] = place
        state = run.fields
        self.assertEqual((state.even, list(state)), (False, ["b", "u"]))
        self.assertEqual([places.tolist() for places in state.coordinates], [x.tolist(), y.tolist(), [0.0]])
        axes = state.plot("u")
        self.assertEqual(len(axes.collections), 1)  # a mesh in place of an image
        self.assertEqual(len(axes.images), 0)

    @unittest.skipUnless(xarray, "xarray is not installed")
    def test_fields_as_xarray(self):
        run = hyperplane.load(self.record())
        run.extents = (4, 3, 1)
        self.fields("run.vtkhdf")
        data = run.fields.to_xarray()
        self.assertEqual(float(data.u.sel(x=1.5, y=1.25).item()), 7.0)
        self.assertEqual(data.b.attrs["units"], "length/time")

    def test_comparison(self):
        path = self.folder / "c.h5"
        make_comparison(path, {"cg+struct_ilu": 20, "cg+jacobi": 60})
        found = hyperplane.load(path)
        self.assertEqual((found.best, found.baseline), ("cg+struct_ilu", "cg+struct_ilu"))
        self.assertEqual(list(found.records), ["cg+struct_ilu", "cg+jacobi"])
        self.assertEqual(found.table.iterations.tolist(), [20, 60])
        self.assertEqual(found.records["cg+jacobi"].iterations, 60)
        self.assertEqual([record.label for record in hyperplane.load_all([path])], ["cg+struct_ilu", "cg+jacobi"])

    def test_study(self):
        path = self.folder / "s.h5"
        make_study(path, {("jacobi", 16): 20}, waiting=[("jacobi", 32)])
        found = hyperplane.load(path)
        self.assertEqual((found.study, found.swept), ("sizes", ["grid.cells", "preconditioner.name"]))
        self.assertEqual(found.cases.status.tolist(), ["done", "waiting"])
        self.assertEqual(list(found.records), ["preconditioner=jacobi,cells=16"])
        self.assertEqual(found.cases["grid.cells"].tolist(), [16, 32])
        self.assertEqual(found.cases["preconditioner.name"].tolist(), ["jacobi", "jacobi"])

    def test_varied_keys_are_numbers_where_all_are(self):
        def read(*values):
            return hyperplane.collection.with_numbers(np.array(values, dtype=object)).tolist()

        self.assertEqual(repr(read("8", "-16", "1000")), "[8, -16, 1000]")
        self.assertEqual(repr(read("1e-3", "2", "")), "[0.001, 2.0, nan]")
        self.assertEqual(repr(read("0", "")), "[0.0, nan]")
        for texts in (["16 16 8", "8"], ["1_0"], ["nan"], ["0x1"], ["", ""], ["jacobi", "2"], ["true"]):
            self.assertEqual(read(*texts), texts)

    def test_copies_and_pickles(self):
        compared, cases = self.folder / "c.h5", self.folder / "s.h5"
        make_comparison(compared, {"cg+struct_ilu": 20, "cg+jacobi": 60})
        make_study(cases, {("jacobi", 16): 20}, waiting=[("jacobi", 32)])
        run = hyperplane.load(self.record())
        run.extents = (4, 3, 1)
        self.fields("run.vtkhdf")
        run.hold_fields()
        for copied in (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
            for value in (run, hyperplane.load(compared), hyperplane.load(cases), run.history):
                same = copied(value)
                self.assertEqual((type(same), repr(same)), (type(value), repr(value)))
            self.assertEqual(copied(run.history).iteration.tolist(), run.history.iteration.tolist())
            self.assertEqual(copied(run).fields["u"].sum(), 66.0)
        with self.assertRaisesRegex(AttributeError, "'_repr_svg_'"):
            run.history._repr_svg_  # as notebooks ask

    def test_labels(self):
        def labels(*paths):
            return [record.label for record in hyperplane.load_all(paths)]

        ilu, jacobi = self.record("a.h5"), self.record("b.h5", preconditioner="jacobi")
        self.assertEqual(labels(ilu, jacobi), ["cg + struct_ilu", "cg + jacobi"])
        self.assertEqual(labels(ilu, self.record("c.h5")), ["a", "c"])
        self.assertEqual(len(set(labels(ilu, ilu))), 2)

    def test_errors_name_the_file(self):
        for name, words in (("none.h5", "no such file"), ("text.h5", "not an HDF5 file"), ("other.h5", "no record of"),
                            ("cut.h5", "cannot be read"), ("lacks.h5", "incomplete record.*history"),
                            ("later.h5", "schema 3; .*a newer program wrote it"), ("group.h5", "incomplete record: not all"),
                            ("word.h5", "incomplete record: not all")):
            path = self.folder / name
            if name == "text.h5":
                path.write_text("text")
            elif name == "other.h5":
                h5py.File(path, "w").close()
            elif name == "cut.h5":
                path.write_bytes(self.record().read_bytes()[:1000])
            elif name == "lacks.h5":
                with h5py.File(self.record(name), "a") as file:
                    del file["history"]
            elif name == "group.h5":
                with h5py.File(self.record(name), "a") as file:
                    del file["history/iteration"]
                    file.create_group("history/iteration")
            elif name == "word.h5":
                with h5py.File(self.record(name), "a") as file:
                    file.attrs["exit_code"] = "two"
            elif name == "later.h5":
                self.record(name, schema=3)
            with self.assertRaisesRegex(hyperplane.RecordError, f"{name}: .*{words}") as caught:
                hyperplane.load(path)
            self.assertNotRegex(str(caught.exception), "Unable to|invalid literal|object '")

    def test_a_seal_of_a_newer_program(self):
        whole = bytearray(seal(self.record("whole.h5")).read_bytes())
        whole[:24] = b"hyperplane record 2".ljust(24, b"\0")
        whole[44:48] = zlib.crc32(whole[:44]).to_bytes(4, "little")
        path = self.folder / "b.h5"
        path.write_bytes(whole)
        with self.assertRaisesRegex(hyperplane.RecordError, r"b.h5: a newer program wrote it \(hyperplane record 2\)"):
            hyperplane.load(path)

    def test_damage_is_told(self):
        """Any bit of a sealed file, and any part of it cut off."""
        whole = seal(self.record("whole.h5")).read_bytes()
        self.assertEqual(hyperplane.load(self.folder / "whole.h5").status, "ok")
        path = self.folder / "a.h5"
        for at in [*range(0, 600), *range(600, len(whole), 331)]:
            flipped = bytearray(whole)
            flipped[at] ^= 1 << at % 8
            path.write_bytes(flipped)
            with self.assertRaisesRegex(hyperplane.RecordError, "a.h5: damaged"):
                hyperplane.load(path)
        for length in range(0, len(whole), 997):
            path.write_bytes(whole[:length])
            with self.assertRaisesRegex(hyperplane.RecordError, "a.h5: (damaged|cannot be read)"):
                hyperplane.load(path)

    def test_a_crash_is_the_file_s(self):
        """A reading that dies or does not end is a message."""
        path = self.record()
        for what, words in ((lambda: os.kill(os.getpid(), signal.SIGSEGV), "crashes"),
                            (lambda: os.kill(os.getpid(), signal.SIGXCPU), "not come to an end"),
                            (lambda: bytearray(1 << 40), "claims more")):
            with self.assertRaisesRegex(hyperplane.RecordError, f"damaged: .*{words}"):
                try_in_child(path, what)


if __name__ == "__main__":
    unittest.main()
