// SPDX-License-Identifier: BSD-3-Clause
// The formula for interpolation weights (interpolation.hpp) once the coefficients of a point are collapsed; for host
// and device.
#pragma once

#include <cmath>

#include "precond/multigrid/coarsening.hpp"

namespace hyperplane::multigrid {

/// Along an axis of S, the sign of an offset's component.
HYPERPLANE_HD constexpr int sign_on(int s, int o) {
    return s == 0 ? 0 : (o > 0) - (o < 0);
}
/// Of an offset on the axes of S, those on which s is not 0.
HYPERPLANE_HD constexpr Int3 signs_on(Int3 s, Int3 o) {
    return {sign_on(s.x, o.x), sign_on(s.y, o.y), sign_on(s.z, o.z)};
}
/// The part of s on the axes that `subset` names by its bits.
HYPERPLANE_HD constexpr Int3 part_of(Int3 s, int subset) {
    return {subset & 1 ? s.x : 0, subset & 2 ? s.y : 0, subset & 4 ? s.z : 0};
}
/// The axes on which s is not 0, as bits.
HYPERPLANE_HD constexpr int axes_of(Int3 s) {
    return (s.x != 0) + 2 * (s.y != 0) + 4 * (s.z != 0);
}

/// delta from b(0), sigma and sum |a_i|.
HYPERPLANE_HD inline double used_delta(double own, double sigma, double magnitude) {
    return sigma > 0.0 && std::abs(own - sigma) <= 1e-10 * magnitude ? sigma : own;
}

}  // namespace hyperplane::multigrid
