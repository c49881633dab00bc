// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

#include <chrono>

#include "core/profile.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/timer.hpp"
#include "precond/checks/applications.hpp"
#include "precond/checks/general_applications.hpp"
#include "precond/general/factors/check.hpp"
#include "precond/general/factors/exported.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/orders/rank_orders.hpp"
#include "precond/general/solves/host_solve.hpp"
#include "precond/general/solves/rank_solve.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/sync_free_ilu/factor_rows.hpp"
#include "precond/sync_free_ilu/factor_rows_cuda.hpp"
#include "precond/sync_free_ilu/factor_with_options.hpp"
#include "precond/sync_free_ilu/part_solve.hpp"
#include "precond/sync_free_ilu/shapes.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

/// Whether the symbolic part may be found by a GPU alone: the host needs no places of diagonal blocks.
[[maybe_unused]] bool may_have_the_pattern_of_a(const SyncFreeOptions& options, const BsrMatrix& a) {
    return options.fill_level == 0 && !options.parts && !options.sweeps && !a.pattern()->slab();
}

}  // namespace

SyncFreeIlu::SyncFreeIlu(const Context& context, const SyncFreeOptions& options)
    : context_(context), options_(options) {}
SyncFreeIlu::~SyncFreeIlu() = default;

SetupReport SyncFreeIlu::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    analyse(a);
    const auto begin = std::chrono::steady_clock::now();
    SetupReport report = compute(a);
    context_.synchronize();
    report.symbolic_seconds = symbolic_seconds_;
    report.planned_seconds = planned_seconds_;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factor_bytes();
    return report;
}

SetupReport SyncFreeIlu::compute(const BsrMatrix& a) {
    allocate_values();
    SetupReport report =
        factor_with_options(a, options_, [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); });
    if (is_reduced(options_.storage)) judge_rounding(round(a), a, options_, report);
    hand_on();
    return report;
}

void SyncFreeIlu::forget() {
    served_.reset();
    solve_.reset();
    cuda_.reset();
    fixed_point_.reset();
    between_.reset();
    gpu_pattern_.reset();
    stages_ = {};
    factors_ = {};
    scratch_ = {};
}

void SyncFreeIlu::analyse(const BsrMatrix& a) {
    const ProfileScope scope(context_, "symbolic");
    symbolic_seconds_ = planned_seconds_ = 0.0;
    if (served_ == a.pattern() && factors_.dof == a.dof() && factors_.symmetric == a.symmetric()) return;
    const auto begin = std::chrono::steady_clock::now();
    forget();
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    Symbolic symbolic = analysed_pattern(a);
    parts_ = std::move(symbolic.parts);
    slab_ = std::move(symbolic.slab);
    factors_.filled = std::move(symbolic.filled);
    planned_seconds_ = symbolic.planned_seconds;
    gpu_pattern_ ? make_for_gpu(a, symbolic) : make_for_host(a);
    allocate_values();
    if (options_.sweeps)
        solve_ = std::make_unique<SweptFactors>(context_, factors_, *options_.sweeps, slab_, a.pattern()->slab().get());
    served_ = a.pattern();
    symbolic_seconds_ = planned_seconds_ + seconds_since(begin);
}

Symbolic SyncFreeIlu::analysed_pattern(const BsrMatrix& a) {
    const SymbolicKey key = key_of(options_, a);
    if constexpr (cuda_built)
        if (context_.backend() == Backend::cuda) {
            if (options_.couples_ranks) links_of(context_);  // all ranks make them, also those that exchange nothing
            std::optional<Symbolic> symbolic = taken_if_kept(key);
            if (!symbolic && may_have_the_pattern_of_a(options_, a)) {
                gpu_pattern_ = std::make_unique<GpuPattern>(a, label);
                if (gpu_pattern_->counts.missing == 0)
                    return {{.filled = {.pattern = a.pattern(),
                                        .diagonal = {},
                                        .place = {},
                                        .lower = gpu_pattern_->counts.lower}}};
                gpu_pattern_.reset();
            }
            if (!symbolic) symbolic = taken_symbolic(context_.host(), key, label);
            gpu_pattern_ = std::make_unique<GpuPattern>(context_, a, symbolic->filled, label);
            return *std::move(symbolic);
        }
    return taken_symbolic(context_.host(), key, label);
}

