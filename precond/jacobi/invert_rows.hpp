// SPDX-License-Identifier: BSD-3-Clause
// The inverses of a general matrix's diagonal blocks.
#pragma once

#include "core/matrix/bsr_matrix.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// Inverts the diagonal blocks of `a` and reports the pivots, by a loop on the backend of `a`. `places`: where they lie
/// in `a`, -1 where one is not stored.
void invert_diagonal_blocks(const BsrMatrix& a, const Buffer<Index>& places, BsrMatrix& inverse,
                            const PivotRules& rules, PivotInverter& inverter);

}  // namespace hyperplane
