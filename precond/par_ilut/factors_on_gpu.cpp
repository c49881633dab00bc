// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/factors_on_gpu.hpp"

#include <type_traits>
#include <utility>

#include "precond/general/orders/rank_orders.hpp"
#include "precond/general/solves/solve_cuda.hpp"

namespace hyperplane {
namespace {

constexpr const char* gpu_label = "factor";

}  // namespace

FactorsOnGpu::FactorsOnGpu(const Context& context, std::unique_ptr<const GpuPattern> of_factors, Buffer<double> made,
                           Orders orders, int dof)
    : pattern(std::move(of_factors)), values(std::move(made)) {
    auto slices =
        std::make_unique<SlicedSolve>(context, *pattern, *std::move(orders.lower), *std::move(orders.upper), dof);
    slices->copy({values.data()});
    context.synchronize();
    solve = std::move(slices);
}

FactorsOnGpu::FactorsOnGpu(const Context& context, const BsrMatrix& a, const GeneralFactors& factors,
                           const std::shared_ptr<const RowSlab>& slab)
    : pattern(std::make_unique<GpuPattern>(context, a, factors.filled, gpu_label)) {
    Orders orders = copied_to_gpu(
        context,
        orders_of_rank(context.host(), factors.filled, slab->rows, {.dof = a.dof(), .slices = true}, gpu_label),
        gpu_label);
    auto slices = std::make_unique<SlicedSolve>(context, *pattern, *std::move(orders.lower), *std::move(orders.upper),
                                                a.dof(), FactorStorage::double_precision, slab);
    const Buffer<double> copy = copy_on(context, gpu_label, factors.values);
    slices->copy({copy.data()});
    context.synchronize();  // the copy has been read
    solve = std::move(slices);
}

GeneralFactors FactorsOnGpu::on_host(int dof, bool symmetric) const {
    const Context& gpu = values.context();
    const Context host = gpu.host();
    const auto copy = [&](const auto& from, auto& to) {
        to = std::decay_t<decltype(to)>(host, gpu_label, from.size());
        copy_between(gpu, from.data(), host, to.data(), from.size() * Index(sizeof(*from.data())));
    };
    GeneralFactors factors;
    factors.dof = dof;
    factors.symmetric = symmetric;
    factors.filled.pattern = pattern->pattern->copied_to(host, gpu_label);
    factors.filled.lower = pattern->counts.lower;
    copy(pattern->diagonal, factors.filled.diagonal);
    if (pattern->place.size() > 0) copy(pattern->place, factors.filled.place);
    copy(values, factors.values);
    return factors;
}

}  // namespace hyperplane
