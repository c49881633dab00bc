// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

#include <fmt/format.h>

#include "core/profile.hpp"
#include "precond/checks/applications.hpp"
#include "precond/checks/general_applications.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/general/factors/check.hpp"
#include "precond/general/factors/exported.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/sync_free_ilu/cuda.hpp"
#include "precond/sync_free_ilu/part_solve.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

/// What kernels are specialised on; fixed-point sweeps look entries up in rows.
[[maybe_unused]] SyncFreeShape shape_of(const SyncFreeOptions& options, const RowCounts& counts, int dof,
                                        bool symmetric) {
    return SyncFreeShape::of(counts, dof, symmetric,
                             options.fixed_point_sweeps > 0 ? FactorVariant::search : options.variant,
                             !options.parts && !options.sweeps);
}
[[maybe_unused]] FixedPointShape swept_shape(const SyncFreeShape& shape) {
    return {shape.dof, shape.symmetric, shape.lanes};
}

/// What tells apart kernels of matrices of the same number of rows.
[[maybe_unused]] std::string name_of_kernels(const SyncFreeOptions& options) {
    const std::string factors = options.parts                    ? "subdomain_parts"
                                : options.fixed_point_sweeps > 0 ? "fixed_point"
                                                                 : "sync_free_ilu";
    if (options.sweeps) return factors + (options.sweeps->mode == SweepMode::sync ? "_swept" : "_swept_by_blocks");
    const bool by_level = options.part_variant == SubdomainVariant::level;
    return by_level ? factors : fmt::format("{}_{}", factors, name_of(options.part_variant));
}

/// The orders of rows that a GPU needs.
[[maybe_unused]] OrderNeeds needs_of(const SyncFreeOptions& options, const SyncFreeShape& shape) {
    const bool elimination = options.fixed_point_sweeps == 0;
    return {.dof = shape.dof,
            .slices = !options.parts && !options.sweeps,
            .way = options.way,
            .table = elimination ? shape.table : std::nullopt,
            .by_level = elimination && shape.by_level()};
}

/// Whether the symbolic part may be found by a GPU alone: the host needs no places of diagonal blocks.
[[maybe_unused]] bool may_have_the_pattern_of_a(const SyncFreeOptions& options, const BsrMatrix& a) {
    return options.fill_level == 0 && !options.parts && !options.sweeps && !a.pattern()->slab();
}

/// The sizes of the orders; a plan before may have found them.
[[maybe_unused]] OrderSizes planned_sizes(const Context& gpu, Symbolic& symbolic, const OrderNeeds& needs) {
    if (!symbolic.planned || symbolic.planned->needs != needs)
        symbolic.planned = {needs, sizes_of_orders(gpu, symbolic.filled, needs, label)};
    return symbolic.planned->sizes;
}

/// Whether rows are walked in the order of a triangle: by its solve or, the lower one, by an elimination.
bool walks(const SyncFreeOptions& options, Side side) {
    return !options.sweeps || (side == Side::lower && options.fixed_point_sweeps == 0);
}

/// What the orders of both triangles hold on a CPU, which depends on whether threads share the rows of levels.
Index bytes_of_walks(const Context& host, const SyncFreeOptions& options, const BlockPattern& pattern, int dof) {
    const Index work = RowWalk::work_of_solve(pattern.blocks(), dof);
    Index bytes = 0;
    for (const Side side : {Side::lower, Side::upper})
        if (walks(options, side) && !options.parts)
            bytes += RowWalk(host, pattern, side, work, label, options.way == SolveWay::levels).bytes();
    return bytes;
}

}  // namespace

SyncFreeIlu::SyncFreeIlu(const Context& context, const SyncFreeOptions& options) : GeneralIlu(context, options) {}
SyncFreeIlu::~SyncFreeIlu() = default;

