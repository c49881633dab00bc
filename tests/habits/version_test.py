# SPDX-License-Identifier: BSD-3-Clause
"""The program, CMake, CHANGELOG.md and CITATION.cff name one version; the changelog's versions fall and have dates."""

import datetime
import os
import re
import subprocess
import sys

import repository

SECTIONS = {"Added", "Changed", "Fixed", "Removed", "Deprecated", "Security"}


def read(name):
    return (repository.ROOT / name).read_text(encoding="utf-8")


def changelog():
    """([(version, date)], faults), newest first."""
    text, faults = read("CHANGELOG.md"), []
    entries = re.findall(r"^## (?:\[)?(\d+\.\d+\.\d+)(?:\])? - (\S+)$", text, re.M)
    if len(entries) != len(re.findall(r"^## ", text, re.M)):
        faults.append("CHANGELOG.md: a heading is not '## VERSION - DATE'")
    numbers = [tuple(map(int, version.split("."))) for version, _ in entries]
    if numbers != sorted(set(numbers), reverse=True):
        faults.append("CHANGELOG.md: versions do not fall from the top")
    for at, (version, date) in enumerate(entries):
        if date == "unreleased" and at == 0:
            continue
        try:
            datetime.date.fromisoformat(date)
        except ValueError:
            faults.append(f"CHANGELOG.md: {version} has no date but {date}")
    faults += [f"CHANGELOG.md: section {name} is none of {', '.join(sorted(SECTIONS))}"
               for name in re.findall(r"^### (.*)$", text, re.M) if name not in SECTIONS]
    return entries, faults


def main():
    entries, faults = changelog()
    versions = {
        "CMakeLists.txt": re.search(r"project\(hyperplane VERSION (\S+)", read("CMakeLists.txt"))[1],
        "CHANGELOG.md": entries[0][0] if entries else "none",
        "CITATION.cff": re.search(r"^version: (\S+)$", read("CITATION.cff"), re.M)[1],
        "python/pyproject.toml": re.search(r'^version = "(\S+)"$', read("python/pyproject.toml"), re.M)[1],
        "python/hyperplane/__init__.py": re.search(r'^__version__ = "(\S+)"$', read("python/hyperplane/__init__.py"),
                                                   re.M)[1],
        "hyperplane --version": subprocess.run([os.environ["HYPERPLANE"], "--version"], capture_output=True, text=True,
                                               check=True).stdout.split()[1],
    }
    if len(set(versions.values())) != 1:
        faults.append("versions differ: " + ", ".join(f"{where} {what}" for where, what in versions.items()))
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
