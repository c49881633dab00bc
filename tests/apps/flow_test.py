# SPDX-License-Identifier: BSD-3-Clause
"""Flows computed by the program ($HYPERPLANE), compared with the literature and with exact solutions.

Run by ctest with a Python that has h5py; leaves with code 77, skipped, without it. $FLOW_TEST_LONG adds further Reynolds
numbers and grids (program.flow.long).
"""

import os
import sys

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: flows against the literature, {missing} ({sys.executable})")
    sys.exit(77)

import unittest

import flow_tables as tables  # noqa: E402
from program import INPUTS, ProgramTest  # noqa: E402

VALIDATION = INPUTS / "validation"
LONG = bool(os.environ.get("FLOW_TEST_LONG"))


class FlowTest(ProgramTest):
    def run_deck(self, deck, *settings):
        """The record of a deck's run, as JSON."""
        words = [word for text in settings for word in ("--set", text)]
        self.expect(0, "run", str(VALIDATION / deck), "--quiet", "--fresh", "--set", "output.file=flow.h5", *words)
        return self.record("flow.h5")

    def solve(self, deck, *settings):
        """The fields of a deck's run, each [z, y, x]."""
        self.run_deck(deck, "output.fields=true", *settings)
        with h5py.File(self.folder / "flow.vtkhdf") as file:
            return tables.fields_by_letter(file["VTKHDF/PointData"])

    def errors(self, deck, *settings):
        return self.run_deck(deck, *settings)["errors"]


def nodes(count, stretching=0.0):
    t = numpy.linspace(0.0, 1.0, count)
    return t if stretching == 0 else .5 * (1 + numpy.tanh(stretching * (2 * t - 1)) / numpy.tanh(stretching))


class PlaneCavity(FlowTest):
    """Two nodes along z."""

    def extrema(self, fields):
        u, v = tables.line(fields["u"], 1, (.5, 0.)), tables.line(fields["v"], 0, (.5, 0.))
        return u.min(), v.min(), v.max()

    def check(self, reynolds, deck, rms):
        fields = self.solve(deck)
        n = fields["u"].shape[1]
        self.assertEqual(abs(fields["w"]).max(), 0.0)
        for name in ("u", "v", "p"):
            scale = abs(fields[name]).max()
            self.assertLessEqual(abs(fields[name][0] - fields[name][1]).max(), 1e-6 * scale)
        found = tables.rms_to_table(nodes(n), tables.line(fields["u"], 1, (.5, 0.)), tables.GHIA_Y,
                                    tables.GHIA_U[reynolds])
        print(f"\nplane cavity, Re {reynolds}, {n} nodes: RMS to Ghia {found:.4f}, extrema "
              + " ".join(f"{value:.4f}" for value in self.extrema(fields)))
        self.assertLessEqual(found, rms)
        if reynolds in tables.PLANE_EXTREMA:
            for value, known in zip(self.extrema(fields), tables.PLANE_EXTREMA[reynolds]):
                self.assertAlmostEqual(value, known, delta=.01 * abs(known))

    def test_reynolds_100(self):
        self.check(100, "cavity_plane_100.ini", .004)

    @unittest.skipUnless(LONG, "long; 100 is run")
    def test_reynolds_400(self):
        self.check(400, "cavity_plane_400.ini", .004)

    @unittest.skipUnless(LONG, "long; 100, and 1000 in the cubic cavity, are run")
    def test_reynolds_1000(self):
        self.check(1000, "cavity_plane_1000.ini", .008)


class CubicCavity(FlowTest):
    def check(self, fields, rms_u, rms_w, stretching=0.0):
        nz, ny, nx = fields["u"].shape
        middle = 1.0 if ny < nx else .5  # half a cavity ends at the plane of symmetry
        u, w = tables.line(fields["u"], 2, (.5, middle)), tables.line(fields["w"], 0, (middle, .5))
        u = tables.rms_to_table(nodes(nz, stretching), u, tables.CUBIC_Z, tables.CUBIC_U)
        w = tables.rms_to_table(nodes(nx, stretching), w, tables.CUBIC_X, tables.CUBIC_W)
        print(f"\ncubic cavity, Re 1000, {nx} nodes: RMS to Albensoeder and Kuhlmann {u:.4f} {w:.4f}")
        self.assertLessEqual(u, rms_u)
        self.assertLessEqual(w, rms_w)

    @unittest.skipUnless(LONG, "long; the nodes packed at walls are run, with closer bounds")
    def test_reynolds_1000_by_half(self):
        self.check(self.solve("cavity_cubic_1000.ini"), .015, .025)

    def test_nodes_packed_at_walls_do_better(self):
        self.check(self.solve("cavity_cubic_1000.ini", "problem.stretching=1"), .0100, .0195, stretching=1.0)

    @unittest.skipUnless(LONG, "minutes")
    def test_reynolds_1000_finer(self):
        self.check(self.solve("cavity_cubic_1000_fine.ini"), .006, .013)

    def test_reynolds_100_and_symmetry(self):
        """A regression test: the values for 33 nodes are from a trial code of this scheme, not from the literature."""
        half = self.solve("cavity_cubic_100.ini")
        u, w = tables.line(half["u"], 2, (.5, 1.)), tables.line(half["w"], 0, (1., .5))
        print(f"\ncubic cavity, Re 100: {u.min():.4f} {w.min():.4f} {w.max():.4f}")
        for value, known in zip((u.min(), w.min(), w.max()), (-.2140, -.2478, .1509)):
            self.assertAlmostEqual(value, known, delta=.01 * abs(known))