Symbolic SyncFreeIlu::analysed_pattern(const BsrMatrix& a) {
    const SymbolicKey key = key_of(options_, a);
    if constexpr (cuda_built)
        if (context_.backend() == Backend::cuda) {
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

void SyncFreeIlu::forget() {
    part_solve_.reset();
    sliced_.reset();
    cuda_.reset();
    fixed_point_.reset();
    gpu_pattern_.reset();
    swept_.reset();
    reduced_ = {};
}

void SyncFreeIlu::find_pattern(const BsrMatrix& a) {
    const Context host = context_.host();
    Symbolic symbolic = analysed_pattern(a);
    parts_ = std::move(symbolic.parts);
    if constexpr (cuda_built)
        if (gpu_pattern_) {
            const SyncFreeShape shape = shape_of(options_, gpu_pattern_->counts, a.dof(), a.symmetric());
            if (shape.needs_a_diagonal()) gpu_pattern_->find_a_diagonal(a, label);
            Orders orders = orders_on_gpu(context_, *gpu_pattern_->pattern, gpu_pattern_->diagonal,
                                          needs_of(options_, shape), label);
            if (options_.fixed_point_sweeps > 0)
                fixed_point_ = std::make_unique<FixedPointCuda>(context_, *gpu_pattern_, swept_shape(shape));
            else
                cuda_ = std::make_unique<SyncFreeCuda>(context_, *gpu_pattern_, shape, orders);
            if (orders.lower)
                sliced_ = std::make_unique<SlicedSolve>(context_, *gpu_pattern_, *std::move(orders.lower),
                                                        *std::move(orders.upper), a.dof(), options_.storage);
        }
    factors_.filled = std::move(symbolic.filled);
    if constexpr (cuda_built)
        if (gpu_pattern_ && options_.parts && !options_.sweeps)
            part_solve_ = PartSolve::make(options_.part_variant, context_, factors_, options_.storage, parts_,
                                          std::move(symbolic.part_tables));
    const Index work = gpu_pattern_ ? 0 : RowWalk::work_of_solve(factors_.pattern().blocks(), a.dof());
    const auto walk = [&](Side side) {
        if (!walks(options_, side)) return RowWalk();
        return options_.parts ? RowWalk(parts_, side, work)
                              : RowWalk(host, factors_.pattern(), side, work, label,
                                        !gpu_pattern_ && options_.way == SolveWay::levels);
    };
    lower_ = walk(Side::lower);
    upper_ = walk(Side::upper);
    prepare(a);
    if (options_.sweeps) swept_ = std::make_unique<SweptFactors>(context_, factors_, *options_.sweeps);
}

void SyncFreeIlu::prepare(const BsrMatrix& /*a*/) {
    allocate_values(cuda_ ? Initially::anything : Initially::zero);
}

void SyncFreeIlu::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    const int sweeps = options_.fixed_point_sweeps;
    const PivotRules& rules = options_.pivots.rules;
    if constexpr (cuda_built) {
        if (cuda_) return cuda_->factor(a, alpha, rules, factors_.values.data(), inverter);
        if (fixed_point_) return fixed_point_->factor(a, alpha, sweeps, rules, scratch_, factors_.values, inverter);
    }
    if (sweeps > 0)
        general_cpu::fixed_point(a, alpha, sweeps, rules, scratch_, factors_, inverter);
    else
        general_cpu::factorise(a, alpha, lower_, factors_, inverter);
}

Rounding SyncFreeIlu::rounded(const BsrMatrix& a) {
    if constexpr (cuda_built)
        if (gpu_pattern_) {
            rounded_ = std::make_unique<RoundedFactors>(*gpu_pattern_, options_.storage, a.dof(), label);
            return rounded_->round(*gpu_pattern_, factors_.values.data(), a);
        }
    if (reduced_.storage() != options_.storage)
        reduced_ = general_cpu::reduced_rows(context_, options_.storage, factors_, label);
    return general_cpu::round(factors_, a, reduced_);
}

void SyncFreeIlu::hand_on() {
    if (swept_) swept_->take(factors_, options_.name);
    if constexpr (cuda_built) {
        const StoredView stored = rounded_ ? rounded_->stored() : StoredView{factors_.values.data()};
        if (sliced_) sliced_->take(stored);
        if (part_solve_) part_solve_->take(stored, gpu_pattern_->pattern->row_begin(), gpu_pattern_->diagonal.data());
        rounded_.reset();
    }
}

void SyncFreeIlu::apply(const Vector& r, Vector& z) const {
    if (swept_) return swept_->apply(r, z);
    if constexpr (cuda_built) {
        if (part_solve_) return part_solve_->apply(r, z);
        if (sliced_) return sliced_->solve(r, z);
    }
    {
        const ProfileScope scope(context_, "lower", bytes_per_apply() / 2);
        general_cpu::lower_solve(factors_, lower_, r.data(), z.data(), reduced());
    }
    const ProfileScope scope(context_, "upper", bytes_per_apply() / 2);
    general_cpu::upper_solve(factors_, upper_, z.data(), reduced());
}

NumericSetup SyncFreeIlu::numeric_setup(const SystemMatrix& matrix) {
    NumericSetup numeric;
    numeric.run = [this, &a = general(matrix)] { compute(a); };
    numeric.analysis = symbolic_seconds();
    return numeric;
}

const Buffer<Index>& SyncFreeIlu::diagonals() const {
    return gpu_pattern_ ? gpu_pattern_->diagonal : factors_.filled.diagonal;
}

GeneralFactors SyncFreeIlu::widened() const {
    if constexpr (cuda_built) {
        if (sliced_) return sliced_->widened(factors_);
        if (part_solve_) return part_solve_->widened(factors_, diagonals());
    }
    return general_cpu::widened(factors_, reduced_);
}

LduFactors SyncFreeIlu::ldu() const {
    return is_reduced(options_.storage) ? ldu_of(widened(), diagonals()) : ldu_of(factors_, diagonals());
}

std::string SyncFreeIlu::solve_way() const {
    if (options_.sweeps || options_.parts || !factors_.filled.pattern || factors_.pattern().rows() == 0) return "";
    if constexpr (cuda_built)
        if (sliced_) return name_of(sliced_->way());
    return lower_.goes_by_level() || upper_.goes_by_level() ? name_of(SolveWay::levels) : "natural_order";
}

ApplicationCheck SyncFreeIlu::check_application(const SystemMatrix& /*a*/, const Vector& r, const Vector& z,
                                                const MakeInDouble& /*in_double*/) const {
    if (options_.sweeps) return check_sweeps(ldu(), factors_.dof, *options_.sweeps, r, z);
    const double error = is_reduced(options_.storage) ? error_of_solves(widened(), diagonals(), r, z)
                                                      : error_of_solves(factors_, diagonals(), r, z);
    return {error, bound_of_double(), ""};
}

Index SyncFreeIlu::bytes_per_apply() const {
    if (swept_) return swept_->bytes_per_apply();
    return general_cpu::bytes_per_apply(factors_.pattern().rows(), factors_.pattern().blocks(), factors_.dof,
                                        options_.storage);
}

PreconditionerPlan SyncFreeIlu::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const Context host = setting.context.host();
    const auto kept = kept_symbolic(host, key_of(options, a), label);
    const GraphParts& parts = kept->symbolic->parts;
    const FilledPattern& filled = kept->symbolic->filled;
    const Index rows = filled.pattern->rows();
    PreconditionerPlan plan;
    plan.kept = kept;
    plan.space = a.natural_space();
    const BlockCounts of_factors{rows, filled.pattern->blocks(), a.dof()};
    const ValueBytes of_values = bytes_of_values(options, of_factors, setting.context.backend());
    const Index held = of_values.held + bytes_of_sweeps(options, of_factors);
    plan.bytes = filled.bytes() + held + (options.parts ? parts.bytes() : 0);
    plan.setup_bytes = of_values.in_setup;
    if (setting.context.backend() == Backend::cpu)
        plan.bytes += bytes_of_walks(host, options, *filled.pattern, a.dof());
    if constexpr (cuda_built)
        if (setting.context.backend() == Backend::cuda) {
            const RowCounts counts = row_counts(filled, a.symmetric());
            const SyncFreeShape shape = shape_of(options, counts, a.dof(), a.symmetric());
            const OrderSizes sizes = planned_sizes(setting.context, *kept->symbolic, needs_of(options, shape));
            plan.bytes = held + GpuPattern::bytes(filled, a.pattern()->blocks(), shape.needs_a_diagonal()) +
                         (options.fixed_point_sweeps > 0 ? FixedPointCuda::bytes(counts, swept_shape(shape))
                                                         : SyncFreeCuda::bytes(filled, sizes, shape));
            if (options.sweeps)
                plan.bytes += SweptFactors::bytes_of_long_rows(filled, rows, a.dof()) +
                              SweptFactors::bytes_of_turns(*options.sweeps, Backend::cuda);
            if (options.parts && !options.sweeps) {
                plan.bytes += PartSolve::bytes(options.part_variant, *kept->symbolic, a.dof(), options.storage);
            } else if (!options.sweeps) {
                plan.bytes += SlicedSolve::bytes(rows, sizes, a.dof(), options.storage);
                plan.setup_bytes += 2 * rows * Index(sizeof(int));
            }
        }
    plan.bytes_per_apply = general_cpu::bytes_per_apply(rows, filled.pattern->blocks(), a.dof(), options.storage);
    if (options.sweeps) {
        plan.bytes_per_apply = SweptFactors::bytes_per_apply(filled, a.dof(), *options.sweeps);
    }
    plan.traits = traits_of(options, a.symmetric());
    return plan;
}

