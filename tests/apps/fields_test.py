# SPDX-License-Identifier: BSD-3-Clause
"""Fields for ParaView: a series in time of a run that is whole, killed, continued or extended; what problems offer."""

import sys
import unittest

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}; Debian has it in python3-h5py")
    sys.exit(77)

from program import POISSON, TRANSPORT, ProgramTest, signal  # noqa: E402

SERIES = TRANSPORT.format(cells="9 7 5", steps=7) + "[output]\nfields_every = 3\n"
EULER = """
[problem]
name = euler
case = vortex
[grid]
cells = 12 10 1
lengths = 10 10 1
[time]
steps = 1
time_step = 0.01
[solver]
name = gmres
[newton]
rtol = 1e-4
[output]
fields = true
"""


class FieldsTest(ProgramTest):
    def test_numbers_of_files_beyond_all_numbers(self):
        most = 2**63 - 1
        deck = self.write("a.ini", SERIES)
        disk = lambda code, *words: self.run_json(code, "check", deck, *[w for word in words for w in ("--set", word)])["disk"]  # noqa: E731
        self.assertEqual(disk(0, f"output.fields_every={most}")["files"], 2)
        self.assertEqual(disk(0)["files"], 4)
        self.assertEqual(disk(7, f"time.steps={most}", "output.fields_every=1")["bytes"], most)

    def test_info_of_a_file_of_fields_says_what_it_is(self):
        self.expect(0, "run", self.write("a.ini", POISSON.format(cells=6)), "--set", "output.fields=true")
        said = self.expect(7, "info", "a.vtkhdf", says=["holds fields for ParaView", "hyperplane plot"]).stderr
        self.assertNotIn("schema_version", said)

    def series(self, name):
        """{file of the series: its bytes}"""
        return {path.name: path.read_bytes() for path in sorted((self.folder / f"{name}_series").iterdir())}

    def times(self, name):
        """The times that the file of the series shows; its layers are those of the files."""
        with h5py.File(self.folder / f"{name}_series.vtkhdf") as joined:
            image = joined["VTKHDF"]
            times = list(image["Steps/Values"][()])
            self.assertEqual(image["Steps"].attrs["NSteps"], len(times))
            for layer, file in enumerate(sorted((self.folder / f"{name}_series").iterdir())):
                with h5py.File(file) as part:
                    for array in part["VTKHDF/PointData"]:
                        self.assertTrue(numpy.array_equal(image["PointData"][array][layer],
                                                          part["VTKHDF/PointData"][array][()]))
        return times

    def arrays(self, name):
        with h5py.File(self.folder / name) as file:
            return {array: values[()] for array, values in file["VTKHDF/PointData"].items()}


