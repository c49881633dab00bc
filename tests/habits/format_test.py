# SPDX-License-Identifier: BSD-3-Clause
"""Every C++ and CUDA source is as clang-format 14 would write it."""

import concurrent.futures
import re
import subprocess
import sys

import repository


def unformatted(command, names):
    """The files of `names` that clang-format would change."""
    done = subprocess.run([command, "--dry-run", "--ferror-limit=1", *names], cwd=repository.ROOT, capture_output=True,
                          text=True, check=True)
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: (?:warning|error): code should be clang-formatted", done.stderr,
                                 re.MULTILINE)))


def main():
    command = repository.tool("clang-format", 14)
    names = [name for name in repository.files() if name.endswith(repository.CODE)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [name for part in pool.map(lambda at: unformatted(command, names[at : at + 40]),
                                           range(0, len(names), 40)) for name in part]
    if not found:
        return 0
    print(f"{len(found)} of {len(names)} sources are not formatted. This formats them:\n"
          f"    {command} -i {' '.join(found)}")
    return 1


sys.exit(main())
