# SPDX-License-Identifier: BSD-3-Clause
"""The script by which a study becomes a job array of Slurm, which need not be there."""

import shutil
import unittest

import study_test
from program import POISSON


class Submit(study_test.StudyTest):
    def test_script(self):
        study = self.study(study_test.SWEEP + "[slurm]\npartition = long\ntime = 02:00:00\ngpus = 1\naccount = abc\ncpus = 4\n"
                           "max_running = 3\nsetup = module load x\noptions = --exclusive\n",
                           POISSON.format(cells=4) + "[device]\nbackend = cpu\n")
        script = self.expect(0, "study", "submit", study, "--print").stdout
        for line in ("--array=0-5%3", "--partition=long", "--time=02:00:00", "--gpus=1", "--account=abc",
                     "--cpus-per-task=4", "--signal=B:USR1@120", "--requeue", "--exclusive", "--mem=257M"):
            self.assertIn(f"#SBATCH {line}\n", script)
        self.assertIn("\nmodule load x\n", script)
        for case in self.plan(study):
            self.assertIn(f"    {case['hash']}  # {case['name']}\n", script)
        self.assertFalse((self.folder / "s").exists())
        self.expect(0, "study", "run", study)
        self.expect(0, "study", "submit", study, says="nothing to submit")

    def test_script_for_ranks(self):
        sweep = "[sweep]\ndevice.ranks = 1, 3\n[slurm]\ncpus = 2\n"
        threads = self.expect(0, "study", "submit", self.study(sweep), "--print").stdout
        self.assertIn("#SBATCH --cpus-per-task=6\n", threads)
        self.assertIn("\nranks=( 1 3 )\nexport OMP_NUM_THREADS=$((2 * ${ranks[$SLURM_ARRAY_TASK_ID]}))\n", threads)
        self.assertNotIn("srun", threads)
        self.expect(2, "study", "submit", self.study(sweep + "nodes = 2\n"), "--print", says="slurm.processes = true")
        processes = self.expect(0, "study", "submit", self.study(sweep + "nodes = 2\nprocesses = true\n"), "--print").stdout
        for line in ("--ntasks=3", "--cpus-per-task=2", "--nodes=2"):
            self.assertIn(f"#SBATCH {line}\n", processes)
        self.assertIn("\nexport OMP_NUM_THREADS=2\n", processes)
        self.assertIn("srun --mpi=pmix --ntasks=${ranks[$SLURM_ARRAY_TASK_ID]}", processes)

    def test_memory_that_is_not_known_here_is_left_to_the_cluster(self):
        study = self.study("[sweep]\ngrid.cells = 8, 12\n[device]\nbackend = cuda\n")
        if self.run_program("run", study, "--case", "0").returncode != 9:
            self.skipTest("there is a GPU")
        self.assertNotIn("--mem", self.expect(0, "study", "submit", study, "--print").stdout)
        plan = self.plan(study)
        self.assertEqual([case["fits"] for case in plan], [True, True])
        if all("without the CUDA backend" not in case["unsure"] for case in plan):
            self.assertLess(0, plan[0]["memory"])
            self.assertLess(plan[0]["memory"], plan[1]["memory"])

    @unittest.skipIf(shutil.which("sbatch"), "Slurm is here")
    def test_no_slurm(self):
        self.expect(7, "study", "submit", self.study(), says="is this a machine of the cluster?")


if __name__ == "__main__":
    unittest.main()