class Series(FieldsTest):
    NAMES = [f"step_{step:08}.vtkhdf" for step in (0, 3, 6, 7)]

    def test_the_states_are_kept_and_told(self):
        deck = self.write("a.ini", SERIES)
        done = self.run_json(0, "run", deck)
        self.assertEqual(list(self.series("a")), self.NAMES)
        steps = done["steps"]
        self.assertEqual(self.times("a"), [0.0, *(steps[at - 1]["time"] for at in (3, 6, 7))])
        self.assertEqual(done["series"], "a_series.vtkhdf")
        self.assertIn("4 states", self.expect(0, "info", "a.h5").stdout)
        self.assertAlmostEqual(steps[0]["cfl"], 5.0)
        self.assertIn("Courant number 5", self.expect(0, "info", "a.h5").stdout)
        with h5py.File(self.folder / "a.h5") as record:
            self.assertEqual(list(record["fields/step"][()]), [0, 3, 6, 7])
            self.assertEqual(record["fields/file"][1].decode(), "a_series/step_00000003.vtkhdf")
        self.expect(0, "run", deck, "--set", "output.fields=true", "--set", "output.file=b.h5")
        self.assertEqual((self.folder / "b.vtkhdf").read_bytes(), self.series("b")[self.NAMES[-1]])

    def test_memory_and_disk_are_predicted(self):
        deck = self.write("a.ini", SERIES.replace("9 7 5", "33 31 29"))
        told = self.run_json(0, "check", deck)
        held = self.run_json(0, "run", deck)["memory"]["peak"]
        self.assertLessEqual(abs(held - told["memory"]["predicted"]), 0.05 * held)
        used = sum(len(content) for content in self.series("a").values())
        self.assertEqual(told["disk"]["files"], 4)
        self.assertLessEqual(used, told["disk"]["bytes"])
        self.assertLess(told["disk"]["bytes"], 1.1 * used)
        self.assertIn("4 files of", self.expect(0, "check", deck).stdout)

    def test_a_run_that_died_and_goes_on_loses_nothing(self):
        deck = self.write("a.ini", SERIES + "checkpoint_every = 2\n")
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        self.assertEqual(self.run_program("run", deck, stop_at="60:9").returncode, -signal.SIGKILL)
        kept = self.times("a")
        self.assertGreater(len(kept), 0)
        self.expect(0, "run", deck, "--restart")
        self.assertEqual(self.series("a"), self.series("whole"))
        self.assertEqual(self.times("a"), self.times("whole"))

    def test_an_extended_run_has_the_series_of_the_longer_one(self):
        deck = self.write("a.ini", SERIES)
        self.expect(0, "run", deck, "--set", "output.file=long.h5", "--set", "time.steps=10")
        self.expect(0, "run", deck)
        self.expect(0, "run", deck, "--restart", "--set", "time.steps=10")
        self.assertEqual(self.series("a"), self.series("long"))
        self.assertEqual(self.times("a"), self.times("long"))

    def test_a_new_run_removes_the_files_of_the_earlier_one(self):
        deck = self.write("a.ini", SERIES)
        self.expect(0, "run", deck)
        (self.folder / "a_series/mine.vtkhdf").write_text("not the program's")
        self.expect(0, "run", deck, "--set", "time.steps=2")
        self.assertEqual(list(self.series("a")), ["mine.vtkhdf", "step_00000000.vtkhdf", "step_00000002.vtkhdf"])

    def test_the_same_bits_in_every_layout(self):
        deck = self.write("a.ini", SERIES.replace("[grid]", "initial_condition = gaussian\n[grid]"))
        for layout in ("natural", "hyperplane"):
            self.expect(0, "run", deck, "--set", f"device.layout={layout}", "--set", f"output.file={layout}.h5")
        first = self.series("natural")[self.NAMES[0]]
        self.assertEqual(self.series("hyperplane")[self.NAMES[0]], first)
        self.expect(0, "run", deck, "--set", "matrix.format=general", "--set", "output.file=general.h5",
                    "--set", "preconditioner.name=jacobi")
        self.assertEqual(self.series("general")[self.NAMES[0]], first)

    def test_the_same_files_on_several_ranks(self):
        deck = self.write("a.ini", SERIES)
        for ranks in ("1", "3"):
            self.expect(0, "run", deck, "--ranks", ranks, "--set", f"output.file=on{ranks}.h5")
        self.assertEqual(self.series("on3"), self.series("on1"))
        self.assertEqual(self.times("on3"), self.times("on1"))
        self.assertIn(b"wind", self.series("on3")[self.NAMES[0]])
        courant = [step["cfl"] for step in self.run_json(0, "run", deck, "--ranks", "2")["steps"]]
        self.assertAlmostEqual(courant[0], 5.0)

    def test_what_cannot_be_is_refused_before_any_work(self):
        steady = self.write("p.ini", POISSON.format(cells=8) + "[output]\nfields_every = 1\n")
        self.expect(2, "check", steady, says=("fields_every", "poisson is steady", "output.fields"))
        deck = self.write("a.ini", SERIES)
        (self.folder / "a_series").write_text("a file")
        self.expect(7, "run", deck, says=("a_series", "is no folder"))
        self.assertFalse((self.folder / "a.h5.part").exists())


