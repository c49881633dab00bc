# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on GPUs that are processes under mpirun: the records of one GPU and of threads, and no rank left when one dies."""

import json
import os

from device_ranks_test import BASES, FGBILU, MULTIGRID, STRUCT_ILU
from device_test import why_no_gpu
from processes import ProcessesTest, mpirun
from program import POISSON, PROGRAM, TRANSPORT, main_unless


class GpuProcesses(ProcessesTest):
    """Processes share GPUs where there are fewer; then nothing is recorded as a graph. Each test runs few problems, so that it ends
    within a minute beside fifteen others, kernels compiled."""

    backend = "cuda"

    def run_threads(self, ranks, deck, output, *words):
        return self.run_program("run", deck, "--ranks", str(ranks), "--backend", "cuda", "--quiet", "--force", "--set",
                                f"output.file={output}", "--set", "output.fields=true", *words)

    def has_the_bits_of_one(self, choice, *problems, processes=(2, 3)):
        for name in problems:
            deck = self.write("deck.ini", BASES[name].format(cells="7 5 9") + f"[preconditioner]\n{choice}\n")
            one = self.run_threads(1, deck, "one.h5")
            self.assertIn(one.returncode, (0, 3), one.stderr)
            for number in processes:
                with self.subTest(f"{name} with {choice} on {number}"):
                    several = self.run_processes(number, deck, "several.h5", "--force")
                    self.assertEqual(several.returncode, one.returncode, several.stderr)
                    self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")
                    self.assertEqual((self.folder / "several.vtkhdf").read_bytes(), (self.folder / "one.vtkhdf").read_bytes())

    def test_jacobi(self):
        self.has_the_bits_of_one("name = jacobi", "poisson", "poisson_pipelined", "transport")
        self.has_the_bits_of_one("name = jacobi", "navier_stokes", "cavity", processes=(2,))

    def test_struct_ilu(self):
        self.has_the_bits_of_one(STRUCT_ILU, "poisson", "transport")

    def test_struct_ilu_of_other_stencils_and_blocks(self):
        self.has_the_bits_of_one(STRUCT_ILU, "poisson_box27", "block", processes=(2,))

    def test_struct_ilu_of_flows(self):
        self.has_the_bits_of_one(STRUCT_ILU, "navier_stokes", processes=(2,))

    def test_long_range_energy(self):
        self.has_the_bits_of_one("name = jacobi", "cahn_hilliard_long_range", processes=(2, 3))

    def test_fgbilu(self):
        self.has_the_bits_of_one(FGBILU, "poisson", "block", processes=(2,))

    def test_sweeps(self):
        self.has_the_bits_of_one("name = par_ilu\n[device]\nlayout = natural", "poisson", processes=(2,))
        self.has_the_bits_of_one("name = jacobi_sweeps", "transport", processes=(2,))
        self.has_the_bits_of_one("name = jacobi_sweeps", "poisson_periodic_z", processes=(2,))

    def test_multicolor_and_subdomains(self):
        self.has_the_bits_of_one("name = multicolor", "poisson", "poisson_box27")
        self.has_the_bits_of_one("name = subdomain_ildu0\nsubdomain = 7 5 2", "poisson", processes=(2,))

    def test_colours_that_are_looked_up_and_sweeps_over_colours(self):
        self.has_the_bits_of_one("name = multicolor\ncolours = hashed", "poisson", processes=(2,))
        self.has_the_bits_of_one("name = multicolor\ntriangular_solve = jacobi", "poisson", processes=(2,))

    def test_multigrid(self):
        self.has_the_bits_of_one(MULTIGRID, "poisson", "poisson_random")
        self.has_the_bits_of_one(f"cycle = w\n{MULTIGRID}\n[smoother]\nname = chebyshev", "poisson", processes=(2,))

    def test_multigrid_with_subdomains(self):
        self.has_the_bits_of_one(f"{MULTIGRID}\n[smoother]\nname = subdomain_ildu0\nsubdomain = 7 5 2", "poisson", processes=(2,))

    def test_smoothers_that_drop_couplings_have_the_bits_of_threads(self):
        deck = self.write("deck.ini", POISSON.format(cells="15 13 16") + f"[preconditioner]\n{MULTIGRID}\n[smoother]\nscope = rank\n")
        self.assertEqual(self.run_threads(2, deck, "threads.h5").returncode, 0)
        done = self.run_processes(2, deck, "processes.h5", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(0, "diff", "threads.h5", "processes.h5", "--tolerance", "0")

    def test_larger_grids_again_and_again(self):
        for name in ("jacobi", "struct_ilu", "multigrid"):
            deck = self.write("deck.ini", POISSON.format(cells="65 63 61") + f"[preconditioner]\nname = {name}\n"
                              "[device]\nlayout = natural\n")
            self.assertEqual(self.run_threads(1, deck, "one.h5").returncode, 0)
            for turn in range(3):
                with self.subTest(name=name, turn=turn):
                    done = self.run_processes(2, deck, "two.h5", "--force")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.expect(0, "diff", "one.h5", "two.h5", "--tolerance", "0")

    def test_record_and_verdict_name_ranks_and_gpus(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + "[preconditioner]\nname = jacobi\n")
        done = self.run_processes(2, deck, "two.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"cuda, 2 ranks on \d GPUs?, ")
        self.assertEqual(done.stdout.count("verdict"), 1, "one rank prints")
        environment = self.record("two.h5")["environment"]
        self.assertEqual(environment["ranks"], "2")
        self.assertEqual(len(environment["gpus"].split(", ")), 2)

    def test_processes_that_share_a_gpu_say_so(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + "[preconditioner]\nname = struct_ilu\n")
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        done = self.run_processes(2, deck, "two.h5", environment={"CUDA_VISIBLE_DEVICES": visible})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cuda, 2 ranks on 1 GPU, ", done.stdout)
        self.assertEqual(done.stderr.count("processes that share one take turns"), 1, done.stderr)

    def test_memory_of_a_rank_is_predicted(self):
        deck = self.write("deck.ini", POISSON.format(cells="65 63 64") + "[preconditioner]\nname = struct_ilu\n")
        plan = json.loads(self.expect(0, "check", deck, "--ranks", "2", "--backend", "cuda", "--json").stdout)
        memory = json.loads(self.run_processes(2, deck, "two.h5", "--json").stdout)["memory"]
        self.assertEqual(plan["memory"]["predicted"], memory["predicted"])

    def test_a_failure_of_one_rank_is_told_by_the_first(self):
        deck = self.write("deck.ini", POISSON.format(cells="65 63 31") + "[preconditioner]\nname = jacobi\n")
        # Rank 0 has 15 of the planes and rank 1 has 16, so that a little more than rank 0 needs is too little for rank 1.
        enough = json.loads(self.run_processes(2, deck, "enough.h5", "--json").stdout)["memory"]["peak"]
        done = self.run_processes(2, deck, "limited.h5", "--set", f"device.memory_limit={1.005 * enough / 2**20}")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"rank 1, \S+: out of device memory")
        self.assertEqual(self.record("limited.h5")["exit_code"], 6)

    def test_preempted_run_goes_on_with_other_ranks(self):
        deck = self.write("deck.ini", TRANSPORT.format(cells="7 5 9", steps=4) + "[preconditioner]\nname = jacobi\n")
        self.assertEqual(self.run_threads(1, deck, "whole.h5").returncode, 0)
        stopped = self.run_processes(2, deck, "part.h5", environment={"HYPERPLANE_STOP_AT": "17"})
        self.assertEqual(stopped.returncode, 75, stopped.stderr)
        self.assertEqual(self.run_program("run", deck, "--ranks", "3", "--backend", "cuda", "--quiet", "--set", "output.file=part.h5",
                                          "--set", "output.fields=true").returncode, 0)
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")

    def ends_when_one_is_killed(self, name):
        deck = self.write("deck.ini", POISSON.format(cells="256 256 256") + f"rtol = 1e-300\n[preconditioner]\nname = {name}\n")
        kernels = self.run_processes(2, deck, "kernels.h5", "--set", "solver.max_iterations=3", "--force")
        self.assertEqual(kernels.returncode, 3, kernels.stderr)
        (self.folder / "deck.h5.part").unlink(missing_ok=True)
        # Two seconds later it is among the steps that are graphs.
        self.expect_end_of_all_when_one_is_killed(2, deck, "--fresh", "--set", "solver.max_iterations=10000000", seconds=2.0)

    def test_a_rank_that_is_killed_ends_all(self):
        for name in ("jacobi", "struct_ilu"):
            with self.subTest(name):
                self.ends_when_one_is_killed(name)


if __name__ == "__main__":
    main_unless(why_no_gpu() or mpirun.reason_not_to_run(PROGRAM))
