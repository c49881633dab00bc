#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs decks on a GPU with no kernels kept from earlier, and again with those that were kept.

    docs/results/first_runs.py PROGRAM JSON DECK...

Each deck is run once with an empty cache of kernels and then three times with what that run has left there, each time
by a process of its own. JSON receives what each run spent: seconds of the compiler, of set-ups and of solves.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

KEPT = 3  # runs with the kernels of the first one


def run(program, deck, scratch):
    words = [program, "run", deck, "--backend", "cuda", "--json", "--quiet", "--fresh", "--set",
             "output.file=first_runs.h5"]
    done = subprocess.run(words, cwd=scratch, capture_output=True, text=True,
                          env={**os.environ, "HYPERPLANE_KERNEL_CACHE": os.path.join(scratch, "kernels")})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))} ended with code {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def main(arguments):
    if len(arguments) < 3 or arguments[0].startswith("-"):
        raise SystemExit(__doc__.strip())
    program, result = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1])
    found = {"kind": "first_runs", "decks": []}
    for deck in arguments[2:]:
        with tempfile.TemporaryDirectory() as scratch:
            runs = [run(program, pathlib.Path(deck).resolve(), scratch) for _ in range(1 + KEPT)]
        part = runs[0]["parts"][0]
        found |= {"git_sha": part["git_sha"], "date": found.get("date", part["started"]), "host": part["host"],
                  "device": runs[0]["device"].removeprefix("cuda, ")}
        found["decks"].append({"deck": deck, "iterations": runs[0]["iterations"], "runs": [
            {what: one["costs"][f"{what}_seconds"] for what in ("compile", "setup", "solve")} for one in runs]})
    result.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
