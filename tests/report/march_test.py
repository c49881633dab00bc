# SPDX-License-Identifier: BSD-3-Clause
"""The page of a run of many solves: what it opens on, tables without empty columns, series, and letters that never
cover one another."""

import itertools
import os
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

try:
    import h5py
    import matplotlib
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
except ImportError as missing:
    print(f"skipped: the report, {missing} ({sys.executable})")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "apps" / "reporting"))

from make_record import make_record  # noqa: E402

import report  # noqa: E402, F401  (it finds the module hyperplane)
import hyperplane  # noqa: E402
from reporting import cases, fields, march, page, plots  # noqa: E402


def overlaps(drawing):
    """The pairs of texts of a figure whose boxes cover one another by more than a pixel."""
    with matplotlib.rc_context(plots.STYLE):
        canvas = FigureCanvasAgg(drawing)
        canvas.draw()
    shown = [text for text in drawing.findobj(Text) if text.get_visible() and text.get_text().strip()
             and (text.axes is None or text.axes.get_visible())]
    boxes = [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in shown]
    ticks = {id(text) for axes in drawing.axes for axis in (axes.xaxis, axes.yaxis)
             for tick in axis.get_major_ticks() + axis.get_minor_ticks() for text in (tick.label1, tick.label2)
             if not axis.get_view_interval()[0] <= tick.get_loc() <= axis.get_view_interval()[1]}
    boxes = [box for text, box in zip(shown, boxes) if id(text) not in ticks]
    return [(one, other) for (one, a), (other, b) in itertools.combinations(boxes, 2)
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1]


def covered(drawing):
    """The titles of a drawn figure that lie over axes, such as a bar of colours."""
    return [axes.get_title(loc=place) for axes, other in itertools.permutations(drawing.axes, 2)
            for place, title in (("left", axes._left_title), ("center", axes.title))
            if title.get_text() and title.get_window_extent().overlaps(other.get_window_extent())]


class MarchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def load(self, *records):
        paths = []
        for at, options in enumerate(records):
            paths.append(self.folder / f"{'abcdefghijkl'[at]}{len(paths)}.h5")
            make_record(paths[-1], **options)
        return hyperplane.load_all(paths)

    def panels(self, *records):
        loaded = self.load(*records)
        axis = march.Axis(loaded)
        return axis, {panel.title: panel for panel in march.panels(loaded, axis)}

    def test_a_transient_run_over_time(self):
        axis, panels = self.panels({"iterations": (7, 5, 6), "march": {}})
        self.assertEqual(axis.label, "time")
        self.assertEqual(list(panels)[:2], ["energy", "mass"])
        self.assertEqual(panels["linear iterations a step"].curves[0][1].tolist(), [7, 5, 6])
        self.assertEqual(panels["energy"].curves[0][1].tolist(), [1, 0.5, 0.25, 0.125])
        for absent in ("Courant number", "estimated error", "‖F‖ of the steady problem"):
            self.assertNotIn(absent, panels)

    def test_a_run_to_a_steady_state_over_steps(self):
        axis, panels = self.panels({"iterations": (7, 5, 6), "march": {"cfl": True}})
        self.assertEqual(axis.label, "step")
        self.assertEqual(panels["Courant number"].curves[0][1].tolist(), [10, 20, 40])
        self.assertIn("‖F‖ of the steady problem", panels)

    def test_a_transient_run_has_its_courant_number(self):
        axis, panels = self.panels({"iterations": (7, 5, 6), "march": {"courant": 4.0}})
        self.assertEqual(axis.label, "time")
        self.assertEqual(panels["Courant number"].curves[0][1].tolist(), [4, 4, 4])

    def test_a_nonlinear_problem_over_newton_steps(self):
        axis, panels = self.panels({"iterations": (7, 5, 6), "march": {"newton": True}})
        self.assertEqual(axis.label, "Newton step")
        self.assertEqual(panels["linear iterations"].curves[0][1].tolist(), [7, 5, 6])

    def test_a_conserved_quantity_is_drawn_as_its_change(self):
        _, panels = self.panels({"iterations": (7, 5), "march": {"conserved": True}})
        self.assertIn("mass − (3)", panels)
        self.assertAlmostEqual(panels["mass − (3)"].curves[0][1][-1], 2e-12, delta=1e-15)

    def test_captions_say_what_is_drawn(self):
        """A state that no step has left is the initial one, and the fields of a tube are lines."""
        begun, stopped = self.load({"iterations": (7,), "march": {}}, {"iterations": (7,), "march": {}})
        stopped.steps.accepted[:] = 0
        self.assertTrue(fields.shown_state(begun).startswith("The final state of "))
        self.assertTrue(fields.shown_state(stopped).startswith("The initial state of "))
        for extents, words in (((40, 1, 1), "along x"), ((1, 1, 9), "along z"), ((9, 8, 1), "shortest axis"), ((9, 8, 7), "shortest axis")):
            self.assertIn(words, fields.shown_part(SimpleNamespace(extents=extents)))

    def test_the_run_ended_as_a_whole(self):
        """The table says why the run ended, not its last solve."""
        ended = lambda **how: self.load({"iterations": (7, 5, 6), "march": {}, **how})[0].ended
        self.assertEqual(ended(message="steady_state: ||F|| is small"), "steady_state")
        self.assertEqual(ended(message="a.ini: no such file"), "converged_rtol")
        drawn = page.render(self.load({"iterations": (7, 5, 6), "march": {}, "message": "steady_state: ||F|| is small"}))
        self.assertTrue(">ended</th><td class=\"number\">steady_state</td>" in drawn)

    def test_the_page_opens_on_it(self):
        drawn = page.render(self.load({"iterations": (7, 5, 6), "march": {}}))
        places = [drawn.index(part) for part in ("How it went", "The run</caption>", "How it converged")]
        self.assertEqual(places, sorted(places))
        self.assertIn("energy of cg + struct_ilu: 1 at first, 0.125 at the end", drawn)
        self.assertIn('<details class="teeth">', drawn)
        self.assertIn("error, max", drawn)
        self.assertEqual(march.section(self.load({})), "")

    def test_no_column_is_nan(self):
        for kind in ({}, {"cfl": True}, {"newton": True}):
            (record,) = self.load({"iterations": (7, 5, 6), "march": kind})
            drawn = page.particulars(record) + page.summary([record])
            self.assertNotIn("nan<", drawn)
            self.assertEqual(">CFL<" in drawn, kind.get("cfl", False))

    def sheet(self, *records):
        return cases.of_records(self.load(*records))

    def series(self, *records):
        sheet = self.sheet(*records)
        titles = [column.title for column in sheet.columns]
        return cases.groups(sheet, titles.index("unknowns"), titles.index("iterations"))

    def test_a_word_that_changes_with_the_size_begins_another_series(self):
        found = self.series({"solver": "cg", "cells": 16, "iterations": (10,)},
                            {"solver": "gmres", "cells": 32, "iterations": (20,)})
        self.assertEqual(found, {"cg": [(4096, 10)], "gmres": [(32768, 20)]})

    def test_devices_are_series_of_their_own(self):
        found = self.series({"cells": 16, "iterations": (10,), "device": "cpu"},
                            {"cells": 32, "iterations": (20,), "device": "cuda"})
        self.assertEqual(sorted(found), ["cpu", "cuda"])

    def test_sizes_of_one_method_are_joined(self):
        found = self.series(*({"cells": n, "iterations": (n,)} for n in (16, 32, 64)))
        self.assertEqual([len(points) for points in found.values()], [3])
        self.assertTrue(all(map(cases.is_line, found.values())))

    def test_repetitions_are_not_joined(self):
        self.assertFalse(cases.is_line([(1, 2), (1, 3), (2, 5)]))
        self.assertTrue(cases.is_line([(1, 2), (2, 5)]))

    def test_equal_words_of_two_keys_are_told_apart(self):
        columns = [cases.Column("preconditioner", ["none", "jacobi"], True), cases.Column("smoother", ["jacobi", None], True)]
        names = {cases.group_name(columns, [0, 1], row) for row in zip(*(column.values for column in columns))}
        self.assertEqual(names, {"none, smoother = jacobi", "preconditioner = jacobi"})

    def test_fields_beside_the_record_are_shown_as_slices(self):
        (record,) = self.load({"cells": 6})
        self.assertEqual(fields.section([record]), "")
        z, y, x = np.meshgrid(*(np.arange(6.0),) * 3, indexing="ij")
        with h5py.File(record.path.replace(".h5", ".vtkhdf"), "w") as file:
            image = file.create_group("VTKHDF")
            image.attrs.update(WholeExtent=np.array([0, 5] * 3), Origin=np.zeros(3), Spacing=np.full(3, 0.5))
            image["PointData/u"] = x + 10.0 * y + 100.0 * z
        (part,) = fields.slices(record)
        self.assertEqual((part.name, part.axes, part.where), ("u", ("x", "y"), "z = 1.5"))
        self.assertEqual(part.values[1].tolist(), [310.0, 311.0, 312.0, 313.0, 314.0, 315.0])
        self.assertEqual(part.ends, (0.0, 2.5, 0.0, 2.5))
        self.assertIn("u between 300 and 355", fields.section([record]))
        self.assertEqual(overlaps(fields.picture([part] * 4)), [])
        record.extents = (7, 6, 6)
        self.assertEqual(fields.slices(record), [])  # the file is of another grid

    def with_series(self, times=(0.0, 0.25, 0.5)):
        """A record whose series has a vector that grows with time."""
        (record,) = self.load({"cells": 6, "iterations": (7, 5), "march": {}})
        names = []
        for step, time in enumerate(times):
            names.append(f"step_{step}.vtkhdf")
            with h5py.File(self.folder / names[-1], "w") as file:
                image = file.create_group("VTKHDF")
                image.attrs.update(WholeExtent=np.array([0, 5] * 3), Origin=np.zeros(3), Spacing=np.full(3, 0.5))
                image["PointData/velocity"] = np.full((6, 6, 6, 3), [3.0 * time, 4.0 * time, 0.0])
                image["PointData/velocity"].attrs["units"] = "length/time"
        record.snapshots = hyperplane.Table({"step": np.arange(len(times)), "time": np.array(times),
                                             "file": np.array(names, dtype=object)})
        return record

    def test_a_series_is_shown_as_a_strip(self):
        record = self.with_series()
        self.assertEqual([state.time for state in record.states], [0.0, 0.25, 0.5])
        self.assertEqual(record.fields.scalar("velocity_y")[0, 0, 0], 2.0)
        self.assertIn("|velocity| of cg + struct_ilu at 3 times from 0 to 0.5, between 0 and 2.5",
                      fields.section([record]))
        parts = [fields.slice_of(state, "velocity") for state in record.states]
        self.assertEqual(parts[1].title, "|velocity|\nz = 1.5, t = 0.25")
        self.assertEqual(overlaps(fields.picture(parts * 2)), [])
        for part in parts:
            part.name, part.where, part.unit = "temperature_change", "z = 0.5208", "mass/(length time^2)"
            part.time = 0.1127
        drawing = fields.picture(parts * 2)
        self.assertEqual(overlaps(drawing), [])
        self.assertEqual(covered(drawing), [])
        self.assertEqual(len(fields.chosen_states(self.with_series(np.arange(20.0)))), fields.MOST_STATES)

    def test_a_slice_of_an_uneven_grid_shows_where_its_points_are(self):
        state = self.with_series().states[2]
        state.even, state.coordinates = False, tuple(np.linspace(0.0, 1.0, 6) ** 2 for _ in range(3))
        part = fields.slice_of(state, "velocity")
        self.assertEqual([list(places) for places in part.places], [list(state.coordinates[0])] * 2)
        drawing = fields.picture([part])
        self.assertEqual((len(drawing.axes[0].images), len(drawing.axes[0].collections)), (0, 1))
        self.assertEqual(fields.profile_of(state, "velocity", 0).places.tolist(), state.coordinates[0].tolist())

    def test_a_profile_crosses_the_middle_or_what_is_chosen(self):
        state = self.with_series().states[2]
        part = fields.profile_of(state, "velocity_x", 0, [(1, 1.1)])
        self.assertEqual((part.along, part.where, part.values.tolist()), ("x", "y = 1, z = 1.5", [1.5] * 6))
        self.assertEqual([axes.get_ylabel() for axes in fields.profiles([part]).axes], ["velocity_x [length/time]"])
        part.unit = "1"
        self.assertEqual([axes.get_ylabel() for axes in fields.profiles([part]).axes], ["velocity_x"])
        self.assertEqual(overlaps(fields.profiles([fields.profile_of(at, "velocity", 2)
                                                   for at in self.with_series().states])), [])

    def test_letters_never_cover_one_another(self):
        name = "a_preconditioner_with_quite_a_long_name"
        for records in ([{"iterations": (7,) * 30, "march": {"cfl": True, "conserved": True}}, {"iterations": (9,) * 9}],
                        [{"preconditioner": f"{name}_{n}", "iterations": (9 * n + 5,)} for n in range(4)]):
            loaded = self.load(*records)
            drawings = [plots.convergence(loaded), plots.breakdown(loaded), plots.bandwidth(loaded),
                        plots.memory(loaded)]
            if march.is_march(loaded[0]):
                axis = march.Axis(loaded)
                drawings.append(march.picture(loaded, axis, march.panels(loaded, axis)))
            for drawing in drawings:
                self.assertEqual(overlaps(drawing), [])
        curves = {f"{name}_{n}": [(10**k, n + 2.0**k) for k in range(1, 7)] for n in range(6)}
        self.assertEqual(overlaps(plots.scaling([("total [s]", curves), ("iterations", curves)], "unknowns")), [])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    unittest.main()
