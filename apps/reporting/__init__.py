# SPDX-License-Identifier: BSD-3-Clause
"""Draws the HDF5 records of hyperplane runs (docs/record.md) as a page or a picture."""
