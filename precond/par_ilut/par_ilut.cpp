// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/par_ilut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "core/timer.hpp"
#include "precond/checks/applications.hpp"
#include "precond/checks/general_applications.hpp"
#include "precond/general/factors/advice_if_indefinite.hpp"
#include "precond/general/factors/check.hpp"
#include "precond/general/factors/exported.hpp"
#include "precond/general/solves/host_solve.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/par_ilut/candidates.hpp"
#include "precond/par_ilut/factors_on_gpu.hpp"
#include "precond/par_ilut/rounds_cuda.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

/// The limits of both triangles of `a`, which is A's pattern with all diagonal blocks.
par_ilut::FillLimits limits_of(const FilledPattern& a, double fill_limit) {
    const Index rows = a.pattern->rows();
    return par_ilut::limits_of(rows, a.lower, a.pattern->blocks() - rows - a.lower, fill_limit);
}
/// Those of a pattern that may lack diagonal blocks, which the host can read.
par_ilut::FillLimits limits_of(const BlockPattern& a, const ParIlutOptions& options) {
    Index lower = 0, diagonal = 0;
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            lower += a.column()[at] < row;
            diagonal += a.column()[at] == row;
        }
    const Index upper = a.blocks() - diagonal - lower;
    if (options.rounds == 0) return {lower, upper};
    return par_ilut::limits_of(a.rows(), lower, upper, options.fill_limit);
}

/// Bytes of a pattern that is not A's.
Index bytes_of_pattern(const BlockCounts& a, Index blocks) {
    return BlockPattern::bytes(a.rows, blocks) + a.rows * Index(sizeof(Index)) + a.blocks * Index(sizeof(int));
}
/// Bytes of X on such a pattern.
Index bytes_of(const BlockCounts& a, Index blocks) {
    return bytes_of_pattern(a, blocks) + blocks * a.dof * a.dof * Index(sizeof(double));
}

/// Bytes at the peak of a set-up whose round begins with `before` bytes of X, adds `more` blocks and keeps `kept`.
Index peak_of(const Context& host, const BlockCounts& a, bool symmetric, const ParIlutOptions& options, Index before,
              Index kept, Index more) {
    const Index rows = a.rows, size = a.dof * a.dof * Index(sizeof(double));
    const Index inverse = rows * size, spare = options.sweeps > 0 ? kept * size : 0;
    if (options.rounds == 0) return inverse + before + spare;
    const Index large = std::min(kept + more, a.blocks_if_full());
    const int threads = host.threads_for(kept * a.dof * a.dof);
    const Index searching =
        before + par_ilut::search_bytes(rows, more, a.dof, symmetric, threads, options.tolerance > 0.0);
    const Index joining = before + par_ilut::list_bytes(rows, more, a.dof) + bytes_of(a, large);
    const Index sweeping = bytes_of(a, large) + large * size;
    const Index selecting = bytes_of(a, large) + par_ilut::selection_bytes(large) + bytes_of(a, kept);
    return inverse + std::max({searching, joining, sweeping, selecting, bytes_of(a, kept) + spare});
}

/// Adds Jacobi sweeps to a plan: from `least` to `most` bytes are held with them. Of the set-up before they need what
/// the plan says.
void add_sweeps(PreconditionerPlan& plan, Index least, Index most) {
    const Index peak = plan.bytes + plan.setup_bytes,
                most_peak = std::max(plan.most_bytes, plan.bytes) + plan.setup_bytes;
    plan.bytes = least;
    plan.setup_bytes = std::max(peak, least) - least;
    plan.most_bytes = std::max(most, most_peak - plan.setup_bytes);
}

}  // namespace

ParIlut::ParIlut(const Context& context, const ParIlutOptions& options) : context_(context), options_(options) {}
ParIlut::~ParIlut() = default;

