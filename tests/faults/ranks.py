# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are processes under mpirun, one of which is killed: all end soon, and the same command ends with the same bits."""

import os
import shutil
import signal
import subprocess
import time

import interruptions
from program import PROGRAM

PROCESSES = 3
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(PROCESSES)]
WORDS = ("run", "a.ini", "--quiet", "--backend", "cpu", "--threads", "1", "--set", "output.checkpoint_every=2")
SECONDS_TO_END = 5.0


def alive(pids):
    """Those of the processes that exist and are not zombies."""
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(pid)
        except OSError:
            pass
    return found


def ranks_of(launcher):
    try:
        with open(f"/proc/{launcher}/task/{launcher}/children", encoding="ascii") as children:
            return list(map(int, children.read().split()))
    except OSError:
        return []


def start(program):
    return subprocess.Popen([*MPIRUN, PROGRAM, *WORDS], cwd=program.folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def built_with_mpi(program):
    program.write("none.ini", "")
    done = subprocess.run([*MPIRUN, PROGRAM, "run", "none.ini"], cwd=program.folder, capture_output=True, text=True)
    return "built without MPI" not in done.stdout + done.stderr


def killed(program, count, choose):
    """Kills a random rank after a random part of a whole run's time."""
    if not shutil.which("mpirun") or not built_with_mpi(program):
        yield "not tried: no MPI", None
        return
    whole = interruptions.reference(program)
    begin = time.monotonic()
    assert start(program).wait() == 0
    duration = time.monotonic() - begin
    for _ in range(count):
        interruptions.clear(program)
        launcher = start(program)
        end = time.monotonic() + choose.uniform(0.0, duration)
        while len(ranks_of(launcher.pid)) < PROCESSES and launcher.poll() is None:
            time.sleep(0.005)
        ranks = ranks_of(launcher.pid)
        time.sleep(max(0.0, end - time.monotonic()))
        victims = alive(ranks)
        if victims:
            os.kill(choose.choice(victims), signal.SIGKILL)
        begin = time.monotonic()
        try:
            status = launcher.wait(timeout=60)
        except subprocess.TimeoutExpired:
            launcher.kill()
            yield "mpirun hangs", "mpirun did not end"
            continue
        while alive(ranks) and time.monotonic() - begin < 30:
            time.sleep(0.02)
        if time.monotonic() - begin > SECONDS_TO_END:
            yield "late", f"ranks were left for {time.monotonic() - begin:.1f} s"
            continue
        if status == 0 and victims and not (program.folder / "a.h5").exists():
            yield "says success", "a rank was killed, and mpirun ended with 0 without a record"
            continue
        outcome, complaint = interruptions.again(program, whole, ("--ranks", "2", "--backend", "cpu"))
        yield ("the same bits" if outcome == "ok" else outcome), complaint
