// SPDX-License-Identifier: BSD-3-Clause
// The factors of par_ilut in a GPU's memory, in the order of the solves.
#pragma once

#include <memory>

#include "precond/sync_free_ilu/factors.hpp"
#include "precond/sync_free_ilu/gpu_pattern.hpp"
#include "precond/sync_free_ilu/solve_cuda.hpp"

namespace hyperplane {

struct FactorsOnGpu {
    /// A copy of `factors`, which are in the host's memory, and what solves with it, on one rank in this way. `slab`:
    /// the rows of the factors on one of several ranks, all of which must make their copies; `a` has the rank's rows of
    /// A.
    FactorsOnGpu(const Context& context, const BsrMatrix& a, const GeneralFactors& factors, SolveWay way,
                 const std::shared_ptr<const RowSlab>& slab = nullptr);

    GpuPattern pattern;
    std::unique_ptr<SlicedSolve> solve;
};

}  // namespace hyperplane
