# SPDX-License-Identifier: BSD-3-Clause
"""The memory that a run holds at its peak is predicted within 5 %, and `check` prints the same prediction."""

import itertools
import json
import os
import subprocess
import unittest

from program import INPUTS, MATRIX, POISSON, PROGRAM, TRANSPORT, ProgramTest, few_addresses


class Prediction(ProgramTest):
    def compare(self, deck, *settings, predicted_alone=False):
        words = [word for setting in settings for word in ("--set", setting)]
        memory = self.run_json(0, "check", deck, *words)["memory"]
        predicted, most = memory["predicted"], memory["most"]
        held = self.run_json(0, "run", deck, *words)["memory"]["peak"]
        message = f"{settings}: predicted {predicted}, at most {most}, held {held}"
        self.assertLessEqual(predicted, 1.05 * held, message)
        self.assertLessEqual(held, 1.05 * predicted if most == predicted or predicted_alone else 1.001 * most, message)

    def test_every_solver_and_preconditioner(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        solvers = set(self.accepted(deck, "solver")) - {"richardson"}  # it diverges without a preconditioner
        preconditioners = self.accepted(deck, "preconditioner")
        for solver, preconditioner, layout in itertools.product(solvers, preconditioners, ("natural", "hyperplane")):
            self.compare(deck, f"solver.name={solver}", f"preconditioner.name={preconditioner}", f"device.layout={layout}")

    def test_check_says_what_a_run_predicts(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        for settings in ((), ("--set", "solver.name=gmres"), ("--set", "device.layout=hyperplane")):
            self.assertEqual(self.run_json(0, "check", deck, *settings)["memory"]["predicted"],
                             self.run_json(0, "run", deck, *settings)["memory"]["predicted"])

    def test_sweeps_on_general_matrices_hold_no_more_in_a_second_step(self):
        deck = self.write("a.ini", TRANSPORT.format(cells="11 9 7", steps=2) + "[matrix]\nformat = general\n")
        for words in (("preconditioner.name=jacobi_sweeps",), ("preconditioner.name=par_ilu", "preconditioner.triangular_solve=jacobi")):
            memory = self.run_json(0, "run", deck, *[word for key in words for word in ("--set", key)])["memory"]
            self.assertLessEqual(memory["peak"], memory["predicted"], words)

    def test_multigrid_that_coarsens_several_axes_at_once(self):
        deck = self.write("a.ini", POISSON.format(cells="7 9 4") + "[preconditioner]\nname = multigrid\ncycle = w\ncoarsest = jacobi\ngrids = 2\n"
                          "[smoother]\nname = struct_ilu\n")
        self.compare(deck, "problem.boundary_rows=drop")

    def test_a_limit_beyond_all_numbers_is_none(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        for limit in ("9e12", "1e300"):
            for verb in ("check", "run"):
                self.expect(0, verb, deck, "--set", f"device.memory_limit={limit}", *(["--fresh"] if verb == "run" else []))

    def test_an_estimate_that_has_no_room_is_left_out(self):
        deck = self.write("a.ini", POISSON.format(cells=20) + "[matrix]\nformat = general\n[preconditioner]\nname = jacobi\n")
        needed = self.run_json(0, "check", deck)["memory"]["predicted"]
        limit = f"device.memory_limit={1.05 * needed / 2**20}"
        self.assertNotIn("estimate", self.run_json(0, "check", deck, "--set", limit))
        self.expect(0, "run", deck, "--set", limit)

    def test_a_run_on_a_cpu_fits_in_400_mb_of_addresses(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[device]\nbackend = cpu\nthreads = 1\n")
        done = self.run_program("run", deck, limit=few_addresses(400000 * 1024))  # as `ulimit -v 400000`
        self.assertEqual(done.returncode, 0, done.stderr)

    def resident(self, *words):
        """The most memory that the process of a run held, in bytes."""
        process = subprocess.Popen([PROGRAM, "run", *words, "--fresh", "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, words)
        return 1024 * usage.ru_maxrss

    def test_the_inverse_of_a_large_coarsest_grid(self):
        """Compares the prediction with what the process holds, not with what it counts. The inverse of 1728 unknowns takes 24 MB,
        and its factors take nearly as much, because couplings across z make the band wide."""
        deck = self.write("a.ini", POISSON.format(cells="12 12 12\nperiodic = z").replace("[grid]", "discretisation = cell\n[grid]")
                          + "[device]\nbackend = cpu\nthreads = 1\n")
        names = [("--set", "preconditioner.name=jacobi"),
                 ("--set", "preconditioner.name=multigrid", "--set", "preconditioner.coarsest_points=4096")]
        jacobi, multigrid = (self.resident(deck, *words) for words in names)
        predicted = [self.run_json(0, "check", deck, *words)["memory"]["predicted"] for words in names]
        held, more = multigrid - jacobi, predicted[1] - predicted[0]
        self.assertGreater(held, 1.7 * 8 * 1728**2)
        self.assertLessEqual(held, 1.05 * more)
        self.assertLessEqual(more, 1.15 * held)

    def test_a_coarsest_grid_that_does_not_fit_is_refused_with_the_reason(self):
        deck = self.write("a.ini", POISSON.format(cells="15 15 15") + "[preconditioner]\nname = multigrid\ncoarsest_points = 4096\n"
                          "[device]\nbackend = cpu\nmemory_limit = 50\n")
        told = "a smaller grid.cells or preconditioner.coarsest_points, since grid 0, 15 x 15 x 15 takes 8"
        self.assertIn(told, self.expect(6, "check", deck).stdout)

    def test_the_hosts_part_of_a_run_on_a_gpu(self):
        deck = self.write("a.ini", POISSON.format(cells="15 15 15") + "[preconditioner]\nname = multigrid\n"
                          "coarsest_points = 4096\n[device]\nbackend = cuda\n")
        done = self.run_program("check", deck, "--json", "--quiet")
        if done.returncode != 0 and "without the CUDA backend" in done.stderr:
            self.skipTest("a build without CUDA")
        memory = json.loads(done.stdout)["memory"]
        self.assertGreater(memory["host"], 8 * 3375**2)
        self.assertLess(memory["host"], 1.5 * 8 * 3375**2)
        self.assertRegex(self.run_program("check", deck).stdout,
                         r"(?m)^in the host's memory during a set-up: at most \d+\.\d MiB, for the inverse of the coarsest grid$")
        self.assertNotIn("host", self.run_json(0, "check", deck, "--backend", "cpu")["memory"])

    def test_multigrid_on_any_axes(self):
        deck = self.write("a.ini", POISSON.format(cells="24 24 24"))
        multigrid = "preconditioner.name=multigrid", "problem.discretisation=cell", "device.backend=cpu"
        self.compare(deck, *multigrid)
        for scale in ("1 1 100", "100 1 1", "1 100 100", "1 30 900"):
            self.compare(deck, *multigrid, "problem.coefficient=aniso", f"problem.coefficient_scale={scale}")
        self.compare(deck, *multigrid, "preconditioner.strength=0", "smoother.name=jacobi")
        for grids in ("1", "2"):  # the last grid is the finest one, or has 1728 points
            self.compare(deck, *multigrid, "preconditioner.coarsest=jacobi", f"preconditioner.grids={grids}",
                         predicted_alone=True)

    def test_multigrid_on_any_axes_with_stencils_that_reach_two_points(self):
        """Offsets that leave a small coarse grid are left out, so that stencils depend on the order in which axes are coarsened."""
        deck = self.write("a.ini", "[problem]\nname = cahn_hilliard\nfields = one\n[grid]\ncells = 10 12 14\n[time]\ntime_step = 1e-6\n"
                          "[preconditioner]\nname = multigrid\nstrength = 1\ncoarsest_points = 12\n[device]\nbackend = cpu\n")
        for smoother in ("struct_ilu", "multicolor", "jacobi"):
            self.compare(deck, f"smoother.name={smoother}")

    def test_the_last_bytes_of_multigrid(self):
        """Where all axes are coarsened, a run holds no byte more than is predicted: scalars of sums, and of scaling."""
        deck = self.write("a.ini", POISSON.format(cells="24 24 24"))
        neumann = "problem.discretisation=cell", "problem.boundary_condition=neumann", "problem.right_hand_side=random"
        single = "preconditioner.storage=single", "preconditioner.vectors=single", "preconditioner.storage_from=1"
        for sets in (neumann, single, (*neumann, *single)):
            with self.subTest(sets):
                words = [word for key in ("preconditioner.name=multigrid", "preconditioner.strength=0", "device.backend=cpu", *sets)
                         for word in ("--set", key)]
                memory = self.run_json(0, "run", deck, "--fresh", *words)["memory"]
                self.assertLessEqual(memory["peak"], memory["predicted"])
                self.assertEqual(memory["predicted"], self.run_json(0, "check", deck, *words)["memory"]["predicted"])

    def test_a_verdict_gives_the_most_where_values_decide(self):
        deck = self.write("a.ini", POISSON.format(cells="24 24 24"))
        words = ["run", deck, "--set", "preconditioner.name=multigrid", "--set", "problem.discretisation=cell", "--set",
                 "device.backend=cpu"]
        self.assertRegex(self.expect(0, *words).stdout, r"(?m)^memory .* MiB at the peak, [0-9.]+ MiB predicted, [0-9.]+ MiB at most$")
        self.assertRegex(self.expect(0, "run", deck).stdout, r"(?m)^memory .* MiB at the peak, [0-9.]+ MiB predicted$")

    def test_fill_levels(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        for level in range(4):
            self.compare(deck, f"preconditioner.fill_level={level}")

    def test_storages(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        transport = self.write("c.ini", TRANSPORT.format(cells="17 15 13", steps=3))
        for storage, name in itertools.product(
                ("single", "half_scaled"), ("struct_ilu", "par_ilu", "jacobi", "fgbilu", "multicolor",
                                            "subdomain_ildu0")):
            settings = f"preconditioner.storage={storage}", f"preconditioner.name={name}"
            levels = (0, 1) if name in ("struct_ilu", "par_ilu") else (None,)
            for solver, level in itertools.product(("cg", "gmres"), levels):
                fill = [] if level is None else [f"preconditioner.fill_level={level}"]
                self.compare(deck, *settings, f"solver.name={solver}", *fill)
            self.compare(transport, *settings)

    def test_reduced_storages_hold_what_is_predicted(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13") + "[device]\nbackend = cpu\n")
        for storage, name in itertools.product(("double", "single", "half_scaled"),
                                               ("struct_ilu", "par_ilu", "jacobi", "fgbilu", "multicolor", "subdomain_ildu0")):
            memory = self.run_json(0, "run", deck, "--fresh", "--set", f"preconditioner.name={name}", "--set",
                                   f"preconditioner.storage={storage}")["memory"]
            self.assertEqual(memory["peak"], memory["predicted"], (storage, name))
        for keys in (("preconditioner.name=jacobi_sweeps",), ("preconditioner.name=multicolor", "preconditioner.triangular_solve=jacobi")):
            memory = self.run_json(0, "run", deck, "--fresh", *[word for key in keys for word in ("--set", key)])["memory"]
            self.assertEqual(memory["peak"], memory["predicted"], keys)

    def test_storages_of_general_matrices(self):
        general = "[matrix]\nformat = general\n"
        deck = self.write("g.ini", POISSON.format(cells="17 15 13") + general)
        transport = self.write("t.ini", TRANSPORT.format(cells="17 15 13", steps=3) + general)
        for storage, name in itertools.product(("single", "half_scaled"), ("sync_free_ilu", "par_ilu", "subdomain_ildu0")):
            settings = f"preconditioner.storage={storage}", f"preconditioner.name={name}", "device.backend=cpu"
            levels = [] if name == "subdomain_ildu0" else ["preconditioner.fill_level=1"]
            self.compare(deck, *settings)
            self.compare(transport, *settings, *levels)

    def test_restart(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        for restart in (5, 60):
            self.compare(deck, "solver.name=gmres", f"solver.restart={restart}")

    def test_coefficients_blocks_and_a_second_matrix(self):
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        self.compare(deck, "problem.discretisation=cell", "problem.coefficient=checker")
        blocks = self.write("b.ini", "[problem]\nname = block_laplacian\n[grid]\ncells = 9 8 7\n[solver]\nname = cg\n")
        self.compare(blocks)
        transport = self.write("c.ini", TRANSPORT.format(cells="17 15 13", steps=3))
        self.compare(transport)
        self.compare(transport, "problem.scheme=central", "problem.preconditioner_scheme=upwind")

    def test_systems_from_files(self):
        inputs = [INPUTS / "matrix_market.ini", INPUTS / "matrix_market_blocks.ini"]
        for deck, layout in itertools.product(inputs, ("natural", "hyperplane")):
            self.compare(deck, f"device.layout={layout}")
        entries = ["%%MatrixMarket matrix coordinate real symmetric", "1000 1000 1999"]
        entries += [f"{row} {row} 4" for row in range(1, 1001)] + [f"{row + 1} {row} -1" for row in range(1, 1000)]
        self.write("line.mtx", "\n".join(entries) + "\n")
        self.compare(self.write("line.ini", MATRIX.format(matrix="line.mtx", cells="1000 1 1", solver="cg")))


if __name__ == "__main__":
    unittest.main()
