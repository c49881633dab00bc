// SPDX-License-Identifier: BSD-3-Clause
// The factors of par_ilut in a GPU's memory, in the order of the solves.
#pragma once

#include <memory>

#include "precond/general/factors/factors.hpp"
#include "precond/general/orders/orders_cuda.hpp"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/general/solves/general_solve.hpp"

namespace hyperplane {

struct FactorsOnGpu {
    /// Takes factors over, and the orders of their triangles.
    FactorsOnGpu(const Context& context, std::unique_ptr<const GpuPattern> of_factors, Buffer<double> made,
                 Orders orders, int dof);
    /// A copy of the factors of one of several ranks, which are in the host's memory, and what solves with it; all
    /// ranks must make their copies. `slab`: the rows of the factors; `a` has the rank's rows of A.
    FactorsOnGpu(const Context& context, const BsrMatrix& a, const GeneralFactors& factors,
                 const std::shared_ptr<const RowSlab>& slab);

    /// A copy in the host's memory of factors that were taken over.
    GeneralFactors on_host(int dof, bool symmetric) const;

    std::unique_ptr<const GpuPattern> pattern;
    Buffer<double> values;  ///< [block][row][col]; of copies none
    std::unique_ptr<const GeneralSolve> solve;
};

}  // namespace hyperplane