void ParIlut::make_pattern(const BsrMatrix& a, double alpha, const PivotRules& rules, Buffer<double>& inverse) {
    const PivotRules guesses = general_cpu::rules_of_guesses(rules);
    const auto invert = [&](GeneralFactors& x) {
        PivotInverter guess(guesses, places_of(a), a.dof(), a.symmetric());
        general_cpu::invert_diagonals(a, x, inverse.data(), guess);
    };
    const auto sweep = [&](GeneralFactors& x) {
        const ProfileScope scope(a.context(), "sweep");
        Buffer<double> made(a.context(), label, x.value_count());
        general_cpu::sweep(a, alpha, x, inverse.data(), made.data());
        std::swap(x.values, made);
        invert(x);
    };
    GeneralFactors& x = factors_;
    x.filled = filled_pattern(a.context(), a.pattern(), 0, label);
    x.values = Buffer<double>(a.context(), label, x.value_count());
    general_cpu::sweep(a, alpha, x, nullptr, x.values.data());
    invert(x);
    const par_ilut::FillLimits limits = limits_of(x.filled, options_.fill_limit);
    double before = 0.0;
    for (rounds_ = 0; rounds_ < options_.rounds; ++rounds_) {
        {
            const ProfileScope scope(a.context(), "candidates");
            const par_ilut::Candidates more =
                par_ilut::candidates_of(a, alpha, x, inverse.data(), options_.candidates, options_.tolerance > 0.0);
            if (options_.tolerance > 0.0 && rounds_ > 0 && !(more.residual < (1.0 - options_.tolerance) * before))
                break;
            before = more.residual;
            x = par_ilut::with_candidates(a, x, more);
        }
        sweep(x);
        {
            const ProfileScope scope(a.context(), "selection");
            x = par_ilut::with_largest(a, x, inverse.data(), limits);
        }
        sweep(x);
    }
}

void ParIlut::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    solve_.reset();
    lower_ = {};
    on_gpu_.reset();
    factors_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    if constexpr (cuda_built)
        if (context_.backend() == Backend::cuda) {
            on_gpu_ = par_ilut::factors_on_gpu(a, options_, alpha, inverter, rounds_);
            return;
        }
    const Context& host = a.context();
    Buffer<double> inverse(host, label, a.pattern()->rows() * a.dof() * a.dof());
    make_pattern(a, alpha, inverter.rules(), inverse);
    const ProfileScope scope(host, "factors");
    if (options_.sweeps > 0) {
        general_cpu::FixedPointScratch scratch{Buffer<double>(host, label, factors_.value_count()), std::move(inverse)};
        general_cpu::sweep_to_factors(a, alpha, options_.sweeps, inverter.rules(), scratch, factors_, inverter);
    }
    const Index work = RowWalk::work_of_solve(factors_.pattern().blocks(), a.dof());
    const bool by_level = options_.way == SolveWay::levels;
    lower_ = RowWalk(host, factors_.pattern(), Side::lower, work, label, by_level);
    if (!options_.jacobi)
        solve_ = std::make_unique<HostSolve>(host, factors_, lower_,
                                             RowWalk(host, factors_.pattern(), Side::upper, work, label, by_level),
                                             FactorStorage::double_precision);
    if (options_.sweeps == 0) general_cpu::factorise(a, alpha, lower_, factors_, inverter);
}

SetupReport ParIlut::setup(const SystemMatrix& matrix) {
    const auto begin = std::chrono::steady_clock::now();
    const BsrMatrix& a = general(matrix);
    if (a.pattern()->slab()) return setup_on_ranks(a);
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, "par_ilut",
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); },
        options_.sweeps > 0 ? fmt::format(" It was found after {} sweeps, which may not converge for this matrix; "
                                          "preconditioner.sweeps = 0 factors exactly.",
                                          options_.sweeps)
                            : "",
        advice_if_indefinite(a.symmetric(), options_.pivots.rules, "par_ilut"));
    if (options_.jacobi) {
        factors();
        on_gpu_.reset();
        solve_ = std::make_unique<SweptFactors>(context_, factors_, *options_.jacobi);
        solve_->take(factors_, "par_ilut");
    }
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes =
        blocks() * a.dof() * a.dof() * Index(sizeof(double)) +
        (has_the_pattern_of_a() ? a.pattern()->rows() * Index(sizeof(Index))
                                : bytes_of_pattern({a.pattern()->rows(), a.pattern()->blocks(), a.dof()}, blocks()));
    return report;
}

const GeneralSolve& ParIlut::solve() const {
    if constexpr (cuda_built)
        if (on_gpu_) return *on_gpu_->solve;
    return *solve_;
}

const GeneralFactors& ParIlut::factors() const {
    if constexpr (cuda_built)
        if (on_gpu_ && !factors_.filled.pattern) factors_ = on_gpu_->on_host(factors_.dof, factors_.symmetric);
    return factors_;
}

