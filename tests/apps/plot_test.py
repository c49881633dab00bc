# SPDX-License-Identifier: BSD-3-Clause
"""hyperplane plot: what it draws of a record, and what it says of what it cannot draw."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

from program import POISSON, TRANSPORT, ProgramTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "apps" / "reporting"))
import plot  # noqa: E402

try:
    import h5py  # noqa: F401
    import matplotlib  # noqa: F401
except ImportError as missing:
    print(f"skipped: hyperplane plot, {missing} ({sys.executable})")
    sys.exit(77)

MARCH = TRANSPORT.format(cells="9 8 7", steps=4).replace("[grid]", "initial_condition = gaussian\n[grid]")
HEADS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


class Plot(ProgramTest):
    @classmethod
    def setUpClass(cls):
        """Two runs that all tests draw: a steady one and a transient one with a series."""
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.records = pathlib.Path(scratch.name)

    def setUp(self):
        super().setUp()
        self.folder = self.records
        for name, deck in (("p", POISSON.format(cells="9 8 7")), ("t", MARCH)):
            if not (self.folder / f"{name}.h5").exists():
                every = ["--set", "output.fields_every=2"] if name == "t" else []
                self.expect(0, "run", self.write(f"{name}.ini", deck), "--set", "output.fields=true", *every)

    def script(self, code, record, *words):
        """What plot.py prints, which `hyperplane plot` starts in a process of its own."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.assertEqual(plot.main([str(self.folder / record), *words]), code, said.getvalue())
        return said.getvalue()

    def letters(self, *words):
        """The lines of letters of a picture; an SVG has them as comments."""
        picture = self.folder / "a.svg"
        picture.unlink(missing_ok=True)
        self.script(0, *words, "-o", str(picture))
        return "\n".join(re.findall("<!-- (.*?) -->", picture.read_text(), re.S))

    def test_every_kind_of_picture(self):
        self.assertEqual(self.expect(0, "plot", "p.h5", "u", "--slice", "x=0.5", "-o", "b.png").stdout, "b.png\n")
        for kind in ("pdf", "svg"):
            self.script(0, "p.h5", "u", "-o", str(self.folder / f"b.{kind}"))
        for kind, head in HEADS.items():
            self.assertTrue((self.folder / f"b.{kind}").read_bytes().startswith(head), kind)

    def test_slices_profiles_and_histories(self):
        self.assertIn("error\nz = ", self.letters("p.h5", "error"))
        self.assertIn("u\nx = 0.5", self.letters("p.h5", "u", "--slice", "x=0.45"))
        self.assertIn("u\ny = 0, z = ", self.letters("p.h5", "u", "--profile", "x,y=0"))
        for name, shown in (("wind", "|wind|"), ("wind_x", "wind_x")):
            letters = self.letters("t.h5", name)
            self.assertIn(f"{shown}\nz = ", letters)
            self.assertIn("length/time", letters)
        self.assertIn("Convergence over iterations", self.letters("p.h5", "residual"))
        self.assertIn("Courant number", self.letters("t.h5", "courant", "iterations"))

    def test_states_of_a_series(self):
        self.assertEqual(self.letters("t.h5", "u", "--time", "all").count("u\nz = "), 3)
        last = self.last_time()
        self.assertEqual(self.letters("t.h5", "u", "--time", f"0,{last}", "--profile", "x").count("\nt = "), 2)

    def last_time(self):
        """That of the series of t.h5, with the digits that --list prints."""
        return self.script(0, "t.h5", "--list").rsplit(", ", 1)[1].strip()

    def test_times_outside_the_series_are_refused(self):
        last = self.last_time()
        for times in ("1e308", "inf", "nan", "-1", "0,5"):
            self.assertIn(f"--time {times}: the states of the series lie between 0 and {last}",
                          self.script(2, "t.h5", "u", "--time", times, "-o", str(self.folder / "none.png")))

    def test_what_can_be_drawn_is_listed(self):
        told = self.expect(0, "plot", "t.h5", "--list").stdout
        for words in ("fields: u, wind, wind_x", "histories: dt, courant, iterations", "times of the series: 0, "):
            self.assertIn(words, told)
        self.assertEqual(self.script(0, "p.h5", "--list"), "fields: u, error\nhistories: residual\n")

    def test_what_cannot_be_drawn_is_told(self):
        for words, says in (
                (("p.h5", "u", "residual"), "apart"),
                (("p.h5", "residual", "--slice", "z=0"), "is a history"),
                (("p.h5", "--slice", "0.5"), "as in z=0.5"),
                (("p.h5", "--profile", "x,x=1"), "as in x,y=0.5"),
                (("p.h5", "--slice", "z=0", "--profile", "x"), "contradict"),
                (("p.h5", "--time", "1"), "output.fields_every"),
                (("t.h5", "--time", "soon"), "or all")):
            self.assertIn(says, self.script(2, *words, "-o", str(self.folder / "none.png")))
        self.expect(2, "plot", "p.h5", "pressure", says=("p.h5 has nothing called pressure", "u, error", "residual"))
        self.expect(2, "plot", "p.h5", "-o", "a.jpg", says=".png, .pdf or .svg")
        self.assertIn("no such file", self.script(7, "none.h5"))
        self.assertFalse(list(self.folder.glob("*.png.*")) or (self.folder / "none.png").exists())

    def test_positions_outside_the_grid_are_refused(self):
        for words, says in (
                (("--slice", "z=nan"), "--slice z=nan: z lies between 0 and 1"),
                (("--slice", "z=inf"), "--slice z=inf: z lies between 0 and 1"),
                (("--slice", "z=99"), "--slice z=99: z lies between 0 and 1"),
                (("--slice", "x=-0.0626"), "--slice x=-0.0626: x lies between 0 and 1"),
                (("--profile", "x,y=5,z=-3"), "--profile x,y=5,z=-3: y lies between 0 and 1")):
            self.assertIn(says, self.script(2, "p.h5", "u", *words, "-o", str(self.folder / "none.png")))
        self.expect(2, "plot", "p.h5", "u", "--slice", "z=99", says="between 0 and 1, as the points of the grid do")
        self.assertIn("u\nx = 0\n", self.letters("p.h5", "u", "--slice", "x=-0.0624") + "\n")  # half a spacing: 1/16
        self.assertIn("u\nx = 1\n", self.letters("p.h5", "u", "--slice", "x=1.0624") + "\n")

    def test_a_flat_axis_takes_any_position_within_the_domain(self):
        self.expect(0, "run", self.write("flat.ini", POISSON.format(cells="9 8 1").replace("[grid]", "discretisation = cell\n[grid]")),
                    "--set", "output.fields=true", "--quiet")
        for place in ("0", "0.3", "1"):
            self.assertIn("u", self.letters("flat.h5", "u", "--slice", f"z={place}"))
        self.assertIn("z lies between", self.script(2, "flat.h5", "u", "--slice", "z=2", "-o", str(self.folder / "none.png")))

    def test_files_of_others_stay(self):
        (self.folder / "mine.png").write_text("mine")
        self.expect(7, "plot", "p.h5", "residual", "-o", "mine.png", says="--force")
        self.assertEqual((self.folder / "mine.png").read_text(), "mine")
        self.expect(0, "plot", "p.h5", "residual", "-o", "mine.png", "--force")
        self.expect(0, "plot", "p.h5", "residual", "-o", "mine.png")  # now it is the program's

    def test_results_of_a_study(self):
        self.write("s.ini", POISSON.format(cells=6) + "[sweep]\npreconditioner.name = struct_ilu, jacobi\n"
                   "grid.cells = 6, 8, 12\n")
        self.expect(0, "study", "run", "s.ini", "--quiet")
        self.expect(0, "study", "collect", "s.ini")
        self.assertEqual(self.script(0, "s.h5", "--list").splitlines()[1], "--over: cells, unknowns")
        drawn = self.letters("s.h5")
        for words in ("iterations over cells", "total [s] over cells", "struct_ilu", "jacobi", "\n12\n"):
            self.assertIn(words, drawn)
        self.assertIn("memory [MiB] over unknowns", self.letters("s.h5", "memory", "--over", "unknowns"))
        for words, says in ((("s.h5", "speed"), "no result called speed; it has iterations"),
                            (("s.h5", "--over", "name"), "no varied number called name; it has cells"),
                            (("s.h5", "--slice", "z=0"), "needs the record of one run"),
                            (("p.h5", "--over", "cells"), "needs a study")):
            self.assertIn(says, self.script(2, *words, "-o", str(self.folder / "none.png")))

    def test_times_over_ranks_are_one_line_a_preconditioner(self):
        self.write("r.ini", POISSON.format(cells=6) + "[device]\nbackend = cpu\nthreads = 1\n[sweep]\n"
                   "preconditioner.name = struct_ilu, jacobi\ndevice.ranks = 1, 2, 3\n")
        self.expect(0, "study", "run", "r.ini", "--quiet")
        self.expect(0, "study", "collect", "r.ini")
        self.assertEqual(self.script(0, "r.h5", "--list").splitlines()[1], "--over: ranks")
        drawn = self.letters("r.h5", "an_iteration", "--over", "ranks")
        for words in ("an iteration [ms] over ranks", "struct_ilu", "jacobi"):
            self.assertIn(words, drawn)
        self.assertNotIn("cpu", drawn)  # the device, with a number of ranks each, would be a series for each run

    def test_a_varied_number_that_is_zero(self):
        self.write("z.ini", POISSON.format(cells=6) + "[sweep]\npreconditioner.fill_level = 0..2\nsolver.rtol = 1e-4, 1e-8\n")
        self.expect(0, "study", "run", "z.ini", "--quiet")
        self.expect(0, "study", "collect", "z.ini")
        self.assertRegex(self.letters("z.h5"), r"\n0\n(.*\n)*1\n(.*\n)*2\n")
        self.letters("z.h5", "--over", "rtol")

    def test_a_comparison_that_varied_nothing(self):
        self.expect(0, "compare", "p.ini", "--preconditioners", "jacobi", "--reps", "1", "--quiet", "-o", "c.h5")
        self.assertIn("no number was varied", self.script(2, "c.h5", "-o", str(self.folder / "none.png")))

    def test_a_record_without_fields(self):
        self.expect(0, "run", "p.ini", "--set", "output.file=bare.h5")
        self.assertIn("Convergence over iterations", self.letters("bare.h5"))
        self.assertIn("output.fields = true", self.script(2, "bare.h5", "u"))


if __name__ == "__main__":
    unittest.main()
