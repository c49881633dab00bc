#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplane beside PETSc on the same Poisson system, in turns, in the same minutes.

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
    """What a program prints; its own message ends this one where it fails."""
    done = subprocess.run([str(word) for word in words], env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ends with code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Programs:
    """The two programs of a build folder, on a system of points^3 unknowns."""

    def __init__(self, build, points):
        self.build, self.points = build, points

    def petsc(self, processes):
        launcher = [] if processes == 1 else ["mpirun", "--allow-run-as-root", "-n", processes]
        return json.loads(output_of(*launcher, self.build / "tests/peers/petsc_poisson", "-system", "ones", "-json",
                                    "-points", self.points, OMP_NUM_THREADS="1"))

    def bench(self, *words):
        return json.loads(output_of(self.build / "apps/hyperplane", "bench", *words, "--json", "-"))

    def kernels(self):
        return self.bench("kernels", "--cases", f"star7:1:{self.points}:sym", "--threads", 1)["cases"][0]["kernels"]

    def solve(self, threads):
        cells = " ".join([str(self.points)] * 3)
        return self.bench("solve", DECK, "--set", f"grid.cells={cells}", "--threads", threads)["solves"][0]


def one_round(programs):
    """PETSc's figure and ours by name. Kernels: medians of repeats. Totals: the best repeat of each, set-up included."""
    one, two = programs.petsc(1), programs.petsc(2)
    kernels = programs.kernels()
    solves = {threads: programs.solve(threads) for threads in (1, 2)}

    def kernel_ms(name):
        return 1e3 * kernels[name]["seconds"]["median"]

    return {
        "SpMV, 1 thread, ms": (one["spmv_ms"]["median"], kernel_ms("spmv")),
        "ILU(0) / IC(0) apply, 1 thread, ms":
            (min(one["ilu0_apply_ms"]["median"], one["icc0_apply_ms"]["median"]), kernel_ms("lower") + kernel_ms("upper")),
        "CG + IC(0) iteration, 1 thread, ms":
            (one["cg_icc0_iteration_ms"]["median"], 1e3 * solves[1]["per_iteration"]),
        "CG + IC(0) to 1e-8, 2 cores, set-up and solve, s":
            (min(one["cg_icc0"]["total_s"], two["cg_icc0"]["total_s"]),
             solves[2]["factorise"]["least"] + solves[2]["solve"]["least"]),
    }, (one["cg_icc0"]["iterations"], two["cg_icc0"]["iterations"], solves[2]["iterations"])


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
    print("| | PETSc | Hyperplane | ratio, median (least to most) |\n|---|---|---|---|")
    for name in rounds[0]:
        peer, own = ([figures[name][side] for figures in rounds] for side in (0, 1))
        ratios = sorted(a / b for a, b in zip(peer, own))
        print(f"| {name} | {statistics.median(peer):.3g} | {statistics.median(own):.3g} | "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")
    print(f"\nIterations: PETSc {iterations[0]} on one process, {iterations[1]} on two; Hyperplane {iterations[2]}.")


if __name__ == "__main__":
    main()
