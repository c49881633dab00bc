# SPDX-License-Identifier: BSD-3-Clause
"""The folders of apps/ include one another in one order alone, that of apps_folders in apps/CMakeLists.txt.

A file may include what is in its own folder and in those that stand before it. Verbs (verb_NAME.cpp) may include all: no
file can include them. apps/library/ is a room of its own.
"""

import re
import sys

import repository

ROOM, APART = "apps", "library"
INCLUDE = re.compile(rf'^\s*#\s*include\s*"{ROOM}/([^"]+)"')
GENERATED = ("git_sha.hpp",)


def declared(text):
    """The folders in their order."""
    return re.search(r"^set\(apps_folders\s([^)]*)\)", text, re.MULTILINE).group(1).split()


def objection(name, included, folders):
    """What is wrong with the file of this name in apps/ that includes that one; None if it is allowed."""
    folder, _, file = name.rpartition("/")
    other = included.rpartition("/")[0]
    if folder == other or included in GENERATED or re.fullmatch(r"verb_\w+\.cpp", file):
        return None
    if other not in folders:
        return f"{other or included} is not named among apps_folders"
    if folders.index(other) > folders.index(folder):
        return f"{folder} must not see {other}, which stands after it in apps_folders"
    return None


def faults_of(sources, folders):
    """[(file, line number, what is wrong)]; `sources` are (path in apps/, text)."""
    faults = []
    for name, text in sources:
        folder = name.rpartition("/")[0]
        if folder == APART:
            continue
        if folder not in folders:
            faults.append((name, 1, "lies in none of the folders that apps_folders names in apps/CMakeLists.txt"))
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := INCLUDE.match(line):
                if wrong := objection(name, found.group(1), folders):
                    faults.append((name, number, wrong))
    return faults


def check_itself():
    """The rules, on files that do not exist."""
    folders = declared("set(apps_folders\n  base run\n  study)")
    assert folders == ["base", "run", "study"], folders
    for source, included, allowed in (
            ("run/x.cpp", "run/y.hpp", True), ("run/x.cpp", "base/y.hpp", True), ("run/x.hpp", "study/y.hpp", False),
            ("run/verb_run.cpp", "study/y.hpp", True), ("run/verb_run.hpp", "study/y.hpp", False),
            ("base/x.cpp", "git_sha.hpp", True), ("base/x.cpp", "y.hpp", False), ("study/x.cpp", "new/y.hpp", False),
            ("new/x.cpp", "base/y.hpp", False), ("x.cpp", "base/y.hpp", False), ("library/x.cpp", "library/y.hpp", True)):
        found = faults_of([(source, f'#pragma once\n  # include "{ROOM}/{included}"\n')], folders)
        assert (not found) == allowed, (source, included, found)


def main():
    check_itself()
    folders = declared((repository.ROOT / ROOM / "CMakeLists.txt").read_text(encoding="utf-8"))
    return repository.report(ROOM, faults_of(repository.sources_of(ROOM), folders))


sys.exit(main())
