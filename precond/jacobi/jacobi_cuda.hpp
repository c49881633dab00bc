// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi's set-up on a GPU. The kernel is in jacobi.cuh.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// Writes A_pp^-1 to `inverse`, a matrix of A's layout and dof that has only the diagonal entry; a block is zero if a
/// pivot is too small or not finite. `inverter` receives the report on pivots.
void invert_diagonal_cuda(const StructMatrix& a, StructMatrix& inverse, const PivotRules& rules,
                          PivotInverter& inverter);

/// What NVRTC compiles for blocks of as many unknowns.
rtc::Programs invert_diagonal_programs(int dof);

}  // namespace hyperplane
