#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products of general matrices on one thread of a CPU beside SciPy's, in turns.

    docs/results/products_beside_scipy.py build/release/apps/hyperplane

star7 and box27 are Poisson's equation with matrix.format = general, and SciPy's are compressed rows with the same pattern. The program tells what all products of a solve took; of SciPy single products are
timed. The least of five turns counts, in milliseconds.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.sparse as sparse

DECK = """[problem]
name = poisson
stencil = {stencil}
right_hand_side = ones
[grid]
cells = {n}
[matrix]
format = general
[solver]
name = cg
max_iterations = 30
[preconditioner]
name = jacobi
"""
SYSTEMS = (("star7", 64), ("box27", 48))


def pattern(stencil, n):
    """Compressed rows of n^3 points."""
    near = sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], (n, n))
    if stencil == "box27":
        return sparse.kron(near, sparse.kron(near, near)).tocsr()
    one, own = sparse.diags([1.0, 1.0], [-1, 1], (n, n)), sparse.identity(n)
    sides = [sparse.kron(a, sparse.kron(b, c)) for a, b, c in ((one, own, own), (own, one, own), (own, own, one))]
    return (sum(sides) + 6.0 * sparse.identity(n**3)).tocsr()


def ours(program, stencil, n):
    with tempfile.TemporaryDirectory() as folder:
        deck = pathlib.Path(folder) / "product.ini"
        deck.write_text(DECK.format(stencil=stencil, n=n), encoding="utf-8")
        words = [program, "bench", "solve", deck, "--backend", "cpu", "--threads", "1", "--repeats", "1", "--json", "-"]
        solve = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)["solves"][0]
    return solve["spmv"] / solve["iterations"]


def theirs(a, x):
    begin = time.perf_counter()
    for _ in range(10):
        a @ x
    return (time.perf_counter() - begin) / 10


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("| system | entries a row | product, ms | SciPy's | ratio |\n|---|---|---|---|---|")
    for stencil, n in SYSTEMS:
        a = pattern(stencil, n)
        x = numpy.ones(a.shape[0])
        turns = [(ours(sys.argv[1], stencil, n), theirs(a, x)) for _ in range(5)]
        own, other = (1e3 * min(times) for times in zip(*turns))
        print(f"| {stencil} {n}^3 | {a.nnz / a.shape[0]:.1f} | {own:.2f} | {other:.2f} | {other / own:.2f} |")


if __name__ == "__main__":
    main()
