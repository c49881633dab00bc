# SPDX-License-Identifier: BSD-3-Clause
"""A document of docs/: its fenced blocks and tables, and the program under test in a scratch folder."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HYPERPLANE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(text):
    """[(language, options, content)] of the fenced blocks; a fence may say ```bash exit=2."""
    found = []
    for fence in re.finditer(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", text, re.M):
        options = dict(word.split("=", 1) for word in fence.group(2).split())
        found.append((fence.group(1), options, fence.group(3)))
    return found


def rows(text, heading):
    """The rows of the table whose heading begins like this, with cells stripped of blanks and backquotes."""
    lines = text[text.index(f"\n| {heading}") + 1 :].split("\n")
    table = []
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


class DocumentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "inputs").symlink_to(ROOT / "inputs")
        (cls.folder / "python").symlink_to(ROOT / "python")
        (cls.folder / "build" / "release").mkdir(parents=True)
        (cls.folder / "build" / "release" / "apps").symlink_to(pathlib.Path(PROGRAM).parent)

    def shell(self, command):
        """The finished command, in the scratch folder, with the program in the PATH."""
        path = f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-ec", command], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
