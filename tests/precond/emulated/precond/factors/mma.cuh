// SPDX-License-Identifier: BSD-3-Clause
// In place of precond/factors/mma.cuh where a kernel's text is compiled for the host (precond/emulated_warps.hpp).
#pragma once

namespace hyperplane {

inline void multiply_add_8x8x4(double left, double right, double (&sum)[2]) {
    emulated_warps::multiply_add(left, right, sum);
}
inline void multiply_add_16x8x4(double left, double other_left, double right, double (&sum)[2],
                                double (&other_sum)[2]) {
    multiply_add_8x8x4(left, right, sum);
    multiply_add_8x8x4(other_left, right, other_sum);
}

}  // namespace hyperplane
