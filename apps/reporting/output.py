# SPDX-License-Identifier: BSD-3-Clause
"""Files that the scripts write: new and empty ones only."""

import errno
import os
import stat

ADVICE = {errno.EFBIG: "; the file size limit (ulimit -f) is too low", errno.ENOSPC: "; free some space, or write elsewhere"}


def said(error, path):
    """What an OSError says of a file, by default of `path`; the program's own files in memory have no name to show."""
    name = str(error.filename or path)
    name = "what is drawn" if name.startswith("/proc/self/fd/") else name
    return f"{name}: {error.strerror or error}{ADVICE.get(error.errno, '')}"


def open_new(path, verb):
    """Opens a new or empty file for writing; raises FileExistsError for any other."""
    file = open(path, "ab")
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_size > 0:
        file.close()
        raise FileExistsError(errno.EEXIST, f"the file exists; hyperplane {verb} overwrites only its own files", path)
    return file


def kind_of(ending):
    """png, pdf or svg of the ending of a picture's name; png of any other."""
    ending = ending.lstrip(".").lower()
    return ending if ending in ("pdf", "svg") else "png"