Index ParIlut::blocks() const {
    if constexpr (cuda_built)
        if (on_gpu_) return on_gpu_->pattern->pattern->blocks();
    return factors_.pattern().blocks();
}

Index ParIlut::rows() const {
    if constexpr (cuda_built)
        if (on_gpu_) return on_gpu_->pattern->pattern->rows();
    return factors_.filled.pattern ? factors_.pattern().rows() : 0;
}

bool ParIlut::has_the_pattern_of_a() const {
    if constexpr (cuda_built)
        if (on_gpu_) return on_gpu_->pattern->is_that_of_a();
    return factors_.filled.place.size() == 0;
}

SweepCounts ParIlut::sweeps() const {
    const BlockCounts factors{rows(), rows() > 0 ? blocks() : 0, factors_.dof};
    SweepCounts counts;
    if (options_.jacobi) counts.apply = options_.jacobi->lower + options_.jacobi->upper;
    if (options_.sweeps > 0) {
        counts.setup = options_.sweeps;
        counts.bytes_of_setup_sweep = 2 * factors.value_bytes() + BlockPattern::bytes(factors.rows, factors.blocks);
    }
    return counts;
}

PreconditionerTraits ParIlut::traits_of(const ParIlutOptions& options, bool symmetric) {
    if (options.jacobi) return jacobi_traits(*options.jacobi, symmetric);
    return {.fixed = true, .symmetric = symmetric};
}

ApplicationCheck ParIlut::check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                            const MakeInDouble& in_double) const {
    if (slab_) return Preconditioner::check_application(a, r, z, in_double);
    if (options_.jacobi) return check_sweeps(ldu(), factors_.dof, *options_.jacobi, r, z);
    return {error_of_solves(factors(), factors().filled.diagonal, r, z), bound_of_double(), ""};
}

LduFactors ParIlut::ldu() const {
    return ldu_of(factors(), factors().filled.diagonal);
}

Index ParIlut::most_blocks(const ParIlutOptions& options, const BlockPattern& a) {
    const par_ilut::FillLimits limits = limits_of(a, options);
    return a.rows() + limits.lower + limits.upper;
}

PreconditionerPlan ParIlut::plan(const ParIlutOptions& options, const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    if (a.pattern()->slab()) return plan_of_rank(options, setting);
    const Context host = setting.context.host();
    const FilledPattern own = filled_pattern(host, a.pattern(), 0, label);
    const par_ilut::FillLimits limits = limits_of(own, options.fill_limit);
    const Index kept = a.block_rows() + limits.lower + limits.upper, least = own.pattern->blocks();
    const Index more = par_ilut::most_candidates(*a.pattern(), a.symmetric(), options.candidates);
    PreconditionerPlan plan;
    plan.space = a.natural_space();
    plan.most_when = "all that fill_limit and candidates allow is found";
    const bool searches_on_host = setting.context.backend() == Backend::cpu || a.dof() > 1;
    if (options.rounds > 0 && searches_on_host)
        plan.warning = par_ilut::about_long_rows(*a.pattern(), a.symmetric(), options.in_rcm);
    if (options.rounds > 0 && plan.warning.empty())
        plan.warning = par_ilut::about_bare_rows(*a.pattern(), a.symmetric());
    plan.bytes_per_apply = general_cpu::bytes_per_apply(a.block_rows(), kept, a.dof());
    plan.traits = traits_of(options, a.symmetric());
    Index least_sweeps = 0, most_sweeps = 0;
    if (options.jacobi) {
        const Backend backend = setting.context.backend();
        plan.bytes_per_apply =
            SweptFactors::bytes_per_apply(a.block_rows(), limits.lower, limits.upper, a.dof(), *options.jacobi);
        if (options.rounds == 0) {  // the factors have the pattern `own`
            least_sweeps = most_sweeps = SweptFactors::bytes(own, a.dof(), *options.jacobi, backend);
        } else {
            least_sweeps = SweptFactors::least_bytes({a.block_rows(), least, a.dof()}, *options.jacobi, backend);
            most_sweeps = SweptFactors::most_bytes({a.block_rows(), kept, a.dof()}, *options.jacobi, backend);
        }
    }
    if constexpr (cuda_built)
        if (setting.context.backend() == Backend::cuda) {
            par_ilut::plan_on_gpu(options, setting, own, limits, plan);
            if (options.jacobi) add_sweeps(plan, least_sweeps, most_sweeps);
            return plan;
        }
    const Index first = own.bytes() + least * a.dof() * a.dof() * Index(sizeof(double));
    const bool by_level = options.way == SolveWay::levels;
    const Index least_walks = RowWalk::least_bytes_of_both(a.block_rows(), by_level);
    const Index walks = RowWalk::most_bytes_of_both(host, a.block_rows(), kept, a.dof(), by_level) - least_walks;
    const BlockCounts counts{a.block_rows(), a.pattern()->blocks(), a.dof()};
    // The least is held if the factors have as many entries as A, the most if all limits are reached.
    plan.bytes = (options.rounds == 0 ? first : bytes_of(counts, least)) + least_walks;
    const Index most_held = (options.rounds == 0 ? first : bytes_of(counts, kept)) + least_walks;
    const auto peak = [&](Index before, Index blocks, Index added) {
        return peak_of(host, counts, a.symmetric(), options, before, blocks, added);
    };
    const Index least_peak = peak(first, least, 0);
    const Index most_peak = options.rounds == 0 ? least_peak : peak(most_held, kept, more);
    plan.setup_bytes = least_peak - plan.bytes + least_walks;
    plan.most_bytes = plan.bytes + std::max(most_held - plan.bytes, most_peak - least_peak) + walks;
    if (options.jacobi) add_sweeps(plan, plan.bytes + least_sweeps, most_held + walks + most_sweeps);
    return plan;
}

