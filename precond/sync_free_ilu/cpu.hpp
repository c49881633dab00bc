// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu on a CPU.
#pragma once

#include "precond/factors/pivots.hpp"
#include "precond/sync_free_ilu/factors.hpp"
#include "precond/sync_free_ilu/row_walk.hpp"

namespace hyperplane::general_cpu {

/// The factors of A + alpha diag(A) into `factors.values`.
void factorise(const BsrMatrix& a, double alpha, const RowWalk& walk, GeneralFactors& factors, PivotInverter& inverter);
/// The memory of fixed-point sweeps besides the factors.
struct FixedPointScratch {
    Buffer<double> spare;    ///< a second set of factors
    Buffer<double> inverse;  ///< of the diagonal blocks, [row][row][col]
};
Index fixed_point_bytes(const FilledPattern& filled, int dof);
/// The same by `sweeps` fixed-point sweeps (precond/sync_free_ilu/fixed_point_cpu.cpp).
void fixed_point(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                 GeneralFactors& factors, PivotInverter& inverter);

/// y = L^-1 r; y may be r.
void lower_solve(const GeneralFactors& factors, const RowWalk& walk, const double* r, double* y);
/// z = U^-1 z.
void upper_solve(const GeneralFactors& factors, const RowWalk& walk, double* z);

}  // namespace hyperplane::general_cpu
