// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves a level at a time, for factors of any kind (precond/factors/view.hpp):
//
//     lower   y = D^-1 (r - E y)   or   y = r - W y            levels ascending
//     upper   z = y - D^-1 F z     or   z = D^-1 y - G z       levels descending
//
// One launch a level on a GPU; what struct_ilu's tiles, which need one launch a solve, are measured against.
#pragma once

#include "core/vector/vector.hpp"
#include "precond/factors/view.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// `levels` are those of the factors' stencil. In place where `in` and `out` are the same vector.
void solve_by_level(const FactorView& factors, const Layout& levels, Direction direction, const Vector& in,
                    Vector& out);

}  // namespace hyperplane