void SyncFreeIlu::make_for_gpu([[maybe_unused]] const BsrMatrix& a, [[maybe_unused]] Symbolic& symbolic) {
    if constexpr (cuda_built) {
        const GpuPattern& pattern = *gpu_pattern_;
        const Index rows = a.pattern()->rows(), before = slab_ ? slab_->before : 0;
        const RowCounts counts = slab_ ? row_counts(factors_.filled, a.symmetric(), rows) : pattern.counts;
        const SyncFreeShape shape = shape_of(options_, counts, a.dof(), a.symmetric());
        if (shape.needs_a_diagonal()) gpu_pattern_->find_a_diagonal(a, label);
        const bool sweeps_to_factors = options_.fixed_point_sweeps > 0;
        if (slab_)
            between_ =
                std::make_unique<FactorRowsCuda>(context_, factors_.filled, *slab_, a.dof(), sweeps_to_factors, label);
        const OrderNeeds needs = needs_of(options_, shape);
        Orders orders =
            slab_ ? copied_to_gpu(context_, orders_of_rank(context_.host(), factors_.filled, rows, needs, label), label)
                  : orders_on_gpu(context_, *pattern.pattern, pattern.diagonal, needs, label);
        if (sweeps_to_factors)
            fixed_point_ = std::make_unique<FixedPointCuda>(context_, pattern, shape.swept(), OwnRows{before, rows});
        else
            cuda_ = std::make_unique<SyncFreeCuda>(context_, pattern, shape, orders, before);
        if (orders.lower)
            solve_ = std::make_unique<SlicedSolve>(context_, pattern, *std::move(orders.lower),
                                                   *std::move(orders.upper), a.dof(), options_.storage, slab_);
        if (options_.parts && !options_.sweeps)
            solve_ = part_solve::make(options_.part_variant, pattern, factors_, options_.storage, parts_,
                                      std::move(symbolic.part_tables));
        if (slab_) context_.synchronize();  // what the host has found was copied
    }
}

void SyncFreeIlu::make_for_host(const BsrMatrix& a) {
    if (slab_) {
        stages_ = RankStages(context_, factors_.pattern(), *slab_, Side::lower, label);
        if (!options_.sweeps)
            solve_ = std::make_unique<RankSolve>(context_, factors_, slab_, *a.pattern()->slab(), stages_, label,
                                                 options_.storage);
        return;
    }
    const Index work = RowWalk::work_of_solve(factors_.pattern().blocks(), a.dof());
    const auto walk = [&](Side side) {
        if (!walks(options_, side)) return RowWalk();
        return options_.parts
                   ? RowWalk(parts_, side, work)
                   : RowWalk(context_.host(), factors_.pattern(), side, work, label, options_.way == SolveWay::levels);
    };
    lower_ = walk(Side::lower);
    if (!options_.sweeps)
        solve_ = std::make_unique<HostSolve>(context_, factors_, lower_, walk(Side::upper), options_.storage);
}

void SyncFreeIlu::allocate_values() {
    if (factors_.values.size() == factors_.value_count()) return;
    factors_.values = Buffer<double>(context_, label, factors_.value_count(),
                                     cuda_ && !slab_ ? Initially::anything : Initially::zero);
    if (options_.fixed_point_sweeps > 0) scratch_ = general_cpu::fixed_point_scratch(context_, factors_, label);
}

general_cpu::ShareRows SyncFreeIlu::share_rows() {
    if (!slab_) return general_cpu::no_other_rows;
    if constexpr (cuda_built)
        if (between_) return [this](double* values, double* inverse) { between_->exchange(values, inverse); };
    return [this](double* values, double* inverse) {
        stages_.exchange(*context_.ranks(), FactorRows(factors_, values, inverse));
    };
}

