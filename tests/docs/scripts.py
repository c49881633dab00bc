# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of docs/ as modules, for tests of their functions."""

import importlib.util


def module_of(path):
    """The module in a file that is on no search path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
