# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are processes under mpirun, one of which is killed: all end soon, and the same command ends with the same bits."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import interruptions
from program import PROGRAM

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import mpirun  # noqa: E402

PROCESSES = 3
WORDS = ("run", "a.ini", "--quiet", "--backend", "cpu", "--threads", "1", "--set", "output.checkpoint_every=2")
SECONDS_TO_END = 5.0


def start(program):
    return subprocess.Popen([*mpirun.COMMAND, "-n", str(PROCESSES), PROGRAM, *WORDS], cwd=program.folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed(program, count, choose):
    """Kills a random rank after a random part of a whole run's time."""
    if reason := mpirun.reason_not_to_run(PROGRAM):
        yield f"not tried: {reason}", None
        return
    whole = interruptions.reference(program)
    begin = time.monotonic()
    assert start(program).wait() == 0
    duration = time.monotonic() - begin
    for _ in range(count):
        interruptions.clear(program)
        launcher = start(program)
        end = time.monotonic() + choose.uniform(0.0, duration)
        while len(mpirun.children(launcher.pid)) < PROCESSES and launcher.poll() is None:
            time.sleep(0.005)
        ranks = mpirun.children(launcher.pid)
        time.sleep(max(0.0, end - time.monotonic()))
        victims = mpirun.alive(ranks)
        if victims:
            os.kill(choose.choice(victims), signal.SIGKILL)
        begin = time.monotonic()
        try:
            status = launcher.wait(timeout=60)
        except subprocess.TimeoutExpired:
            launcher.kill()
            yield "mpirun hangs", "mpirun did not end"
            continue
        while mpirun.alive(ranks) and time.monotonic() - begin < 30:
            time.sleep(0.02)
        if time.monotonic() - begin > SECONDS_TO_END:
            yield "late", f"ranks were left for {time.monotonic() - begin:.1f} s"
            continue
        if status == 0 and victims and not (program.folder / "a.h5").exists():
            yield "says success", "a rank was killed, and mpirun ended with 0 without a record"
            continue
        outcome, complaint = interruptions.again(program, whole, ("--ranks", "2", "--backend", "cpu"))
        yield ("the same bits" if outcome == "ok" else outcome), complaint
