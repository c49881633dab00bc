// SPDX-License-Identifier: BSD-3-Clause
// The factors of a general matrix in reduced precision on a GPU, in the places of the pattern, until the solves have
// copied them to the places that they read (precond/general/solves/solve_cuda.hpp,
// precond/sync_free_ilu/part_solve.hpp).
#pragma once

#include <string>

#include "precond/general/factors/reduced_blocks.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"

namespace hyperplane {

/// W, D^-1 and G of some factors, rounded as on a CPU.
class RoundedFactors {
public:
    /// In the pattern's memory, for blocks of dof x dof values. `storage` is single_precision or half_scaled.
    RoundedFactors(const GpuPattern& pattern, FactorStorage storage, int dof, const std::string& label);
    /// Rounds the factors of `a`, which are given in double in the same places; returns the events of all ranks that
    /// share its rows. The pattern may begin with `before` rows of other ranks, which are left out.
    Rounding round(const GpuPattern& pattern, const double* factors, const BsrMatrix& a, Index before = 0);
    /// [W, D^-1 or G][row of the pattern][component] are the exponents.
    StoredView stored() const { return numbers_.view(); }

private:
    int dof_;
    StoredValues numbers_;
};

}  // namespace hyperplane
