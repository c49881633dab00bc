# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the program whose ranks are processes under mpirun."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import time

from program import PROGRAM, ProgramTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import mpirun  # noqa: E402


class ProcessesTest(ProgramTest):
    """A subclass names the backend of its ranks."""

    backend = ""

    def under_mpirun(self, processes, *words, environment=None):
        return subprocess.run([*mpirun.COMMAND, "-n", str(processes), PROGRAM, *words], cwd=self.folder, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})

    def under_mpiruns(self, processes, *commands):
        """What under_mpirun returns for each command, a few at a time: an mpirun whose processes fail waits a second or two, idle."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda words: self.under_mpirun(processes, *words), commands))

    def run_processes(self, processes, deck, output, *words, environment=None):
        return self.under_mpirun(processes, "run", deck, "--backend", self.backend, "--threads", "1", "--quiet", "--set",
                                 f"output.file={output}", "--set", "output.fields=true", *words, environment=environment)

    def start_under_mpirun(self, processes, *words, environment=None):
        """The running mpirun."""
        process = subprocess.Popen([*mpirun.COMMAND, "-n", str(processes), PROGRAM, *words], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, name, process):
        """Waits until a file is there; `process` is what will write it."""
        deadline = time.monotonic() + 60
        while not (self.folder / name).exists() and time.monotonic() < deadline:
            if process.poll() is not None:
                self.fail(f"mpirun ended with {process.returncode}: {process.stderr.read()}")
            time.sleep(0.05)

    def expect_end_of_all_when_one_is_killed(self, processes, deck, *words, seconds):
        """Starts deck.ini, whose solve must take longer, and kills rank 1 so many seconds after its record was begun."""
        process = self.start_under_mpirun(processes, "run", deck, "--backend", self.backend, "--threads", "1", *words)
        self.wait_for("deck.h5.part", process)
        ranks = mpirun.children(process.pid)
        self.assertEqual(len(ranks), processes)
        time.sleep(seconds)
        self.assertEqual(mpirun.alive(ranks), ranks, "the solve was too short for this test")
        self.expect_end_of_all(process, ranks)

    def expect_end_of_all(self, process, ranks):
        """Kills rank 1 and expects mpirun to name it, and all ranks to end soon."""
        os.kill(ranks[1], signal.SIGKILL)
        begin = time.monotonic()
        self.assertNotEqual(process.wait(timeout=60), 0)
        mpirun.wait_for_end(ranks, 30.0)
        self.assertLess(time.monotonic() - begin, 5.0)
        self.assertIn("rank 1", process.stderr.read())
