// SPDX-License-Identifier: BSD-3-Clause
// What precond/factors/reduced_values.cuh takes from CUDA, for texts of kernels that are compiled for the host.
#pragma once

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
inline double __hiloint2double(int /*high*/, int /*low*/) {  // NOLINT(clang-diagnostic-reserved-*)
    return 0.0;                                              // only rows in reduced precision have scales
}
