# SPDX-License-Identifier: BSD-3-Clause
"""Draws the HDF5 records of hyperplane runs (docs/record.md) as a page or a picture."""

import logging

# What matplotlib says of its own folder and fonts, when they are new or cannot be written, is nothing to a user of ours.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
