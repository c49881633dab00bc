# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy 14 finds nothing (.clang-tidy) in the files that changed, or in all of them (--all).

Changed are the files that differ from where this branch left its upstream (`@{upstream}`, else origin/HEAD), or from
the previous commit where nothing was committed since or there is no upstream; what is not committed yet counts, too.
HYPERPLANE_TIDY_BASE names another commit to compare with. Of more than LIMIT changed files the LIMIT with the most
changed lines are checked, and the others are left to --all.

The preset `tidy` writes the commands, one for each source: sources with loops for both backends are read as C++ for
the CPU. Sources that nvcc alone compiles (.cu, .cuh) are not read, nor the CUDA backend's where there is no toolkit. A
.cpp without a command that OPTIONAL does not name is a finding, too.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

import repository

LIMIT = 16
# GCC's built-in, which clang does not have; for reading the source any value of the right type does.
SHUFFLE = "--extra-arg=-D__builtin_shuffle(a,b,mask)=((void)(b), (void)(mask), (a))"
# Sources that the preset tidy has no command for, always or where a library is missing, and why.
OPTIONAL = {
    "apps/run/mpi_ranks.cpp": "needs MPI",
    "core/device/device_none.cpp": "stands for CUDA where there is none",
    "examples/advection/advection.cpp": "has a project of its own, which finds an installed Hyperplane",
    "examples/consumer/resistor_tree.cpp": "has a project of its own, which finds an installed Hyperplane",
    "examples/consumer/seven_point.cpp": "has a project of its own, which finds an installed Hyperplane",
    "python/library.cpp": "needs pybind11",
    "solvers/iteration_none.cpp": "stands for CUDA where there is none",
    "tests/peers/hypre_poisson.cpp": "needs hypre",
    "tests/peers/petsc_general.cpp": "needs PETSc",
    "tests/peers/petsc_poisson.cpp": "needs PETSc",
    "tests/peers/petsc_products.cpp": "needs PETSc",
}
OF_CUDA = "core/device/device_cuda.cpp"  # has a command where there is a CUDA toolkit


def run(*command):
    done = subprocess.run(command, cwd=repository.ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def base():
    """The commit to compare with, or None if git has no history."""
    if "HYPERPLANE_TIDY_BASE" in os.environ:
        return os.environ["HYPERPLANE_TIDY_BASE"]
    head = repository.git("rev-parse", "HEAD")
    for upstream in ("@{upstream}", "origin/HEAD"):
        left = repository.git("merge-base", "HEAD", upstream)
        if left and left != head:
            return left.strip()
    previous = repository.git("rev-parse", "--verify", "HEAD~1")
    return previous.strip() if previous else None


def changed():
    """{path: number of changed lines}, including new files that are not ignored."""
    since = base()
    if since is None:
        repository.skip("no commit to compare with")
    lines = {}
    for row in run("git", "diff", "--numstat", "--no-renames", since).splitlines():
        added, removed, name = row.split("\t")
        lines[name] = 0 if added == "-" else int(added) + int(removed)
    for name in run("git", "ls-files", "--others", "--exclude-standard").splitlines():
        lines[name] = len((repository.ROOT / name).read_bytes().splitlines())
    return lines


def sources():
    """The sources with a command in build/tidy."""
    run("cmake", "--preset", "tidy")
    run("cmake", "--build", "--preset", "tidy")
    commands = json.loads((repository.ROOT / "build" / "tidy" / "compile_commands.json").read_text())
    found = {os.path.relpath(entry["file"], repository.ROOT) for entry in commands
             if " -x cu " not in entry["command"]}
    return {name for name in found if not name.startswith("build/")}


def without_commands(known):
    """What is wrong with the sources that have no command, and with OPTIONAL."""
    listed = repository.files()
    wrong = [f"tests/habits/tidy_test.py: OPTIONAL names {name}, which does not exist"
             for name in OPTIONAL if name not in listed]
    if OF_CUDA not in known:
        print("whether every source has a command is not checked: there is no CUDA toolkit")
        return wrong
    return wrong + [f"{name}: has no command in build/tidy, so clang-tidy does not read it; name it in a CMakeLists.txt "
                    "by itself, or in OPTIONAL with the reason"
                    for name in listed if name.endswith(".cpp") and name not in known and name not in OPTIONAL]


def check(command, name):
    """The findings of clang-tidy in a file; empty if there are none."""
    # The command of a header is guessed from a source with a similar name, which may not see the tests' headers.
    paths = [f"--extra-arg=-I{repository.ROOT}/tests"] if name.startswith("tests/") and name.endswith(".hpp") else []
    done = subprocess.run([command, "-p", "build/tidy", "--quiet", "--warnings-as-errors=*",
                           "--extra-arg=-Wno-unknown-warning-option", SHUFFLE, *paths, name],
                          cwd=repository.ROOT, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + re.sub(r"^\d+ warnings?.*\n", "", done.stderr, flags=re.M)


def main():
    command = repository.tool("clang-tidy", 14)
    known = sources()
    wrong = without_commands(known)
    if "--all" in sys.argv[1:]:
        names = sorted(known)
    else:
        lines = changed()
        names = [name for name in repository.files() if name in lines and name.endswith(repository.CODE)]
        unread = [name for name in names if name not in known and not name.endswith(".hpp")]
        names = sorted((name for name in names if name not in unread), key=lambda name: -lines[name])
        for what, left_out in ("no command", unread), (f"beyond the {LIMIT} that changed most", names[LIMIT:]):
            if left_out:
                print(f"{len(left_out)} changed files are not checked here ({what})")
        names = names[:LIMIT]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [text for text in pool.map(lambda name: check(command, name), names) if text]
    print(f"{len(names)} files checked, {len(found)} with findings", *wrong, *found, sep="\n")
    return 1 if wrong or found else 0


sys.exit(main())
