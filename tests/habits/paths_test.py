# SPDX-License-Identifier: BSD-3-Clause
"""Files that comments and documents name exist, and so do the targets of links between documents.

Capitals stand for what a reader fills in, as in solvers/NAME.hpp. CHANGELOG.md and docs/log/ may name sources that are
gone: they tell of the past.
"""

import pathlib
import re
import sys

import repository

READ = repository.CODE + (".py", ".sh", ".cmake", ".md", ".ini", "CMakeLists.txt")
PATH = re.compile(r"(?<![\w./$-])(?:apps|core|examples|io|packaging|precond|problems|solvers|tests|docs|inputs|cmake|python)"
                  r"(?:/[\w.-]+)+\.(?:hpp|cpp|cuh|cu|py|md|ini|cmake|sh|json|txt|png|mtx)\b")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
TO_FILL_IN = re.compile(r"(?<![A-Za-z])[A-Z]+(?![A-Za-z])")
OF_THE_PAST = ("CHANGELOG.md", "docs/log/")


def named(name, text):
    """[(line number, path from the root)] of what a file names."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (line.lstrip().startswith("#include") or name.startswith(OF_THE_PAST)):
            found += [(number, path) for path in PATH.findall(line)]
        if name.endswith(".md"):
            for target in LINK.findall(line):
                path = (repository.ROOT / pathlib.Path(name).parent / target).resolve()
                found.append((number, str(path.relative_to(repository.ROOT))))
    return found


def main():
    missing = []
    for name in repository.files():
        if not name.endswith(READ):
            continue
        text = (repository.ROOT / name).read_text(encoding="utf-8")
        missing += [f"{name}:{number}: no {path}" for number, path in named(name, text)
                    if not TO_FILL_IN.search(pathlib.Path(path).name)
                    and not any((root / path).exists() for root in (repository.ROOT, repository.ROOT / "tests"))]
    print(*missing, sep="\n")
    return 1 if missing else 0


sys.exit(main())
