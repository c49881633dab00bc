# SPDX-License-Identifier: BSD-3-Clause
"""The files under version control, for tests of the habits that CONTRIBUTING.md asks for."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".cpp", ".hpp", ".cu", ".cuh")


def skip(reason):
    """Ends the process with the code of ctest's SKIP_RETURN_CODE."""
    print(f"skipped: {reason}")
    sys.exit(77)


def git(*arguments):
    """What git prints, or None if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def files():
    """Paths relative to ROOT of all files that are tracked, or new and not ignored."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard") if shutil.which("git") else None
    if not listed:
        skip("not a git checkout, so the project's files are not known")
    return sorted(name for name in set(listed.split("\0")) if name and (ROOT / name).is_file())


def sources_of(room):
    """[(path in the room, text)] of the code in a folder of ROOT."""
    return [(name.partition("/")[2], (ROOT / name).read_text(encoding="utf-8"))
            for name in files() if name.startswith(room + "/") and name.endswith(CODE)]


def report(room, faults):
    """Prints [(file in the room, line number, what is wrong)]; the process's exit code."""
    print(*(f"{room}/{name}:{number}: {wrong}" for name, number, wrong in faults), sep="\n")
    return 1 if faults else 0


def tool(name, version):
    """The command of an LLVM tool of this major version; other versions give other results."""
    for command in (f"{name}-{version}", name):
        if shutil.which(command):
            told = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
            if f"version {version}." in told:
                return command
    return skip(f"{name} {version} is missing (Debian: {name})")
