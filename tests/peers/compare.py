#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares Hyperplane with PETSc, and hypre if it is built, on the same Poisson system, in turns within minutes.

    tests/peers/compare.py [BUILD_FOLDER] [ROUNDS] [--points N]      default: build/release 5 --points 96

Prints a Markdown table of medians over the rounds with their spread, and the ratios that count.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECK = ROOT / "inputs/peers/poisson_96_ones.ini"


def output_of(*words, **variables):
    """What a program prints; if it fails, this program ends with its message."""
    done = subprocess.run([str(word) for word in words], env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ends with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Programs:
    """The programs of a build folder, on a system of points^3 unknowns."""

    def __init__(self, build, points):
        self.build, self.points = build, points

    def peer(self, name, processes, *words):
        launcher = [] if processes == 1 else ["mpirun", "--allow-run-as-root", "-n", processes]
        return json.loads(output_of(*launcher, self.build / "tests/peers" / name, *words, "-points", self.points,
                                    OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))

    def petsc(self, processes):
        return self.peer("petsc_poisson", processes, "-system", "ones", "-json")

    def hypre(self, processes):
        """None if it is not built."""
        if not (self.build / "tests/peers/hypre_poisson").exists():
            return None
        return self.peer("hypre_poisson", processes)["cg_pfmg"]

    def bench(self, *words):
        return json.loads(output_of(self.build / "apps/hyperplane", "bench", *words, "--json", "-"))

    def kernels(self):
        return self.bench("kernels", "--cases", f"star7:1:{self.points}:sym", "--threads", 1)["cases"][0]["kernels"]

    def solve(self, threads, preconditioner="struct_ilu"):
        cells = " ".join([str(self.points)] * 3)
        return self.bench("solve", DECK, "--set", f"grid.cells={cells}", "--set", f"preconditioner.name={preconditioner}",
                          "--threads", threads)["solves"][0]


def total(solve):
    """Seconds of a first set-up and the solve; the peers, too, begin anew in each repeat."""
    return solve["whole_setup"]["least"] + solve["solve"]["least"]


def one_round(programs):
    """A peer's figure and ours by name. Kernels: medians of repeats. Totals: the best repeat of each, set-up included, and
    the better of one process and two; beside hypre's multigrid stands ours. Then the iterations."""
    one, two = programs.petsc(1), programs.petsc(2)
    multigrid = [programs.hypre(processes) for processes in (1, 2)]
    kernels = programs.kernels()
    solves = {threads: programs.solve(threads) for threads in (1, 2)}
    multigrid_solve = programs.solve(2, "multigrid")

    def kernel_ms(name):
        return 1e3 * kernels[name]["seconds"]["median"]

    figures = {
        "SpMV, 1 thread, ms: PETSc": (one["spmv_ms"]["median"], kernel_ms("spmv")),
        "ILU(0) / IC(0) apply, 1 thread, ms: PETSc":
            (min(one["ilu0_apply_ms"]["median"], one["icc0_apply_ms"]["median"]), kernel_ms("lower") + kernel_ms("upper")),
        "CG + IC(0) iteration, 1 thread, ms: PETSc":
            (one["cg_icc0_iteration_ms"]["median"], 1e3 * solves[1]["per_iteration"]),
        "to 1e-8, 2 cores, set-up and solve, s: PETSc, CG + ICC(0)":
            (min(one["cg_icc0"]["total_s"], two["cg_icc0"]["total_s"]), total(solves[2])),
    }
    iterations = [f"PETSc {one['cg_icc0']['iterations']} on one process, {two['cg_icc0']['iterations']} on two"]
    if all(multigrid):
        figures["to 1e-8, 2 cores, set-up and solve, s: hypre, CG + PFMG"] = (
            min(solve["total_s"] for solve in multigrid), total(multigrid_solve))
        iterations.append("hypre {} and {}, Hyperplane, CG + multigrid, {}".format(
            *(solve["iterations"] for solve in multigrid), multigrid_solve["iterations"]))
    return figures, "; ".join([*iterations, f"Hyperplane, CG + IC(0), {solves[2]['iterations']}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--points", type=int, default=96, help="interior nodes a side")
    given = parser.parse_args()
    programs = Programs(given.build.resolve(), given.points)
    rounds = []
    for _ in range(given.rounds):
        figures, iterations = one_round(programs)
        rounds.append(figures)
        print(f"round {len(rounds)} of {given.rounds}", file=sys.stderr)
    print("| | peer | Hyperplane | ratio, median (least to most) |\n|---|---|---|---|")
    for name in rounds[0]:
        peer, own = ([figures[name][side] for figures in rounds] for side in (0, 1))
        ratios = sorted(a / b for a, b in zip(peer, own))
        print(f"| {name} | {statistics.median(peer):.3g} | {statistics.median(own):.3g} | "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")
    print(f"\nIterations: {iterations}.")


if __name__ == "__main__":
    main()
