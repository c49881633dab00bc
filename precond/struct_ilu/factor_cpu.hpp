// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a CPU: Algorithm 1, a run of points instead of a row.
#pragma once

#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane::wavefront_cpu {

/// The factors of A + alpha diag(A), A being factors.matrix().
void factorise(IluFactors& factors, double alpha, PivotInverter& inverter);

}  // namespace hyperplane::wavefront_cpu
