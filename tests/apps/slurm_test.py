# SPDX-License-Identifier: BSD-3-Clause
"""A study as a job array of a real Slurm, started for this test alone and taken down after it."""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

import slurm
import study_test
from processes import mpirun
from program import PROGRAM, TRANSPORT

SWEEP = """
[output]
fields = true
checkpoint_every = 4
[sweep]
problem.viscosity = 1e-3..6e-3 step 1e-3
[slurm]
time = 00:10:00
seconds_to_stop = 60
"""
NAMES = [f"viscosity=0.00{at}" for at in range(1, 7)]
KILLED, PREEMPTED, SIGNALLED = 0, 1, 2  # tasks of the array


def parent_of(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


class JobArray(study_test.StudyTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scratch = tempfile.mkdtemp(prefix="slurm", dir="/tmp")  # a short name: sockets allow some 100 bytes
        cls.addClassCleanup(shutil.rmtree, scratch, True)
        cls.cluster = slurm.Cluster(scratch + "/cluster")
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        # Long enough to be interrupted while running; the expected results are from plain runs of the same decks.
        self.text = self.study(SWEEP, TRANSPORT.format(cells=32, steps=60))

    def study_verb(self, code, *words):
        old = dict(os.environ)
        os.environ.update(self.cluster.environment)
        try:
            return self.expect(code, "study", *words)
        finally:
            os.environ.clear()
            os.environ.update(old)

    def submit(self):
        printed = self.study_verb(0, "submit", self.text).stdout
        return int(printed.split()[1].rstrip(":"))

    def wait_until(self, condition, what, seconds=90):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                logs = [log.name + ":\n" + log.read_text()[-1500:] for log in (self.folder / "s").glob("slurm-*.log")]
                self.fail("\n".join([f"waited too long for {what}", str(self.status(self.text)), *logs,
                                     self.cluster.logs()]))
            time.sleep(0.02)

    def begun(self, task):
        """Whether the case is running and has its checkpoints."""
        return all(self.file_of(NAMES[task], f"{slot}.checkpoint").exists() for slot in (0, 1))

    def case_process(self, task):
        """The pid of `run` in the job of this task."""
        for process in pathlib.Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                program = (process / "exe").readlink()
            except OSError:
                continue
            if (str(program) == os.path.realpath(PROGRAM) and f"SLURM_ARRAY_TASK_ID={task}".encode() in variables
                    and f"SLURM_CONF={self.cluster.conf}".encode() in variables):
                return int(process.name)
        return None

    def test_killed_preempted_resumed_and_collected(self):
        job = self.submit()
        # One case is killed, as the kernel would do.
        self.wait_until(lambda: self.begun(KILLED), "case 0 to work")
        os.kill(self.case_process(KILLED), signal.SIGKILL)
        # One is preempted and requeued by Slurm.
        self.wait_until(lambda: self.begun(PREEMPTED), "case 1 to work")
        self.assertEqual(self.cluster.call("scontrol", "requeue", f"{job}_{PREEMPTED}").returncode, 0)
        # One gets the signal that Slurm sends to the job's shell before the time is over (--signal=B:USR1).
        self.wait_until(lambda: self.begun(SIGNALLED), "case 2 to work")
        os.kill(parent_of(self.case_process(SIGNALLED)), signal.SIGUSR1)
        self.wait_until(lambda: not self.cluster.tasks(job), "the array to end")

        self.assertEqual([self.status(self.text)[name] for name in NAMES], ["killed"] + 5 * ["done"])
        for task in (PREEMPTED, SIGNALLED):
            log = (self.folder / "s" / f"slurm-{job}_{task}.log").read_text()
            self.assertIn("was preempted: going on from step", log)
        again = self.submit()
        self.assertNotEqual(again, job)
        self.wait_until(lambda: not self.cluster.tasks(again), "the second array to end")
        self.assertIn("is a checkpoint: going on from step",
                      (self.folder / "s" / f"slurm-{again}_0.log").read_text())
        self.study_verb(0, "status", self.text)
        self.study_verb(0, "resume", self.text)
        self.study_verb(0, "collect", self.text)
        rows = self.rows()
        self.assertEqual([row["status"] for row in rows], 6 * ["done"])
        self.assertTrue(all(self.record(row["record"])["environment"]["slurm_job"] for row in rows))
        self.expect_the_bits_of_plain_runs()

    @unittest.skipIf(mpirun.reason_not_to_run(PROGRAM), "processes are ranks where the program has MPI")
    def test_ranks_are_processes_that_srun_starts(self):
        self.text = self.study("[output]\nfields = true\ncheckpoint_every = 4\n[sweep]\ndevice.ranks = 1, 2\n"
                               "[slurm]\nprocesses = true\n", TRANSPORT.format(cells=32, steps=60))
        job = self.submit()
        slots = [self.file_of("ranks=2", f"{slot}.checkpoint") for slot in (0, 1)]
        self.wait_until(lambda: all(slot.exists() for slot in slots), "two processes to work")
        shell = parent_of(next(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_srun(pid)))
        os.kill(shell, signal.SIGUSR1)
        self.wait_until(lambda: not self.cluster.tasks(job), "the array to end")
        self.assertEqual(self.status(self.text), {"ranks=1": "done", "ranks=2": "done"})
        self.assertIn("was preempted: going on from step", (self.folder / "s" / f"slurm-{job}_1.log").read_text())
        self.assertEqual(self.record("s/ranks=2.h5")["environment"]["ranks"], "2")
        self.expect(0, "diff", "s/ranks=1.h5", "s/ranks=2.h5", "--tolerance", "0")
        self.assertEqual(self.file_of("ranks=1", "vtkhdf").read_bytes(), self.file_of("ranks=2", "vtkhdf").read_bytes())

    def is_srun(self, pid):
        """Whether a process is an srun of this cluster whose parent is the job's shell."""
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            parent = pathlib.Path(f"/proc/{parent_of(pid)}/cmdline").read_bytes()
        except OSError:
            return False
        return (words[0].endswith(b"srun") and b"--ntasks=2" in words and not parent.startswith(b"srun") and
                f"SLURM_CONF={self.cluster.conf}".encode() in variables)

    def expect_the_bits_of_plain_runs(self):
        deck = self.write("plain.ini", TRANSPORT.format(cells=32, steps=60))
        for name in (NAMES[KILLED], NAMES[PREEMPTED], NAMES[SIGNALLED], NAMES[5]):
            self.expect(0, "run", deck, "--set", "problem.viscosity=" + name.split("=")[1], "--set", "output.fields=true")
            self.assertEqual(self.file_of(name, "vtkhdf").read_bytes(), (self.folder / "plain.vtkhdf").read_bytes(), name)


if __name__ == "__main__":
    if reason := slurm.missing():
        print(f"skipped: no Slurm for study submit ({reason})")
        sys.exit(77)
    unittest.main()
