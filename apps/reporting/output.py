# SPDX-License-Identifier: BSD-3-Clause
"""Files that the scripts write: new and empty ones only."""

import errno
import os
import stat


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
