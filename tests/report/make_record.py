# SPDX-License-Identifier: BSD-3-Clause
"""Small records as docs/record.md describes them, written without the program."""

import struct
import zlib

import h5py
import numpy as np

RESOLVED = """[problem]
name = poisson  ; {file}:2
[grid]
cells = {cells}  ; default
[solver]
name = {solver}  ; {file}:4
rtol = 1e-08  ; default
[preconditioner]
name = {preconditioner}  ; --set
[output]
file = "a # name.h5"  ; default
"""


def seal(path, kind="record"):
    """Puts the 512 bytes before a file that docs/record.md describes."""
    image = path.read_bytes()
    head = struct.pack("<24sqqI", f"hyperplane {kind} 1".encode(), 0, len(image), zlib.crc32(image))
    path.write_bytes((head + struct.pack("<I", zlib.crc32(head))).ljust(512, b"\0") + image)
    return path


def make_record(path, **options):
    """Writes a record of len(iterations) solves whose residuals fall by `rate` an iteration."""
    with h5py.File(path, "w") as file:
        fill_record(file, **options)


def fill_record(file, solver="cg", preconditioner="struct_ilu", iterations=(53,), rate=0.7, status="ok", exit_code=0,
            message="converged", schema=1, cells=64, limit=None, gpu=False, march=None, device=None,
            profile=(), prepared=None, problem_keys=""):
    file.attrs.update(schema_version=schema, code_version="0.1.0", git_sha="0123456789ab", status=status,
                      exit_code=exit_code, message=message)
    file["deck/source"] = "[problem]\nname = poisson\n"
    file["deck/resolved"] = RESOLVED.format(file="poisson.ini", solver=solver, preconditioner=preconditioner,
                                            cells=cells).replace("[problem]\n", "[problem]\n" + problem_keys)
    file.create_group("environment").attrs.update(backend="cpu", host="node<1>", threads="2")
    file.create_group("grid").attrs.update(extents=[cells] * 3, dof=1, stencil="star7", layout="natural")
    write_solves(file, iterations, rate, exit_code, cells**3)
    if device:
        file["environment"].attrs["device"] = device
    if march is not None:
        write_march(file, len(iterations), **march)
    file["verification/name"] = ["max"]
    file["verification/value"] = np.array([1.5e-5])
    timers = file.create_group("perf/timers")
    solve = 2e-3 * sum(iterations)
    rows = [("assemble", 0.011, 1, 0), ("setup", 0.004, 1, 0), ("solve", solve, 1, 0), ("output", 0.002, 1, 0)]
    if not gpu:  # on a GPU the parts of iterations are not timed
        rows[2:2] = [("solve/spmv", 0.4 * solve, sum(iterations), 18_000_000 * sum(iterations)),
                     ("solve/preconditioner", 0.45 * solve, sum(iterations), 21_000_000 * sum(iterations))]
    if prepared is not None:  # a general matrix from a file
        rows += [("preparation/reading", 0.25, 1, 0), ("preparation/ordering", 0.125, 1, 0), ("setup/symbolic", 0.003, 1, 0),
                 ("setup/numeric", 0.0011, 1, 0)]
        file["perf"].attrs["long_preparation"] = prepared
    for name, column in zip(("name", "seconds", "calls", "bytes"), zip(*rows)):
        timers[name] = list(column)
    for name, column in zip(("name", "seconds", "calls", "bytes"), zip(*profile)):
        file[f"perf/profile/{name}"] = list(column)
    memory = file.create_group("perf/memory")
    memory["label"] = ["matrix", "factors", "krylov vectors"]
    memory["peak"] = np.array([14_680_064, 2_097_152, 12_582_912])
    memory["peak_total"] = 29_360_128
    memory["predicted_total"] = 29_000_000
    if limit is not None:
        file["perf/limits/memory"] = limit


def write_march(file, steps, newton=False, cfl=False, courant=None, conserved=False):
    """Steps of length 0.1, one solve each; or the same number of Newton steps of one step. `cfl`: towards a steady
    state. `courant`: the number of each step in time, where a velocity is known. `conserved`: the mass changes by rounding alone."""
    count = 1 if newton else steps
    nan = np.full(count, np.nan)
    number = np.arange(1, count + 1)
    table = {"step": number, "time": 0.1 * number, "dt": np.full(count, 0.1), "attempt": np.ones(count, dtype=int),
             "accepted": np.ones(count, dtype=int), "cfl": 5.0 * 2.0**number if cfl else nan if courant is None else np.full(count, courant), "error_estimate": nan,
             "steady_residual": 10.0**-number if cfl else nan,
             "newton_steps": np.full(count, steps if newton else 1), "newton_reason": ["converged_rtol"] * count,
             "first_residual": np.ones(count), "residual": 1e-3 / number}
    for name, values in table.items():
        file[f"steps/{name}"] = values
    file["solves/step"] = np.ones(steps, dtype=int) if newton else number
    file["solves/newton"] = np.arange(steps) if newton else np.zeros(steps, dtype=int)
    rows = {"step": file["solves/step"][...], "attempt": np.ones(steps, dtype=int),
            "newton": file["solves/newton"][...], "refreshed": np.ones(steps, dtype=int), "forcing": np.full(steps, 0.1),
            "residual_before": 0.1 ** np.arange(steps), "residual_after": 0.1 ** np.arange(1, steps + 1),
            "step_length": np.ones(steps), "halvings": np.zeros(steps, dtype=int)}
    for name, values in rows.items():
        file[f"newton/{name}"] = values
    file["diagnostics/name"] = ["energy", "mass"]
    file["diagnostics/step"] = np.arange(count + 1)
    file["diagnostics/time"] = 0.1 * np.arange(count + 1)
    file["diagnostics/energy"] = 2.0 ** -np.arange(count + 1.0)
    file["diagnostics/mass"] = 3.0 + (1e-12 if conserved else 0.1) * np.arange(count + 1)


