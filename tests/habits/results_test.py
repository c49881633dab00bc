# SPDX-License-Identifier: BSD-3-Clause
"""Results under docs/ come from commits: a file that names a sha marked dirty cannot be made again, and is refused. A file
whose times include the compilation of kernels is refused, too, except those of COMPILED."""

import re
import sys

import repository

COMPILING = re.compile(r"kernels? (?:was|were) compiled after the clocks had started")
COMPILED = {"docs/results/h200/ranks_large.txt": 1}  # the run of 1440^3 points: docs/results/ranks.md says how much of its time that is
DIRTY = re.compile(r'sha"?\s*[:=]\s*"?[0-9a-f]{7,40}-dirty')


def faults(name, text):
    if DIRTY.search(text):
        yield f"{name}: measured with uncommitted changes; measure again at a commit"
    if len(COMPILING.findall(text)) != COMPILED.get(name, 0):
        yield f"{name}: its times include the compilation of kernels; measure again when the kernels are kept"


def main():
    names = [name for name in repository.files()
             if name.startswith("docs/") and name.endswith((".json", ".txt", ".csv"))]
    told = [fault for name in sorted(names)
            for fault in faults(name, (repository.ROOT / name).read_text(encoding="utf-8", errors="replace"))]
    print(*told, sep="\n")
    return 1 if told else 0


sys.exit(main())
