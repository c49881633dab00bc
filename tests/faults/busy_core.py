# SPDX-License-Identifier: BSD-3-Clause
"""How much slower a solve with a thread on every core becomes beside one other program that keeps a core busy.

The median time of a 40^3 solve, alone and beside that program, for three preconditioners; exit status 1 where the second
is more than three times the first. The machine must be idle otherwise:

    HYPERPLANE=build/release/apps/hyperplane python3 tests/faults/busy_core.py
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ["HYPERPLANE"]).resolve()
LIMIT = 3.0
DECK = """[problem]
name = poisson
[grid]
cells = 40
[device]
backend = cpu
threads = {threads}
[solver]
name = cg
rtol = 1e-12
[preconditioner]
name = {preconditioner}
[output]
file = a.h5
"""


def milliseconds(folder, runs):
    """The times of solves, in ascending order."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    times = []
    for _ in range(runs):
        done = subprocess.run([PROGRAM, "run", "a.ini", "--quiet", "--json", "--force"], cwd=folder, check=True,
                              env=environment, stdout=subprocess.PIPE)
        times.append(1e3 * json.loads(done.stdout)["costs"]["solve_seconds"])
    return sorted(times)


def main():
    threads = len(os.sched_getaffinity(0))
    worst = 0.0
    print(f"{threads} threads; ms: least, median, greatest; alone | beside a busy program | ratio of medians")
    for preconditioner in ("jacobi", "struct_ilu", "multicolor"):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.ini").write_text(DECK.format(threads=threads, preconditioner=preconditioner))
            alone = milliseconds(folder, 15)
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            try:
                time.sleep(0.5)
                beside = milliseconds(folder, 9)
            finally:
                busy.kill()
                busy.wait()
        ratio = statistics.median(beside) / statistics.median(alone)
        worst = max(worst, ratio)
        figures = " | ".join(f"{t[0]:7.1f} {statistics.median(t):7.1f} {t[-1]:7.1f}" for t in (alone, beside))
        print(f"{preconditioner:12} {figures} | {ratio:.2f}", flush=True)
    return 1 if worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
