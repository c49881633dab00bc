// SPDX-License-Identifier: BSD-3-Clause
// Level scheduling on either backend; a GPU needs one kernel launch for each level. This is the baseline against which
// the mapping of section 4.1 of the StructILU paper, struct_ilu's tiles, is measured.
//
// Exact triangular solves for factors of either form (precond/factors/view.hpp):
//
//     lower   y = D^-1 (r - E y)   or   y = r - W y            levels ascending
//     upper   z = y - D^-1 F z     or   z = D^-1 y - G z       levels descending
//
// Exact elimination: one pass of par_ilu's iteration in which every entry is final before it is used.
#pragma once

#include "core/vector/vector.hpp"
#include "precond/factors/view.hpp"
#include "precond/par_ilu/sweeps.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {

/// `levels` has the levels of the factors' stencil. `in` and `out` may be the same vector.
void solve_by_level(const FactorView& factors, const Layout& levels, Side side, const Vector& in, Vector& out);
/// Factors A + alpha diag(A). Pivots are reported, never boosted.
void eliminate_by_level(FactorSweeps& sweeps, const StructMatrix& a, const Layout& levels, const FactorTarget& factors,
                        double alpha, const PivotRules& rules, PivotInverter& inverter);

}  // namespace hyperplane
