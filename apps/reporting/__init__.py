# SPDX-License-Identifier: BSD-3-Clause
"""Draws the HDF5 records of hyperplane runs (docs/record.md) as a page or a picture."""

import logging

# matplotlib warns when its own folder or list of fonts is new or cannot be written; that does not concern a reader of a report.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
