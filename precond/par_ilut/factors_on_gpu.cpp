// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/factors_on_gpu.hpp"

#include <utility>

#include "precond/sync_free_ilu/rank_orders.hpp"

namespace hyperplane {
namespace {

constexpr const char* gpu_label = "factor";

}  // namespace

FactorsOnGpu::FactorsOnGpu(const Context& context, const BsrMatrix& a, const GeneralFactors& factors, SolveWay way,
                           const std::shared_ptr<const RowSlab>& slab)
    : pattern(context, a, factors.filled, gpu_label) {
    if (slab) {
        const RankOrders orders = orders_of_rank(context.host(), factors.filled, slab->rows, a.dof(), gpu_label);
        solve = std::make_unique<SlicedSolve>(context, pattern, copied_to_gpu(context, orders.lower, gpu_label),
                                              copied_to_gpu(context, orders.upper, gpu_label), a.dof(),
                                              FactorStorage::double_precision, slab);
    } else {
        Orders orders = orders_on_gpu(context, *pattern.pattern, pattern.diagonal,
                                      {.dof = a.dof(), .slices = true, .way = way}, gpu_label);
        solve = std::make_unique<SlicedSolve>(context, pattern, *std::move(orders.lower), *std::move(orders.upper),
                                              a.dof());
    }
    const Buffer<double> copy = copy_on(context, gpu_label, factors.values);
    solve->take({copy.data()});
    context.synchronize();  // the copy has been read
}

}  // namespace hyperplane
