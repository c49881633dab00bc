# SPDX-License-Identifier: BSD-3-Clause
"""mpirun, and the processes that it starts."""

import shutil
import subprocess
import time

COMMAND = ("mpirun", "--allow-run-as-root", "--oversubscribe")


def reason_not_to_run(program):
    """Why ranks of `program` cannot be processes here, or an empty text."""
    if not shutil.which("mpirun"):
        return "mpirun is not installed (openmpi-bin)"
    done = subprocess.run([*COMMAND, "-n", "2", program, "run", "no_such_deck.ini"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    return "the program was built without MPI" if "built without MPI" in done.stdout else ""


def children(pid):
    """The processes that a process has started."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
            return list(map(int, listed.read().split()))
    except OSError:
        return []


def alive(pids):
    """Those of the processes that exist and are no zombies, which nobody has waited for."""
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_for_end(pids, seconds):
    """Waits until all of the processes have ended, at most so many seconds."""
    deadline = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.02)
