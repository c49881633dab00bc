// SPDX-License-Identifier: BSD-3-Clause
// Exact triangular solves level by level, for factors of either form (precond/factors/view.hpp):
//
//     lower   y = D^-1 (r - E y)   or   y = r - W y            levels ascending
//     upper   z = y - D^-1 F z     or   z = D^-1 y - G z       levels descending
//
// On a GPU each level is one kernel launch. This is the baseline against which struct_ilu's tiles, which need one
// launch for a whole solve, are measured.
#pragma once

#include "core/vector/vector.hpp"
#include "precond/factors/view.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// `levels` has the levels of the factors' stencil. `in` and `out` may be the same vector.
void solve_by_level(const FactorView& factors, const Layout& levels, Direction direction, const Vector& in,
                    Vector& out);

}  // namespace hyperplane
