# SPDX-License-Identifier: BSD-3-Clause
"""Results under docs/ come from commits: a file that names a sha marked dirty cannot be made again, and is refused."""

import re
import sys

import repository

DIRTY = re.compile(r'sha"?\s*[:=]\s*"?[0-9a-f]{7,40}-dirty')


def main():
    names = [name for name in repository.files()
             if name.startswith("docs/") and name.endswith((".json", ".txt", ".csv"))]
    told = [f"{name}: measured with uncommitted changes; measure again at a commit" for name in sorted(names)
            if DIRTY.search((repository.ROOT / name).read_text(encoding="utf-8", errors="replace"))]
    print(*told, sep="\n")
    return 1 if told else 0


sys.exit(main())
