#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products of general matrices on a CPU beside SciPy's and PETSc's, in turns, on one thread and on two.

    nice -n -5 tests/peers/compare_products.py BUILD -o FILE.json [--systems NAME-SIZE ...] [--turns 7] [--products 5]
    tests/peers/compare_products.py --markdown FILE.json

Every peer holds the same matrix, which large_families makes, and multiplies the same vector. The peers take turns, each of
some products; the shortest product of all turns counts. Their results must agree. FILE.json grows system by system, and
the same command goes on where it was stopped. BUILD is the build folder. SciPy has one thread: it is left out of those on
two. PETSc has processes in place of threads; its products are built where petsc-dev is (--petsc names another program).
A peer that is missing is named with the reason.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

SYSTEMS = ("star7-64", "star7-random-64", "star7-128", "star7-random-128", "box27-64", "box27-random-64", "box27-96",
           "box27-random-96", "circuit-1000000", "reservoir-64", "tetrahedra-100", "blocks3-48", "blocks5-36", "blocks7-28",
           "blocks9-24", "blocks10-24", "power-law-500000")
BLOCKS = {"reservoir": 3} | {f"blocks{unknowns}": unknowns for unknowns in range(2, 33)}


class Missing(Exception):
    """A peer that cannot run here; the message says why."""


class Program:
    """A peer that is a program: products or petsc_products."""

    def __init__(self, words, log):
        if not pathlib.Path(words[-4]).exists():
            raise Missing(f"{pathlib.Path(words[-4]).name} is not built")
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, text=True)
        line = self.process.stdout.readline().split()
        if len(line) != 3:
            raise Missing(f"{shlex.join(map(str, words))} ended with {self.process.wait()}")
        self.rows, self.entries, self.norm = int(line[0]), int(line[1]), float(line[2])

    def least(self, products):
        self.process.stdin.write(f"{products}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class SciPy:
    """Compressed rows of SciPy, or its blocks."""

    def __init__(self, file, block):
        try:
            import numpy
            from scipy import sparse
        except ImportError as error:
            raise Missing(f"python3-scipy is not there: {error}") from error
        with open(file, "rb") as stream:
            _, rows, _, entries = numpy.fromfile(stream, ">i4", 4)
            lengths = numpy.fromfile(stream, ">i4", rows)
            columns = numpy.fromfile(stream, ">i4", entries).astype("i4")
            values = numpy.fromfile(stream, ">f8", entries).astype("f8")
        begin = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype("i4")
        a = sparse.csr_matrix((values, columns, begin), (rows, rows))
        self.a = a.tobsr((block, block)) if block > 1 else a
        self.x = 1.0 + (numpy.arange(rows) % 7) / 8.0
        self.rows, self.norm = int(rows), float(numpy.linalg.norm(self.a @ self.x))

    def least(self, products):
        times = []
        for _ in range(products):
            begin = time.perf_counter()
            self.a @ self.x
            times.append(time.perf_counter() - begin)
        return min(times)

    def end(self):
        self.a = self.x = None


def peers(options, file, block, threads, log):
    """Name and maker of each peer; ours is the first."""
    build = pathlib.Path(options.build) / "tests/peers"
    yield "hyperplane", lambda: Program([build / "products", file, block, threads], log)
    if threads == 1:
        yield "SciPy CSR", lambda: SciPy(file, 1)
        if block > 1:
            yield "SciPy BSR", lambda: SciPy(file, block)
    launcher = [] if threads == 1 else shlex.split(options.mpirun) + ["-n", threads]
    program = pathlib.Path(options.petsc or build / "petsc_products")
    for kind in ("aij", "baij") if block > 1 else ("aij",):
        yield f"PETSc {kind.upper()}", lambda kind=kind: Program([*launcher, program, file, kind, block], log)


def measure(options, system, threads, file, log):
    """Milliseconds of each peer, or the reason why it is missing."""
    name = system.rpartition("-")[0]
    block = BLOCKS.get(name, 1)
    row, running = {"system": system, "block": block, "threads": threads, "ms": {}, "missing": {}}, {}
    try:
        for peer, make in peers(options, file, block, threads, log):
            try:
                running[peer] = make()
            except Missing as reason:
                row["missing"][peer] = str(reason)
        ours = running.get("hyperplane")
        if ours is None:
            sys.exit(f"compare_products: {row['missing']['hyperplane']}")
        row |= {"rows": ours.rows, "entries": ours.entries}
        for peer, one in running.items():
            if abs(one.norm - ours.norm) > 1e-12 * ours.norm:
                sys.exit(f"compare_products: {system}: ||A x|| is {one.norm} with {peer}, {ours.norm} here")
        for turn in range(options.turns):
            order = list(running.items())
            for peer, one in order[turn % len(order):] + order[:turn % len(order)]:
                least = 1e3 * one.least(options.products)
                row["ms"][peer] = min(least, row["ms"].get(peer, least))
    finally:
        for one in running.values():
            one.end()
    return row


def sha(build):
    done = subprocess.run([pathlib.Path(build) / "apps/hyperplane", "--version"], capture_output=True, text=True)
    return done.stdout.strip()


def best(row, family):
    """The fastest of a peer's forms, with its name; None if there is none."""
    found = [(ms, name) for name, ms in row["ms"].items() if name.startswith(family)]
    return min(found) if found else None


def markdown(data):
    lines = ["| system | entries a row | threads | here, ms | SciPy, ms | ratio | PETSc, ms | ratio |", "|---|---|---|---|---|---|---|---|"]
    for row in data["rows"]:
        ours, cells = row["ms"]["hyperplane"], []
        for family in ("SciPy", "PETSc"):
            found = best(row, family)
            cells += ["", ""] if found is None else [f"{found[0]:.2f}" + f" ({found[1].split()[1]})" * (row["block"] > 1),
                                                     f"{found[0] / ours:.2f}"]
        lines.append(f"| {row['system']} | {row['entries'] / row['rows']:.1f} | {row['threads']} | {ours:.2f} | "
                     + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build folder, or with --markdown the file of results")
    parser.add_argument("-o", "--output")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--products", type=int, default=5)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--petsc", help="the program petsc_products, if BUILD has none")
    parser.add_argument("--mpirun", default="mpirun --allow-run-as-root --oversubscribe")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.markdown:
        print(markdown(json.loads(pathlib.Path(options.build).read_text(encoding="utf-8"))))
        return
    if options.output is None:
        parser.error("-o names the file of results")
    output = pathlib.Path(options.output)
    data = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {"code_version": sha(options.build), "rows": []}
    if data["code_version"] != sha(options.build):
        sys.exit(f"compare_products: {output} is of {data['code_version']}; -o must name another file")
    done = {(row["system"], row["threads"]) for row in data["rows"]}
    with tempfile.TemporaryDirectory() as folder, open(pathlib.Path(folder) / "log", "w+", encoding="utf-8") as log:
        for system in options.systems:
            left = [threads for threads in options.threads if (system, threads) not in done]
            if not left:
                continue
            name, _, size = system.rpartition("-")
            file = pathlib.Path(folder) / "matrix"
            subprocess.run([pathlib.Path(options.build) / "tests/peers/large_families", name, size, file], check=True,
                           stdout=subprocess.DEVNULL)
            for threads in left:
                row = measure(options, system, threads, file, log)
                data["rows"].append(row)
                part = output.with_name(output.name + ".part")
                part.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
                os.replace(part, output)
                for peer, reason in row["missing"].items():
                    print(f"{system}: {peer} is left out: {reason}")
                print(markdown({"rows": [row]}).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
