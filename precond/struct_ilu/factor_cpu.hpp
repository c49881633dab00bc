// SPDX-License-Identifier: BSD-3-Clause
// StructILU's factorisation on a CPU: Algorithm 1, computed for a run of points at once.
#pragma once

#include "precond/factors/ilu_factors.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane::wavefront_cpu {

/// Computes the factors of A + alpha diag(A), where A is factors.matrix().
void factorise(IluFactors& factors, double alpha, PivotInverter& inverter);

}  // namespace hyperplane::wavefront_cpu