std::vector<KernelSet> ParIlut::kernels([[maybe_unused]] const ParIlutOptions& options,
                                        [[maybe_unused]] const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        return kernels_of_general(
            "par_ilut", setting.matrix, FactorStorage::double_precision, [options, a = setting.matrix] {
                const bool on_ranks = a.pattern()->slab() != nullptr;
                const BlockPattern& all = on_ranks ? *a.pattern()->whole() : *a.pattern();
                const par_ilut::FillLimits limits = limits_of(all, options);
                rtc::Programs programs =
                    options.jacobi ? SweptFactors::programs(all, limits.lower, limits.upper, a.dof(), *options.jacobi)
                    : on_ranks     ? SlicedSolve::programs_of_ranks(a.dof())
                                   : SlicedSolve::programs(a.dof(), options.way);
                if (on_ranks) return programs;
                std::ranges::move(par_ilut::programs_of_rounds(limits, a), std::back_inserter(programs));
                std::ranges::move(level_programs(), std::back_inserter(programs));
                return programs;
            });
    }
    return {};
}

CountedPlan par_ilut_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a) {
    const ParIlutOptions options = read_par_ilut_options(parameters, context.backend(), false);
    const Context host = context.host();
    const Index rows = a.rows, diagonal = rows * Index(sizeof(Index)), size = a.dof * a.dof * Index(sizeof(double));
    const auto bound = [&](double blocks) { return Index(std::min(blocks, double(a.blocks_if_full()))); };
    const Index completed = bound(double(a.blocks) + double(rows));  // no diagonal block was there
    // In the least case A's pattern is that of the factors.
    const bool rounds = options.rounds > 0;
    const Index first = diagonal + a.value_bytes();
    CountedPlan plan;
    plan.by_level = true;
    plan.most_when = rounds ? "all that fill_limit and candidates allow is found" : "";
    plan.bytes = rounds ? bytes_of(a, a.blocks) : first;
    plan.setup_bytes = peak_of(host, a, false, options, first, a.blocks, 0) - plan.bytes;
    const Index kept =
        rounds ? bound(options.fill_limit * (double(a.blocks) + 2.0 * double(rows)) - double(rows)) : completed;
    const Index more = bound(double(options.candidates) * (double(a.blocks) + double(rows)));
    const Index held =
        rounds ? bytes_of(a, kept)
               : diagonal + a.blocks * Index(sizeof(int)) + BlockPattern::bytes(rows, completed) + completed * size;
    plan.most_bytes = std::max(held, peak_of(host, a, true, options, held, kept, more)) +
                      RowWalk::most_bytes_of_both(host, rows, kept, a.dof);
    if (options.jacobi) {
        plan.bytes += SweptFactors::least_bytes(a, *options.jacobi, Backend::cpu);
        plan.most_bytes += SweptFactors::most_bytes({rows, kept, a.dof}, *options.jacobi, Backend::cpu);
    }
    return plan;
}

}  // namespace hyperplane
