# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts report.py and plot.py share: where modules lie, and how a failure is told.

Exit codes are those of the program: 0, 2 usage, 7 a file; 1 if a package is missing.
"""

import sys
from pathlib import Path

EXIT_INTERNAL, EXIT_USAGE, EXIT_FILE = 1, 2, 7

# The package `reporting` is the folder of this file. `hyperplane` lies beside it if the program was installed, otherwise in
# the source tree. Python looks into the folder of the script first, where modules would be found without their package.
FOLDER = Path(__file__).resolve().parent
sys.path[:] = ([str(FOLDER.parent), str(FOLDER.parents[1] / "python")] +
               [path for path in sys.path if Path(path).resolve() != FOLDER])


def fail(verb, code, message):
    """Says why the verb fails, and returns the exit code."""
    print(f"hyperplane {verb}: {message}", file=sys.stderr)
    return code


def guarded(verb, path, draw):
    """The exit code that `draw` returns, or that of what it fails with, which is told. An error of a file that has no name is
    that of `path`, which is written."""
    try:
        import hyperplane
        from reporting import output
    except ImportError as error:
        return missing(verb, error)
    try:
        return draw()
    except hyperplane.RecordError as error:
        return fail(verb, EXIT_FILE, error)
    except OSError as error:
        return fail(verb, EXIT_FILE, output.said(error, path))
    except ImportError as error:
        return missing(verb, error)


def missing(verb, error):
    return fail(verb, EXIT_INTERNAL, f"{error}, with {sys.executable}; install python3-h5py and python3-matplotlib")
