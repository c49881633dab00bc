// SPDX-License-Identifier: BSD-3-Clause
// par_ilut where several ranks share the rows of a matrix.

#include <algorithm>
#include <chrono>

#include "core/timer.hpp"
#include "precond/general/orders/rank_orders.hpp"
#include "precond/general/pattern/rank_pattern.hpp"
#include "precond/general/solves/rank_solve.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/par_ilut/factors_on_gpu.hpp"
#include "precond/par_ilut/par_ilut.hpp"

namespace hyperplane {
namespace {

constexpr const char* rank_label = "factor";

/// The most that Jacobi sweeps of a rank hold, of factors whose rows are all in memory: they may have two vectors of
/// their own.
Index most_bytes_of_sweeps(const BlockCounts& factors, const SweepOptions& options, Backend backend) {
    return SweptFactors::most_bytes(factors, options, backend) + 2 * factors.rows * factors.dof * Index(sizeof(double));
}

/// On a GPU, beside `least`, a rank's part of A's pattern with all diagonal blocks. What the host holds is not counted.
[[maybe_unused]] void plan_of_gpu_rank(const ParIlutOptions& options, const PreconditionerSetting& setting,
                                       const FactorPattern& least, PreconditionerPlan& plan) {
    const MatrixShape& shape = setting.matrix;
    const BlockPattern &a = *shape.pattern(), &all = *a.whole();
    const int dof = shape.dof();
    const Index size = dof * dof * Index(sizeof(double)), in_memory = least.filled.pattern->rows();
    if (options.jacobi) {
        plan.bytes = SweptFactors::bytes(least.filled, dof, *options.jacobi, Backend::cuda, least.slab, a.slab().get());
        const Index sent = 2 * setting.context.ranks()->size() * all.rows() * (dof * Index(sizeof(double)) + 4);
        plan.most_bytes = options.rounds == 0
                              ? plan.bytes
                              : most_bytes_of_sweeps({all.rows(), ParIlut::most_blocks(options, all), dof},
                                                     *options.jacobi, Backend::cuda) +
                                    sent;
        return;
    }
    const Orders orders =
        orders_of_rank(setting.context.host(), least.filled, a.rows(), {.dof = dof, .slices = true}, rank_label);
    const Index* const begin = least.filled.pattern->row_begin() + least.filled.first;
    Index lower = 0;
    for (Index row = 0; row < a.rows(); ++row) lower += least.filled.diagonal[least.filled.first + row] - begin[row];
    const Index upper = begin[a.rows()] - begin[0] - a.rows() - lower;
    const OrderSizes exact = sizes_of(orders);
    const OrderSizes fewest{SlicedSizes::least(a.rows(), lower, dof), SlicedSizes::least(a.rows(), upper, dof), {}};
    plan.bytes = GpuPattern::bytes(least.filled, a.blocks(), false) +
                 SlicedSolve::bytes(a.rows(), options.rounds == 0 ? exact : fewest, dof) +
                 SlicedSolve::bytes_between_ranks(*least.slab, dof);
    plan.setup_bytes = 2 * in_memory * Index(sizeof(int)) + least.filled.pattern->blocks() * size;
    if (options.rounds == 0) return void(plan.most_bytes = plan.bytes);
    // At most one rank's own rows and those that they depend on have all entries, and all rows are in its memory.
    const Index kept = ParIlut::most_blocks(options, all), rows = all.rows();
    const SlicedSizes most = SlicedSizes::most(a.rows(), kept);
    const Index records = 2 * rows * dof * Index(sizeof(EpochRecord)) + 2 * (rows + 1) * Index(sizeof(int)) +
                          2 * setting.context.ranks()->size() * rows * Index(sizeof(PlaceOfRow));
    plan.most_bytes = rows * Index(sizeof(Index)) + BlockPattern::bytes(rows, kept) + a.blocks() * Index(sizeof(int)) +
                      SlicedSolve::bytes(a.rows(), {most, most, {}}, dof) + records + kept * size;
}

}  // namespace

SetupReport ParIlut::setup_on_ranks(const BsrMatrix& a) {
    const auto begin = std::chrono::steady_clock::now();
    solve_.reset();
    on_gpu_.reset();
    stages_ = {};
    factors_ = {};
    const Context host = context_.host(), alone = host.alone();
    ParIlutOptions of_all = options_;
    of_all.jacobi.reset();  // the sweeps are those of the own rows
    ParIlut whole(alone, of_all);
    SetupReport report;
    {
        BsrMatrix all(alone, a.pattern()->whole(), a.dof(), a.symmetric(), rank_label);
        std::unique_ptr<BsrMatrix> copy;
        context_.ranks()->all_gather({on_host(a, copy).values(), std::size_t(a.nonzeros())},
                                     {all.values(), std::size_t(all.nonzeros())});
        report = whole.setup(all);
    }
    const GeneralFactors& found = whole.factors();
    FactorPattern mine = cut_to_rank(host, *a.pattern(), found.pattern(), a.dof(), rank_label);
    slab_ = std::move(mine.slab);
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    factors_.filled = std::move(mine.filled);
    factors_.values = Buffer<double>(host, rank_label, factors_.value_count());
    const Index size = Index(a.dof()) * a.dof(), first = factors_.filled.first;
    const Index* const rows = found.pattern().row_begin() + slab_->first;
    std::copy(found.values.data() + rows[0] * size, found.values.data() + rows[slab_->rows] * size,
              factors_.values.data() + factors_.pattern().row_begin()[first] * size);
    const RowSlab& of_vectors = *a.pattern()->slab();
    if (options_.jacobi) {
        solve_ = std::make_unique<SweptFactors>(context_, factors_, *options_.jacobi, slab_, &of_vectors);
    } else if (context_.backend() == Backend::cpu) {
        stages_ = RankStages(context_, factors_.pattern(), *slab_, Side::lower, rank_label);
        solve_ = std::make_unique<RankSolve>(context_, factors_, slab_, of_vectors, stages_, rank_label);
    }
    if (solve_) solve_->take(factors_, "par_ilut");
    if constexpr (cuda_built)
        if (!solve_) on_gpu_ = std::make_unique<FactorsOnGpu>(context_, a, factors_, slab_);
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factors_.values.size() * Index(sizeof(double)) + factors_.filled.bytes();
    return report;
}

PreconditionerPlan ParIlut::plan_of_rank(const ParIlutOptions& options, const PreconditionerSetting& setting) {
    const BlockPattern& a = *setting.matrix.pattern();
    const std::shared_ptr<const BlockPattern>& all = a.whole();
    const int dof = setting.matrix.dof();
    const Index size = dof * dof * Index(sizeof(double)), rows = all->rows();
    const Context host = setting.context.host();
    const PreconditionerSetting of_all{host.alone(), {all, dof, setting.matrix.symmetric()}};
    ParIlutOptions exact = options;
    exact.jacobi.reset();
    const PreconditionerPlan whole = ParIlut::plan(exact, of_all);
    const Index kept = ParIlut::most_blocks(options, *all);
    PreconditionerPlan plan;
    plan.space = setting.matrix.natural_space();
    plan.traits = ParIlut::traits_of(options, setting.matrix.symmetric());
    plan.most_when = whole.most_when;
    plan.warning = whole.warning;
    // The least is held if the factors have the pattern of A.
    const FilledPattern own = filled_pattern(host, all, 0, rank_label);
    const FactorPattern least = cut_to_rank(host, a, *own.pattern, dof, rank_label);
    plan.bytes_per_apply = options.jacobi ? SweptFactors::bytes_per_apply(least.filled, a.rows(), dof, *options.jacobi)
                                          : general_cpu::bytes_per_apply(a.rows(), least.filled.pattern->blocks(), dof);
    if constexpr (cuda_built)
        if (setting.context.backend() == Backend::cuda) {
            plan_of_gpu_rank(options, setting, least, plan);
            return plan;
        }
    const Index least_blocks = least.filled.pattern->blocks();
    plan.bytes =
        least.filled.bytes() + least_blocks * size +
        (options.jacobi
             ? SweptFactors::bytes(least.filled, dof, *options.jacobi, Backend::cpu, least.slab, a.slab().get())
             : RankStages::bytes(*least.slab) + RankSolve::bytes(least.filled, least.slab, *a.slab(), dof));
    // The factors of all rows are found beside the gathered matrix, and released when the own rows have been taken.
    const Index gathered = all->blocks() * size;
    const Index finding = gathered + whole.bytes + whole.setup_bytes;
    const Index taking = whole.bytes + std::max(plan.bytes, least.peak);
    plan.setup_bytes = std::max({Index(0), finding - plan.bytes, taking - plan.bytes});
    if (options.rounds == 0) {
        plan.most_bytes = plan.bytes + whole.most_bytes - whole.bytes;
        return plan;
    }
    // At most one rank's own rows and those that they depend on have all entries, and all rows are in its memory.
    const Index most_pattern = BlockPattern::bytes(rows, kept) + rows * Index(sizeof(Index));
    const Index most_held =
        most_pattern + (a.blocks() + kept) * Index(sizeof(int)) + kept * size + 2 * RankStages::bytes(*a.slab()) +
        StagedTriangle::bytes(rows, kept, dof) + BlockPattern::bytes(rows, 0) +
        (rows + 2) * dof * Index(sizeof(double)) +
        (options.jacobi ? most_bytes_of_sweeps({rows, kept, dof}, *options.jacobi, Backend::cpu) : 0);
    const Index most = gathered + whole.most_bytes + whole.setup_bytes + most_held + BlockPattern::bytes(rows, kept);
    plan.most_bytes = std::max(plan.bytes, most - plan.setup_bytes);
    return plan;
}

}  // namespace hyperplane
