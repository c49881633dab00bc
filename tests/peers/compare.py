#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hyperplane beside PETSc on the same 96^3 Poisson system, in turns, in the same minutes.

    tests/peers/compare.py [BUILD_FOLDER] [ROUNDS]      default: build/release 5

Prints a Markdown table of medians over the rounds with their spread, and the ratios that count.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
DECK = ROOT / "inputs/peers/poisson_96_ones.ini"


def petsc(processes):
    launcher = [] if processes == 1 else ["mpirun", "--allow-run-as-root", "-n", str(processes)]
    done = subprocess.run([*launcher, BUILD / "tests/peers/petsc_poisson", "-system", "ones", "-json"],
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def bench(*words):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([BUILD / "apps/hyperplane", "bench", *words, "--json", file.name], capture_output=True, check=True)
        return json.load(file)


def one_round():
    """PETSc's figure and ours by name. Kernels: medians of repeats. Totals: the best repeat of each, set-up included."""
    one, two = petsc(1), petsc(2)
    kernels = bench("kernels", "--cases", "star7:1:96:sym", "--threads", "1")["cases"][0]["kernels"]
    solves = {threads: bench("solve", str(DECK), "--threads", str(threads))["solves"][0] for threads in (1, 2)}

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
    rounds = []
    for _ in range(ROUNDS):
        figures, iterations = one_round()
        rounds.append(figures)
        print(f"round {len(rounds)} of {ROUNDS}", file=sys.stderr)
    print("| | PETSc | Hyperplane | ratio, median (least to most) |\n|---|---|---|---|")
    for name in rounds[0]:
        peer, own = ([figures[name][side] for figures in rounds] for side in (0, 1))
        ratios = sorted(a / b for a, b in zip(peer, own))
        print(f"| {name} | {statistics.median(peer):.3g} | {statistics.median(own):.3g} | "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")
    print(f"\nIterations: PETSc {iterations[0]} on one process, {iterations[1]} on two; Hyperplane {iterations[2]}.")


if __name__ == "__main__":
    main()
