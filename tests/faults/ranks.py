# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are processes under mpirun: one is killed, mpirun gets SIGTERM, or the writer's disk is full. All end soon, and the
same command, on other ranks, ends with the same bits."""

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
KILLED = (128 + signal.SIGKILL,)
# Statuses after SIGTERM: 75 with a checkpoint; that of the signal before the program could write one; 1 from Open MPI's mpirun, whatever
# its processes end with; and at times a fault of mpirun itself while it is still starting them.
STOPPED = (75, 128 + signal.SIGTERM, 1, -signal.SIGSEGV)


def start(program, *words, errors=subprocess.DEVNULL):
    return subprocess.Popen([*mpirun.COMMAND, "-n", str(PROCESSES), PROGRAM, *WORDS, *words], cwd=program.folder,
                            stdout=subprocess.DEVNULL, stderr=errors)


def ended_soon(launcher, ranks):
    """mpirun's exit status, None where it hangs though its ranks have ended, and a complaint if a rank was left for too long.

    Open MPI 4.1.4 at times waits for ever for a lock of its own (in PMIx_server_finalize) when a rank was killed during MPI_Init.
    """
    begin = time.monotonic()
    mpirun.wait_for_end(ranks, 60.0)
    seconds = time.monotonic() - begin
    complaint = f"ranks were left for {seconds:.1f} s" if seconds > SECONDS_TO_END else None
    try:
        return launcher.wait(timeout=20), complaint
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()
        return None, complaint


def disturbed(program, count, choose, disturb, statuses):
    """Calls disturb(launcher, ranks) after a random part of a whole run's time. mpirun may then end with these statuses, or with 0
    where the run had ended before."""
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
        touched = disturb(launcher, ranks)
        status, complaint = ended_soon(launcher, ranks)
        if complaint:
            yield "late", complaint
            continue
        if status == 0 and touched and not (program.folder / "a.h5").exists():
            yield "says success", "mpirun ended with 0 without a record"
            continue
        if status not in (None, 0, *statuses):
            yield f"status {status}", f"mpirun ended with {status}, which is none of {statuses}"
            continue
        outcome, complaint = interruptions.again(program, whole, ("--ranks", "2", "--backend", "cpu"))
        if outcome == "ok":
            outcome = "the same bits" if status is not None else "the same bits, though mpirun hung after its ranks"
        yield outcome, complaint


def killed(program, count, choose):
    """Kills a random rank."""

    def kill(_, ranks):
        victims = mpirun.alive(ranks)
        if victims:
            os.kill(choose.choice(victims), signal.SIGKILL)
        return bool(victims)

    yield from disturbed(program, count, choose, kill, KILLED)


def told_to_stop(program, count, choose):
    """Sends mpirun SIGTERM, which it passes on."""

    def stop(launcher, _):
        launcher.send_signal(signal.SIGTERM)
        return True

    yield from disturbed(program, count, choose, stop, STOPPED)


def full_disk(program, count, choose):
    """The record lies on a file system of random size; then there is room."""
    if reason := mpirun.reason_not_to_run(PROGRAM):
        yield f"not tried: {reason}", None
        return
    whole = interruptions.reference(program)
    disk = program.folder / "disk"
    disk.mkdir()
    words = ("--set", "output.file=disk/a.h5")
    for _ in range(count):
        size = choose.randrange(8, 400)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], capture_output=True).returncode != 0:
            yield "not tried: a tmpfs cannot be mounted", None
            return
        try:
            launcher = start(program, *words, errors=subprocess.PIPE)
            said = launcher.communicate(timeout=60)[1]
            outcome = {0: "ok", 7: "file refused"}.get(launcher.returncode, f"status {launcher.returncode}")
            complaint = None if launcher.returncode in (0, 7) else f"{said[-300:]!r}"
            if launcher.returncode == 7 and not any(why in said for why in (b"No space left on device", b", and that disk has ")):
                complaint = f"it does not say why: {said[-300:]!r}"
            if complaint is None and (disk / "a.h5").exists():
                status, of_info = program.run("info", "disk/a.h5")
                complaint = None if status == 0 else f"a record that is not whole: {of_info[-300:]!r}"
            if complaint is None:
                subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
                _, complaint = program.judge(("run", "a.ini", "--quiet", "--ranks", "2", "--backend", "cpu", *words), (0,))
            if complaint is None and (disk / "a.vtkhdf").read_bytes() != whole:
                complaint = "other bits"
        finally:
            subprocess.run(["umount", disk], check=True)
        yield outcome, complaint
