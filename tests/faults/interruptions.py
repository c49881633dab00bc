# SPDX-License-Identifier: BSD-3-Clause
"""Kills, signals, full disks and little memory: what is left is whole, and the same command ends with the same bits."""

import resource
import signal

from program import DECK

FIELDS = DECK + "[output]\nfields = true\n"


def reference(program):
    program.write("a.ini", FIELDS)
    status, said = program.run("run", "a.ini", "--quiet", "--set", "output.file=whole.h5")
    assert status == 0, said
    return (program.folder / "whole.vtkhdf").read_bytes()


def clear(program):
    for path in program.folder.glob("a.*"):
        if path.suffix != ".ini":
            path.unlink()


def again(program, whole, words=()):
    """A complaint unless the same command now ends with the bits of a run that nothing disturbed."""
    outcome, complaint = program.judge(("run", "a.ini", "--quiet", *words), (0,))
    if complaint is None and (program.folder / "a.vtkhdf").read_bytes() != whole:
        complaint = "other bits"
    return outcome, complaint


def stopped(program, count, choose, numbers, expected, words):
    whole = reference(program)
    for _ in range(count):
        clear(program)
        status, said = program.run("run", "a.ini", "--quiet", *words,
                                   stop_at=f"{choose.randrange(1, 40)}:{int(choose.choice(numbers))}")
        if status not in (0, expected):
            yield f"status {status}", f"{said[-300:]!r}"
            continue
        outcome, complaint = again(program, whole, words)
        yield ("the same bits" if outcome == "ok" else outcome), complaint


def killed(program, count, choose):
    yield from stopped(program, count, choose, (signal.SIGKILL,), -signal.SIGKILL, ("--set", "output.checkpoint_every=2"))


def signalled(program, count, choose):
    yield from stopped(program, count, choose, (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP), 75, ())


def limited(program, count, choose, which, sizes, allowed):
    whole = reference(program)
    for _ in range(count):
        clear(program)
        size = int(choose.uniform(*sizes))
        outcome, complaint = program.judge(("run", "a.ini", "--quiet"), allowed,
                                           limit=lambda: resource.setrlimit(which, (size, size)))
        if complaint is None:
            status, said = program.run("info", "a.h5") if (program.folder / "a.h5").exists() else (0, b"")
            complaint = None if status == 0 else f"a record that is not whole: {said[-300:]!r}"
        if complaint is None:
            _, complaint = again(program, whole)
        yield outcome, complaint


def full_disk(program, count, choose):
    yield from limited(program, count, choose, resource.RLIMIT_FSIZE, (1, 120e3), (0, 7))


def little_memory(program, count, choose):
    """From where the program can be loaded at all; half of the sizes are near that, where memory ends in HDF5."""
    least = next(size for size in range(100, 2000, 20) if program.run(
        "--version", limit=lambda: resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20)))[0] == 0)
    for most in (least + 4, least + 60):
        yield from limited(program, count // 2, choose, resource.RLIMIT_AS, (least << 20, most << 20), (0, 6, 7))