std::vector<KernelSet> SyncFreeIlu::kernels([[maybe_unused]] const SyncFreeOptions& options,
                                            [[maybe_unused]] const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        // The pattern is filled here, because it decides how many threads have a row.
        const MatrixShape& a = setting.matrix;
        const auto kept = kept_symbolic(setting.context.host(), key_of(options, a), label);
        const SyncFreeShape shape =
            shape_of(options, row_counts(kept->symbolic->filled, a.symmetric()), a.dof(), a.symmetric());
        const bool solves = !options.sweeps, by_parts = options.parts.has_value();
        const FactorStorage storage = options.storage;
        const SubdomainVariant variant = options.part_variant;
        const bool swept = options.fixed_point_sweeps > 0;
        const rtc::Programs of_sweeps =
            options.sweeps ? SweptFactors::programs(kept->symbolic->filled, a.dof(), *options.sweeps) : rtc::Programs{};
        return kernels_named(name_of_kernels(options), a, storage,
                             [shape, solves, by_parts, variant, swept, storage, of_sweeps, way = options.way] {
                                 rtc::Programs programs = swept ? FixedPointCuda::programs(swept_shape(shape))
                                                                : SyncFreeCuda::programs(shape);
                                 std::ranges::move(level_programs(), std::back_inserter(programs));
                                 std::ranges::copy(of_sweeps, std::back_inserter(programs));
                                 if (solves)
                                     std::ranges::move(by_parts ? PartSolve::programs(variant, shape.dof, storage)
                                                                : SlicedSolve::programs(shape.dof, way, storage),
                                                       std::back_inserter(programs));
                                 return programs;
                             });
    }
    return {};
}

}  // namespace hyperplane