# Lines as `compare --auto` prints them.
RECOMMENDATION = "recommended   solver cg, preconditioner jacobi\nbecause       2 ms is the least\nits memory    1.0 MiB\n"


def make_comparison(path, candidates, failed=(), pays_off=None, prepared=None):
    """Writes a comparison of {name: iterations}, the first the best; `failed` did not converge. `pays_off` are the numbers
    of solves from which on candidates pay off, 0: never; without it the file is one of an earlier program."""
    names = [*candidates, *failed]
    with h5py.File(path, "w") as file:
        file.attrs.update(contents="comparison", schema_version=1, code_version="0.1.0", git_sha="0123456789ab",
                          deck="poisson.ini", exit_code=0, baseline=names[0], best=names[0], recommendation=RECOMMENDATION)
        file.create_group("system").attrs.update(criterion="||b - A x|| <= 1e-8 ||b||", fingerprint="4e4fdc52c62e2dd9")
        count = np.arange(1.0, len(names) + 1.0)
        good = np.array([name in candidates for name in names])
        table = {"name": names, "solver": [name.split("+")[0] for name in names],
                 "preconditioner": [name.split("+")[1] for name in names],
                 "outcome": np.where(good, "converged_rtol", "diverged").astype("S"),
                 "reason": ["" if name in candidates else "it grew and grew" for name in names],
                 "exit_code": np.where(good, 0, 4), "iterations": [candidates.get(name, 7) for name in names],
                 "turns": np.where(good, 3, 0), "ratio": np.where(good, count, 0.0)}
        table |= {name: 1e-3 * count for name in ("setup_seconds", "solve_seconds", "per_iteration")}
        table |= {"total_seconds": 2e-3 * count, "total_least": 1.9e-3 * count, "total_most": 2.1e-3 * count}
        table |= {"relative_residual": 1e-9 * count, "preconditioner_share": np.full(len(names), 0.5),
                  "peak": np.full(len(names), 2**20)}
        if pays_off is not None:
            table["pays_off_from_solves"] = np.array(pays_off)
        for name, values in table.items():
            file[f"table/{name}"] = values
        file["left_out/name"], file["left_out/reason"] = ["cg+wobbly"], ["it is not symmetric"]
        for name in names:
            solver, preconditioner = name.split("+")
            fill_record(file.create_group(f"candidates/{name}"), solver=solver, preconditioner=preconditioner,
                        iterations=(candidates.get(name, 7),), prepared=prepared)


def make_study(path, cases, waiting=(), pays_off=None):
    """Writes a collected study of {(preconditioner, cells): iterations}; `waiting` have no record. `pays_off` are the
    numbers of solves from which on cases pay off, -1: never; without it the file is one of an earlier program."""
    keys = [*cases, *waiting]
    names = [f"preconditioner={name},cells={n}" for name, n in keys]
    with h5py.File(path, "w") as file:
        file.attrs.update(study_schema_version=1, study="sizes", code_version="0.1.0")
        file["source"] = "[sweep]\n"
        table = {"case": np.arange(len(keys)), "name": names, "hash": names,
                 "status": ["done" if key in cases else "waiting" for key in keys],
                 "preconditioner.name": [name for name, _ in keys], "grid.cells": [str(n) for _, n in keys]}
        if pays_off is not None:
            table["pays_off_from_solves"] = np.array(pays_off)
        for name, values in table.items():
            file[f"cases/{name}"] = values
        file.create_group("records")
        for name, key in zip(names, keys):
            if key in cases:
                fill_record(file.create_group(f"records/{name}"), preconditioner=key[0], cells=key[1],
                            iterations=(cases[key],))


def write_solves(file, iterations, rate, exit_code, unknowns):
    count = len(iterations)
    bend = 0.25 * np.sin(np.arange(max(iterations, default=0) + 1) / 3.0)
    curves = [np.exp(np.log(rate) * np.arange(n + 1) + bend[: n + 1]) for n in iterations]
    solves = file.create_group("solves")
    solves["iterations"] = np.array(iterations)
    solves["unknowns"] = np.full(count, unknowns)
    solves["stored_entries"] = np.full(count, 1835008)
    reason = "max_iterations" if exit_code else "converged_rtol"
    solves.create_dataset("stop_reason", data=[reason] * count, shape=(count,), dtype=h5py.string_dtype())
    solves["b_norm"] = np.full(count, 2.0)
    solves["res_recurrence"] = np.array([2.0 * curve[-1] for curve in curves])
    solves["res_true"] = np.array([2.002 * curve[-1] for curve in curves])
    solves["setup_seconds"] = np.full(count, 0.004)
    solves["solve_seconds"] = 2e-3 * np.array(iterations)
    solves["pivots_modified"] = np.zeros(count, dtype=int)
    history = file.create_group("history")
    lengths = [len(curve) for curve in curves]
    history["offset"] = np.cumsum([0, *lengths])
    history["iteration"] = np.concatenate([np.empty(0, dtype=int), *(np.arange(n) for n in lengths)])
    history["rel_res_recurrence"] = np.concatenate([np.empty(0), *curves])
    truth = [np.where(np.arange(len(c)) % 10 == 0, c, np.nan) for c in curves]
    for part, whole in zip(truth, curves):
        part[-1] = 1.001 * whole[-1]
    history["rel_res_true"] = np.concatenate([np.empty(0), *truth])
    history["seconds"] = np.concatenate([np.empty(0), *(2e-3 * np.arange(n) for n in lengths)])
