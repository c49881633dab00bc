# SPDX-License-Identifier: BSD-3-Clause
"""Results under docs/ come from commits: a file that names a sha marked dirty cannot be made again, and is refused.

KNOWN are files from before this test that wait for the next measurement; a name leaves the list with its file's
dirty sha, so that the list can only become shorter.
"""

import re
import sys

import repository

DIRTY = re.compile(r'sha"?\s*[:=]\s*"?[0-9a-f]{7,40}-dirty')
KNOWN = {f"docs/results/h200/{name}.json" for name in
         ("ablation", "kernels-table3", "levels", "preconditioners-half", "solves")}


def main():
    names = [name for name in repository.files()
             if name.startswith("docs/") and name.endswith((".json", ".txt", ".csv"))]
    dirty = {name for name in names
             if DIRTY.search((repository.ROOT / name).read_text(encoding="utf-8", errors="replace"))}
    told = [f"{name}: measured with uncommitted changes; measure again at a commit" for name in sorted(dirty - KNOWN)]
    told += [f"{name} has no dirty sha any more: take it off KNOWN in {__file__}" for name in sorted(KNOWN - dirty)]
    print(*told, sep="\n")
    return 1 if told else 0


sys.exit(main())