void SyncFreeIlu::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    const int sweeps = options_.fixed_point_sweeps;
    const PivotRules& rules = inverter.rules();
    double* const values = factors_.values.data();
    SpreadRows spread;
    if constexpr (cuda_built) {
        if (between_) inverter.set_first_row(a.space().first_block_row() - slab_->before);
        if (fixed_point_)
            return fixed_point_->factor(a, alpha, sweeps, rules, scratch_, factors_.values, inverter, share_rows());
        if (cuda_) {
            if (between_) between_->take(values);
            cuda_->factor(a, alpha, rules, values, inverter);
            if (between_) between_->give(values);
            return;
        }
    }
    if (sweeps > 0)
        general_cpu::fixed_point(a, alpha, sweeps, rules, scratch_, factors_, inverter, share_rows());
    else if (slab_)
        stages_.for_each(*context_.ranks(), FactorRows(factors_, values, nullptr), [&](const RowRange& range) {
            general_cpu::factorise(a, alpha, range, factors_, inverter, spread);
        });
    else
        general_cpu::factorise(a, alpha, lower_, factors_, inverter);
}

Rounding SyncFreeIlu::round(const BsrMatrix& a) {
    const ProfileScope scope(context_, "rounding");
    const Rounding met = solve_->round(factors_, a);
    factors_.values = {};
    scratch_ = {};
    return met;
}

void SyncFreeIlu::hand_on() {
    if (!is_reduced(options_.storage)) solve_->take(factors_, options_.name);
}

NumericSetup SyncFreeIlu::numeric_setup(const SystemMatrix& matrix) {
    NumericSetup numeric;
    numeric.run = [this, &a = general(matrix)] { compute(a); };
    numeric.analysis = symbolic_seconds_;
    return numeric;
}

const Buffer<Index>& SyncFreeIlu::diagonals() const {
    return gpu_pattern_ ? gpu_pattern_->diagonal : factors_.filled.diagonal;
}

LduFactors SyncFreeIlu::ldu() const {
    return is_reduced(options_.storage) ? ldu_of(solve_->widened(factors_), diagonals())
                                        : ldu_of(factors_, diagonals());
}

ApplicationCheck SyncFreeIlu::check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                                const MakeInDouble& in_double) const {
    if (slab_) return Preconditioner::check_application(a, r, z, in_double);
    if (options_.sweeps) return check_sweeps(ldu(), factors_.dof, *options_.sweeps, r, z);
    const double error = is_reduced(options_.storage) ? error_of_solves(solve_->widened(factors_), diagonals(), r, z)
                                                      : error_of_solves(factors_, diagonals(), r, z);
    return {error, bound_of_double(), ""};
}

SweepCounts SyncFreeIlu::sweeps() const {
    SweepCounts counts;
    if (options_.sweeps) counts.apply = options_.sweeps->lower + options_.sweeps->upper;
    if (options_.fixed_point_sweeps > 0) {
        counts.setup = options_.fixed_point_sweeps;
        counts.bytes_of_setup_sweep = 2 * factors_.value_count() * Index(sizeof(double)) + factors_.pattern().bytes();
    }
    return counts;
}

Index SyncFreeIlu::factor_bytes() const {
    const BlockPattern& pattern = factors_.pattern();
    Index values = bytes_of_factors(options_.storage, {pattern.rows(), pattern.blocks(), factors_.dof});
    if (slab_ && !gpu_pattern_ && is_reduced(options_.storage)) {  // rounded are the own rows alone
        const Index* const begin = pattern.row_begin() + factors_.filled.first;
        values = general_cpu::bytes_of_rows(options_.storage, slab_->rows, begin[slab_->rows] - begin[0], factors_.dof);
    }
    return values + factors_.filled.bytes();
}

}  // namespace hyperplane
