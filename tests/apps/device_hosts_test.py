# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on GPUs of several hosts, which exchange messages: the records of one GPU. The hosts are processes of one host that take each
other for ranks of others. With two GPUs and NCCL they use NCCL; otherwise, and where it is asked for, the hosts' memory."""

import os

import device_processes_test as of_processes
from device_test import why_no_gpu
from processes import mpirun
from program import POISSON, PROGRAM, main_unless

HOSTS = {"HYPERPLANE_RANKS_A_HOST": "1"}


class GpuHosts(of_processes.GpuProcesses):
    def under_mpirun(self, processes, *words, environment=None):
        return super().under_mpirun(processes, *words, environment={**HOSTS, **(environment or {})})

    def start_under_mpirun(self, processes, *words, environment=None):
        return super().start_under_mpirun(processes, *words, environment={**HOSTS, **(environment or {})})

    def test_record_and_verdict_name_ranks_and_gpus(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + "[preconditioner]\nname = jacobi\n")
        done = self.run_processes(2, deck, "two.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"cuda, 2 ranks on \d GPUs? of 2 hosts, (NCCL \d+\.\d+\.\d+|messages through the hosts' memory, since .*), ")
        self.assertRegex(self.record("two.h5")["environment"]["between_hosts"], "^2 hosts, (NCCL|messages)")

    def test_processes_that_share_a_gpu_say_so(self):
        deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + "[preconditioner]\nname = struct_ilu\n")
        one_gpu = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]}
        done = self.run_processes(2, deck, "two.h5", environment=one_gpu)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("messages through the hosts' memory, since ranks share a GPU", done.stdout)
        self.assertEqual(done.stderr.count("a step waits for the hosts at every exchange"), 1, done.stderr)
        refused = self.run_processes(2, deck, "refused.h5", "--set", "device.between_hosts=nccl", environment=one_gpu)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("device.between_hosts = nccl: NCCL refuses ranks that share a GPU", refused.stderr)

    def test_messages_through_the_hosts_memory(self):
        for name in ("jacobi", "struct_ilu", "fgbilu", "multigrid", "sync_free_ilu\n[matrix]\nformat = general"):
            with self.subTest(name):
                layout = "" if "general" in name else "[device]\nlayout = natural\n"
                deck = self.write("deck.ini", POISSON.format(cells="17 15 13") + f"{layout}[preconditioner]\nname = {name}\n")
                self.assertEqual(self.run_threads(1, deck, "one.h5").returncode, 0)
                done = self.run_processes(2, deck, "two.h5", "--force", "--set", "device.between_hosts=messages")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("a step waits for the hosts", done.stderr)  # it was asked for
                self.expect(0, "diff", "one.h5", "two.h5", "--tolerance", "0")

    def test_messages_around_a_periodic_z(self):
        text = POISSON.format(cells="17 15 13").replace("[grid]", "right_hand_side = random\n[grid]\nperiodic = z")
        for name in ("jacobi", "struct_ilu"):
            deck = self.write("deck.ini", f"{text}[device]\nlayout = natural\n[preconditioner]\nname = {name}\n")
            self.assertEqual(self.run_threads(1, deck, "one.h5").returncode, 0)
            for processes in (2, 3):
                done = self.run_processes(processes, deck, "several.h5", "--force")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect(0, "diff", "one.h5", "several.h5", "--tolerance", "0")

    def test_memory_of_a_rank_is_predicted(self):
        """check does not know that the ranks are on several hosts, where they need a little less."""


if __name__ == "__main__":
    main_unless(why_no_gpu() or mpirun.reason_not_to_run(PROGRAM))
