# SPDX-License-Identifier: BSD-3-Clause
"""Damaged records, checkpoints and studies, given to all that reads them."""

import pathlib
import subprocess
import sys

from program import DECK

MODULE = pathlib.Path(__file__).resolve().parents[2] / "python"


def make(program, *words):
    program.write("a.ini", DECK)
    status, said = program.run("run", "a.ini", "--quiet", *words)
    assert status == 0, said
    return (program.folder / "a.h5").read_bytes()


def flip(whole, choose):
    damaged = bytearray(whole)
    damaged[choose.randrange(len(whole))] ^= 1 << choose.randrange(8)
    return bytes(damaged)


def damaged(program, whole, count, choose, words, allowed=(7,), name="b.h5", cut=False):
    for _ in range(count):
        bytes_left = whole[: choose.randrange(len(whole))] if cut else flip(whole, choose)
        (program.folder / name).write_bytes(bytes_left)
        yield program.judge(words, allowed)


def flipped_info(program, count, choose):
    yield from damaged(program, make(program), count, choose, ("info", "b.h5"))


def cut_info(program, count, choose):
    yield from damaged(program, make(program), count, choose, ("info", "b.h5"), cut=True)


def flipped_diff(program, count, choose):
    yield from damaged(program, make(program), count, choose, ("diff", "a.h5", "b.h5"))


def flipped_report(program, count, choose):
    whole = make(program)
    program.write("b.h5", "")
    if b"python3-h5py" in program.run("report", "b.h5")[1]:  # it cannot draw here
        return
    yield from damaged(program, whole, count, choose, ("report", "b.h5"))


def flipped_study(program, count, choose):
    program.write("s.ini", DECK + "[sweep]\nsolver.restart = 20, 30\n")
    status, said = program.run("study", "run", "s.ini", "--quiet")
    assert status == 0, said
    case = sorted((program.folder / "s").glob("*.h5"))[0]
    whole = case.read_bytes()
    for verb in ("status", "collect"):
        for _ in range(count // 2):
            case.write_bytes(flip(whole, choose))
            # a case that is damaged is a state of the study, not an error of the command
            yield program.judge(("study", verb, "s.ini"), (0, 3, 7, 8))


def flipped_restart(program, count, choose):
    program.write("a.ini", DECK + "[output]\ncheckpoint_every = 1\n")
    status, said = program.run("run", "a.ini", "--quiet", stop_at="25:9")
    assert status == -9, said
    slots = [program.folder / f"a.{slot}.checkpoint" for slot in (0, 1)]
    whole = [slot.read_bytes() for slot in slots]
    for turn in range(count):
        for slot, content in zip(slots, whole):
            slot.write_bytes(content)
        slots[turn % 2].write_bytes(flip(whole[turn % 2], choose))
        (program.folder / "a.h5").unlink(missing_ok=True)
        yield program.judge(("run", "a.ini", "--quiet", "--restart"), (0,))


def flipped_unsealed(program, count, choose):
    """As version 0.1 wrote them, without a seal: HDF5 may read the flipped bit as it is."""
    yield from damaged(program, make(program)[512:], count, choose, ("info", "b.h5"), allowed=(0, 7))


def flipped_module(program, count, choose):
    """All in one process, which therefore must not crash."""
    make(program)
    script = f"""
import random, sys
sys.path.insert(0, {str(MODULE)!r})
import hyperplane
whole, choose = open("a.h5", "rb").read(), random.Random({choose.random()})
for turn in range({count}):
    damaged = bytearray(whole)
    damaged[choose.randrange(len(whole))] ^= 1 << choose.randrange(8)
    if turn % 4 == 3:
        damaged = damaged[: choose.randrange(len(whole))]
    open("b.h5", "wb").write(damaged)
    try:
        hyperplane.load("b.h5")
        print("ok")
    except hyperplane.RecordError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=program.folder, capture_output=True, text=True)
    if "No module named" in done.stderr:
        return
    outcomes = done.stdout.split()
    for outcome in outcomes:
        yield outcome, None if outcome == "refused" else "a damaged record was read as if it were whole"
    if len(outcomes) < count:
        yield "crash", f"status {done.returncode}: {done.stderr[-300:]}"
