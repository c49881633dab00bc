# SPDX-License-Identifier: BSD-3-Clause
"""Families of precond/ never include one another, and the shared folders include one another in one order alone.

The compiler and CMake see only sources that precond/CMakeLists.txt lists. This test reads every source, header and
kernel text. room_families(precond ...) names the families, what they share, and the exceptions. A shared folder or
file may include only those that stand before it in that list. The picture of the rooms in docs/architecture.md names
all folders of precond/.
"""

import re
import sys

import repository

ROOM = "precond"
INCLUDE = re.compile(rf'^\s*#\s*include\s*"{ROOM}/([^"]+)"')
PARTS = ("SHARED", "FAMILIES", "SEES")
PICTURE = "docs/architecture.md"


def declared(text):
    """The lists that room_families(precond ...) names, by their keywords."""
    words = re.search(rf"^room_families\({ROOM}\s([^)]*)\)", text, re.MULTILINE).group(1).split()
    lists = {part: [] for part in PARTS}
    for word in words:
        if word in PARTS:
            current = lists[word]
        else:
            current.append(word)
    return lists


def objection(source, included, lists):
    """What is wrong with a file of this part of the room that includes one of that part; None if it is allowed."""
    shared, families = lists["SHARED"], lists["FAMILIES"]
    if source == included:
        return None
    if source in families:
        allowed = included in shared or f"{source}={included}" in lists["SEES"]
        return None if allowed else f"{source} must not see {included}"
    if source in shared:
        if included not in shared:
            return f"{source} is shared and must not see {included}, which is not"
        if shared.index(included) > shared.index(source):
            return f"{source} must not see {included}, which stands after it in the list SHARED"
    return None  # a source of the room itself, such as the registry, sees all


def faults_of(sources, lists):
    """[(file, line number, what is wrong)]; `sources` are (path in the room, text)."""
    known = lists["SHARED"] + lists["FAMILIES"]
    faults = []
    for name, text in sources:
        part, within, _ = name.partition("/")
        if within and part not in known:
            faults.append((name, 1, f"{part}/ is neither SHARED nor one of the FAMILIES of room_families({ROOM} ...)"))
        for number, line in enumerate(text.splitlines(), 1):
            if found := INCLUDE.match(line):
                if wrong := objection(part, found.group(1).partition("/")[0], lists):
                    faults.append((name, number, wrong))
    return faults


def faults_of_picture(text, lists):
    """What is wrong with the folders that the picture of the rooms names; a line of them is indented by two blanks."""
    lines = text.partition(f"\n{ROOM}/ ")[2].partition("\nsolvers/")[0].splitlines()
    drawn = {folder for line in lines if re.match(r"  \w+/", line) for folder in re.match(r"(?: +\w+/)+", line)[0].replace("/", " ").split()}
    folders = {part for part in lists["SHARED"] + lists["FAMILIES"] if "." not in part}
    return ([f"{PICTURE}: the picture of the rooms does not name {ROOM}/{folder}/" for folder in sorted(folders - drawn)] +
            [f"{PICTURE}: the picture of the rooms names {ROOM}/{folder}/, which room_families({ROOM} ...) does not"
             for folder in sorted(drawn - folders)])


def check_itself():
    """The rules, on files that do not exist."""
    picture = "\nprecond/  a room\n           text/ of it\n  factors/ walks/   shared\n  a/      one\n     within/ a\nsolvers/\n"
    assert len(faults_of_picture(picture, {"SHARED": ["walks", "row.hpp"], "FAMILIES": ["a", "b"]})) == 2
    lists = declared(f"room_families({ROOM}\n  SHARED factors row.hpp walks\n  FAMILIES a b\n  SEES a=b)")
    for source, included, allowed in (
            ("a/x.cuh", "a/y.cuh", True), ("a/x.cuh", "walks/y.cuh", True), ("a/x.cuh", "b/y.cuh", True),
            ("b/x.cuh", "a/y.cuh", False), ("b/x.hpp", "row.hpp", True), ("b/x.hpp", "registry.hpp", False),
            ("walks/x.hpp", "factors/y.hpp", True), ("factors/x.hpp", "walks/y.hpp", False),
            ("row.hpp", "factors/y.hpp", True), ("factors/x.cpp", "row.hpp", False), ("walks/x.hpp", "a/y.hpp", False),
            ("registry.cpp", "a/y.hpp", True), ("c/x.cu", "factors/y.hpp", False)):
        found = faults_of([(source, f'#pragma once\n  # include "{ROOM}/{included}"\n')], lists)
        assert (not found) == allowed, (source, included, found)


def main():
    check_itself()
    lists = declared((repository.ROOT / ROOM / "CMakeLists.txt").read_text(encoding="utf-8"))
    wrong_in_picture = faults_of_picture((repository.ROOT / PICTURE).read_text(encoding="utf-8"), lists)
    print(*wrong_in_picture, sep="\n")
    return max(repository.report(ROOM, faults_of(repository.sources_of(ROOM), lists)), bool(wrong_in_picture))


sys.exit(main())