class HalfAndWhole(FlowTest):
    def test_half_a_cavity_is_half_of_the_whole(self):
        half = self.solve("cavity_cubic_100.ini", "grid.cells=17 9 17", "time.steady_rtol=1e-9")
        whole = self.solve("cavity_cubic_100.ini", "grid.cells=17 17 17", "time.steady_rtol=1e-9",
                              "grid.lengths=1 1 1", "problem.symmetry=none")
        for name in "uvw":
            self.assertLessEqual(abs(whole[name][:, :9] - half[name]).max(), 1e-6)


class KnownFlows(FlowTest):
    def test_kovasznay_converges_by_second_order(self):
        found = [self.errors("kovasznay.ini", f"grid.cells={n} {n} 3") for n in ((17, 33, 65) if LONG else (17, 33))]
        print("\nKovasznay:", *(f"{e['velocity_rms']:.3e} {e['pressure_rms']:.3e};" for e in found))
        order = [numpy.log2(a["velocity_rms"] / b["velocity_rms"]) for a, b in zip(found, found[1:])]
        self.assertGreaterEqual(min(order), 1.85)
        for errors, u, p in zip(found, (6.13e-3, 1.67e-3, 4.32e-4), (7.6e-3, 2.1e-3, 6.1e-4)):
            self.assertAlmostEqual(errors["velocity_rms"], u, delta=.02 * u)
            self.assertAlmostEqual(errors["pressure_rms"], p, delta=.02 * p)

    def test_plane_flow_does_not_depend_on_its_thickness(self):
        """Two, three and five nodes along z are the same flow."""
        found = [self.errors("kovasznay.ini", f"grid.cells=13 13 {n}", "time.steady_rtol=1e-9") for n in (2, 3, 5)]
        for errors in found[1:]:
            for name, value in found[0].items():
                self.assertAlmostEqual(errors[name], value, delta=1e-6 * value)

    def test_ethier_steinman_converges_by_second_order(self):
        sizes = (9, 17, 33) if LONG else (9, 17)
        found = [self.errors("ethier_steinman.ini", f"grid.cells={n}") for n in sizes]
        print("\nEthier and Steinman:", *(f"{e['velocity_rms']:.3e} {e['pressure_rms']:.3e};" for e in found))
        for errors, u in zip(found, (5.04e-3, 1.38e-3, 3.61e-4)):
            self.assertAlmostEqual(errors["velocity_rms"], u, delta=.02 * u)
        for coarse, fine in zip(found, found[1:]):
            self.assertGreaterEqual(numpy.log2(coarse["pressure_rms"] / fine["pressure_rms"]), 1.6)


class FiniteVolumes(FlowTest):
    def test_plane_cavity(self):
        """Least u on the centre line: within 2 % of the literature, and -.2101 and -.2132 by a trial code."""
        for n, known in ((32, -.2101), (64, -.2132)):
            fields = self.solve("cavity_volumes.ini", f"grid.cells={n} {n} 1")
            u = tables.line(fields["u"], 1, (.5, 0.)).min()
            print(f"\nfinite volumes, {n} cells: least u {u:.4f}")
            self.assertAlmostEqual(u, known, delta=.002)
            self.assertAlmostEqual(u, tables.PLANE_EXTREMA[100][0], delta=.02 * .21404)

    def test_reflection_leaves_counts_as_they_are(self):
        """4 to 32 unknowns a cell whose blocks a Householder reflection fills: every count as without it."""
        for settings in (["problem.sets=1"], ["problem.sets=1", "problem.scalars=2"],
                         ["problem.sets=2", "problem.artificial_compressibility=1 3"],
                         ["problem.sets=4", "problem.step_factor=1 2 0.5 1"],
                         ["problem.sets=8", "problem.artificial_compressibility=1 0.5 2 1 4 1 0.8 1.5"]):
            counts = []
            for coupling in ("none", "householder"):
                record = self.run_deck("cavity_volumes.ini", "grid.cells=7 5 6", "solver.rtol=1e-6", "time.steps=3",
                                       "time.steady_rtol=0", "expect.end=steps_taken", f"problem.coupling={coupling}",
                                       *settings)
                counts.append([solve["iterations"] for solve in record["solves"]])
            self.assertEqual(counts[0], counts[1], settings)


if __name__ == "__main__":
    unittest.main(verbosity=2)