class Offered(FieldsTest):
    """What each problem offers for drawing."""

    def test_error_and_coefficient_of_poisson(self):
        self.expect(0, "run", self.write("p.ini", POISSON.format(cells=9)), "--set", "output.fields=true")
        fields = self.arrays("p.vtkhdf")
        self.assertEqual(set(fields), {"u", "error"})
        self.assertAlmostEqual(abs(fields["error"]).max(), self.record("p.h5")["errors"]["max"], places=15)
        deck = self.write("c.ini", POISSON.format(cells=8).replace("[grid]", "discretisation = cell\n[grid]"))
        self.expect(0, "run", deck, "--set", "output.fields=true", "--set", "problem.coefficient=checker")
        self.assertEqual(set(numpy.unique(self.arrays("c.vtkhdf")["coefficient"])), {1.0, 1e6})
        self.expect(0, "run", deck, "--set", "output.fields=true", "--set", "problem.coefficient=spe10like")
        permeability = self.arrays("c.vtkhdf")["permeability"]
        self.assertTrue(numpy.allclose(permeability[..., 2], 0.1 * permeability[..., 0]))

    def test_places_of_a_stretched_grid(self):
        deck = self.write("s.ini", "[problem]\nname = navier_stokes\nstretching = 1.5 0 1\n[grid]\ncells = 6 5 7\n[time]\nsteps = 1\n"
                          "[output]\nfields = true\n")
        self.assertEqual(self.run_program("run", deck).returncode, 3)  # one step is not a steady state
        position = self.arrays("s.vtkhdf")["position"]
        self.assertEqual(position.shape, (7, 5, 6, 3))
        for axis, (n, s) in enumerate(((6, 1.5), (5, 0.0), (7, 1.0))):
            t = numpy.linspace(0.0, 1.0, n)
            expected = t if s == 0.0 else 0.5 * (1.0 + numpy.tanh(s * (2.0 * t - 1.0)) / numpy.tanh(s))
            along = numpy.moveaxis(position[..., axis], 2 - axis, -1)
            self.assertTrue(numpy.allclose(along, expected, atol=1e-14), axis)
        self.assertEqual(self.run_program("run", deck, "--force", "--set", "problem.stretching=0").returncode, 3)
        self.assertNotIn("position", self.arrays("s.vtkhdf"))

    def test_the_gas(self):
        self.expect(0, "run", self.write("g.ini", EULER))
        fields = self.arrays("g.vtkhdf")
        self.assertEqual({name: values.shape for name, values in fields.items()},
                         {"density": (2, 10, 12), "velocity": (2, 10, 12, 3), "pressure": (2, 10, 12),
                          "temperature": (2, 10, 12), "density_error": (2, 10, 12)})
        with h5py.File(self.folder / "g.h5") as record:
            density, *momentum, energy = (record["state/u"][()].reshape(10, 12, 5)[..., c] for c in range(5))
        velocity = fields["velocity"][0]
        self.assertTrue(numpy.allclose(velocity * density[..., None], numpy.stack(momentum, axis=-1), atol=1e-14))
        self.assertTrue(numpy.allclose(fields["pressure"][0],
                                       0.4 * (energy - 0.5 * density * (velocity ** 2).sum(axis=-1))))
        self.assertTrue(numpy.allclose(fields["temperature"], fields["pressure"] / fields["density"]))
        with h5py.File(self.folder / "g.vtkhdf") as file:
            self.assertEqual(file["VTKHDF/PointData/velocity"].attrs["units"], b"length/time")


class PressureTest(ProgramTest):
    """No boundary of navier_stokes gives the pressure a level, and its mean drifts with the net flux."""

    DECK = """
[problem]
name = navier_stokes
case = ethier_steinman
[grid]
cells = 5 4 6
[time]
scheme = bdf2
time_step = 0.02
steps = 5
[solver]
name = gmres
rtol = 1e-8
restart = 100
[output]
fields = true
fields_every = 2
"""

    def pressure(self, name):
        with h5py.File(self.folder / name) as file:
            return file["VTKHDF/PointData/pressure"][()].astype(float)

    def unknown(self, name):
        with h5py.File(self.folder / name) as file:
            return file["state/u"][()].reshape(6, 4, 5, 4)[..., 3]

    def test_fields_have_the_pressure_less_its_mean(self):
        deck = self.write("a.ini", self.DECK)
        self.expect(0, "run", deck)
        whole = self.unknown("a.h5")
        self.assertGreater(abs(whole.mean()), 100 * numpy.ptp(whole))
        shown = self.pressure("a.vtkhdf")
        self.assertLess(numpy.ptp(shown), 10.0)
        self.assertLess(numpy.abs(shown.reshape(whole.shape) - (whole - whole.mean())).max(), 1e-14 * abs(whole.mean()) * whole.size)
        for state in sorted((self.folder / "a_series").iterdir()):
            with self.subTest(state.name):
                self.assertLess(abs(self.pressure(state).mean()), 1e-12 * abs(whole.mean()))

    def test_they_are_the_same_on_ranks_and_after_a_restart(self):
        deck = self.write("a.ini", self.DECK)
        self.expect(0, "run", deck, "--backend", "cpu", "--set", "output.file=whole.h5")
        whole = (self.folder / "whole.vtkhdf").read_bytes()
        self.expect(0, "run", deck, "--backend", "cpu", "--set", "time.steps=3")
        self.expect(0, "run", deck, "--backend", "cpu", "--restart")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "run", deck, "--backend", "cpu", "--fresh", "--ranks", "2", "--set", "preconditioner.name=jacobi", "--set", "solver.max_iterations=2000")
        self.assertLess(abs(self.pressure("a.vtkhdf").mean()), 1e-6)


if __name__ == "__main__":
    unittest.main()
