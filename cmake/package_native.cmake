# SPDX-License-Identifier: BSD-3-Clause
message(WARNING "This build is for this machine's processor (HYPERPLANE_NATIVE), and so is its package. "
                "-DHYPERPLANE_NATIVE=OFF builds for any x86-64-v3 processor.")
