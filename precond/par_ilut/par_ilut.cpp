// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/par_ilut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/timer.hpp"
#include "precond/par_ilut/candidates.hpp"
#include "precond/sync_free_ilu/exported.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

ParIlutOptions read_options(const Parameters& parameters, const PreconditionerSetting& setting) {
    const std::string section = "preconditioner";
    if (setting.context.backend() == Backend::cuda)
        throw UsageError(
            "preconditioner.name = par_ilut factors on a CPU alone; set device.backend = cpu, or use sync_free_ilu, "
            "jacobi_sweeps, jacobi or none");
    ParIlutOptions options;
    options.fill_limit = parameters.real(section, "fill_limit");
    options.rounds = int(parameters.integer(section, "rounds"));
    options.sweeps = int(parameters.integer(section, "sweeps"));
    options.candidates = int(parameters.integer(section, "candidates"));
    options.tolerance = parameters.real(section, "tolerance");
    options.pivots = pivot_options(parameters);
    const auto refuse = [&](const char* key, const char* needed) {
        if (parameters.is_given(section, key))
            throw UsageError(fmt::format("{} means nothing with preconditioner.rounds = 0{}; leave it out, or set {}",
                                         parameters.where(section, key), needed, "preconditioner.rounds"));
    };
    if (options.rounds == 0)
        for (const char* key : {"fill_limit", "candidates", "tolerance"}) refuse(key, "");
    if (options.rounds == 0 && options.sweeps == 0 && options.pivots.rules.policy != PivotPolicy::boost)
        refuse("pivot_boost", ", sweeps = 0 and no pivot_policy = boost");
    return options;
}

/// The limits of both triangles without the diagonal, where `a` is A's pattern with all diagonal blocks.
par_ilut::FillLimits limits_of(const FilledPattern& a, double fill_limit) {
    const Index rows = a.pattern->rows(), most = rows * (rows - 1) / 2;
    const auto of = [&](Index beside) {
        const double limit = std::floor(fill_limit * double(beside + rows)) - double(rows);
        return std::max(beside, limit < double(most) ? Index(limit) : most);
    };
    return {of(a.lower), of(a.pattern->blocks() - rows - a.lower)};
}

/// Bytes of X on a pattern that is not A's.
Index bytes_of(const MatrixShape& a, Index blocks) {
    return BlockPattern::bytes(a.block_rows(), blocks) + a.block_rows() * Index(sizeof(Index)) +
           a.pattern()->blocks() * Index(sizeof(int)) + blocks * a.dof() * a.dof() * Index(sizeof(double));
}

/// Bytes at the peak of a set-up whose round begins with `before` bytes of X, adds `more` blocks and keeps `kept`.
Index peak_of(const PreconditionerSetting& setting, const ParIlutOptions& options, Index before, Index kept,
              Index more) {
    const MatrixShape& a = setting.matrix;
    const Index rows = a.block_rows(), size = a.dof() * a.dof() * Index(sizeof(double));
    const Index inverse = rows * size, spare = options.sweeps > 0 ? kept * size : 0;
    if (options.rounds == 0) return inverse + before + spare;
    const Index large = kept + more < rows * rows ? kept + more : rows * rows;
    const int threads = setting.context.threads_for(kept * a.dof() * a.dof());
    const Index searching = before + par_ilut::search_bytes(rows, more, a.dof(), a.symmetric(), threads);
    const Index joining = before + par_ilut::list_bytes(rows, more, a.dof()) + bytes_of(a, large);
    const Index sweeping = bytes_of(a, large) + large * size;
    const Index selecting = bytes_of(a, large) + par_ilut::selection_bytes(large) + bytes_of(a, kept);
    return inverse + std::max({searching, joining, sweeping, selecting, bytes_of(a, kept) + spare});
}

}  // namespace

void ParIlut::make_pattern(const BsrMatrix& a, double alpha, Buffer<double>& inverse) {
    const PivotRules guesses = general_cpu::rules_of_guesses(options_.pivots.rules);
    const auto invert = [&](GeneralFactors& x) {
        PivotInverter guess(guesses, places_of(a), a.dof(), a.symmetric());
        general_cpu::invert_diagonals(a, x, inverse.data(), guess);
    };
    const auto sweep = [&](GeneralFactors& x) {
        Buffer<double> made(context_, label, x.value_count());
        general_cpu::sweep(a, alpha, x, inverse.data(), made.data());
        std::swap(x.values, made);
        invert(x);
    };
    GeneralFactors& x = factors_;
    x.filled = filled_pattern(context_, a.pattern(), 0, label);
    x.values = Buffer<double>(context_, label, x.value_count());
    general_cpu::sweep(a, alpha, x, nullptr, x.values.data());
    invert(x);
    const par_ilut::FillLimits limits = limits_of(x.filled, options_.fill_limit);
    double before = 0.0;
    for (rounds_ = 0; rounds_ < options_.rounds; ++rounds_) {
        {
            const par_ilut::Candidates more = par_ilut::candidates_of(a, alpha, x, inverse.data(), options_.candidates);
            if (options_.tolerance > 0.0 && rounds_ > 0 && !(more.residual < (1.0 - options_.tolerance) * before))
                break;
            before = more.residual;
            x = par_ilut::with_candidates(a, x, more);
        }
        sweep(x);
        x = par_ilut::with_largest(a, x, inverse.data(), limits);
        sweep(x);
    }
}

void ParIlut::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    lower_ = {};
    upper_ = {};
    factors_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    Buffer<double> inverse(context_, label, a.pattern()->rows() * a.dof() * a.dof());
    make_pattern(a, alpha, inverse);
    if (options_.sweeps > 0) {
        general_cpu::FixedPointScratch scratch{Buffer<double>(context_, label, factors_.value_count()),
                                               std::move(inverse)};
        general_cpu::sweep_to_factors(a, alpha, options_.sweeps, options_.pivots.rules, scratch, factors_, inverter);
    }
    const Index work = RowWalk::work_of_solve(factors_.pattern().blocks(), a.dof());
    lower_ = RowWalk(context_, factors_.pattern(), Side::lower, work, label);
    upper_ = RowWalk(context_, factors_.pattern(), Side::upper, work, label);
    if (options_.sweeps == 0) general_cpu::factorise(a, alpha, lower_, factors_, inverter);
}

SetupReport ParIlut::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    const auto begin = std::chrono::steady_clock::now();
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, "par_ilut",
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); },
        options_.sweeps > 0 ? fmt::format(" It was found after {} sweeps, which may not converge for this matrix; "
                                          "preconditioner.sweeps = 0 factors exactly.",
                                          options_.sweeps)
                            : "");
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factors_.values.size() * Index(sizeof(double)) + factors_.filled.bytes();
    return report;
}

void ParIlut::apply(const Vector& r, Vector& z) const {
    general_cpu::lower_solve(factors_, lower_, r.data(), z.data());
    general_cpu::upper_solve(factors_, upper_, z.data());
}

SweepCounts ParIlut::sweeps() const {
    SweepCounts counts;
    if (options_.sweeps > 0) {
        counts.setup = options_.sweeps;
        counts.bytes_of_setup_sweep = 2 * factors_.values.size() * Index(sizeof(double)) + factors_.pattern().bytes();
    }
    return counts;
}

Index ParIlut::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(factors_.pattern().rows(), factors_.pattern().blocks(), factors_.dof);
}

LduFactors ParIlut::ldu() const {
    return ldu_of(factors_, factors_.filled.diagonal);
}

PreconditionerPlan ParIlut::plan(const ParIlutOptions& options, const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const FilledPattern own = filled_pattern(setting.context.host(), a.pattern(), 0, label);
    const par_ilut::FillLimits limits = limits_of(own, options.fill_limit);
    const Index kept = a.block_rows() + limits.lower + limits.upper, least = own.pattern->blocks();
    const Index more = par_ilut::most_candidates(*a.pattern(), a.symmetric(), options.candidates);
    const Index first = own.bytes() + least * a.dof() * a.dof() * Index(sizeof(double));
    const Index walks = 2 * RowWalk::bytes(setting.context, a.block_rows(), RowWalk::work_of_solve(kept, a.dof()));
    PreconditionerPlan plan;
    plan.space = a.natural_space();
    // The least is held if the factors have as many entries as A, the most if all limits are reached.
    plan.bytes = options.rounds == 0 ? first : bytes_of(a, least);
    const Index most_held = options.rounds == 0 ? first : bytes_of(a, kept);
    const Index least_peak = peak_of(setting, options, first, least, 0);
    const Index most_peak = options.rounds == 0 ? least_peak : peak_of(setting, options, most_held, kept, more);
    plan.most_when = "all that fill_limit and candidates allow is found";
    plan.setup_bytes = least_peak - plan.bytes;
    plan.most_bytes = plan.bytes + std::max(most_held - plan.bytes, most_peak - least_peak) + walks;
    plan.bytes_per_apply = general_cpu::bytes_per_apply(a.block_rows(), kept, a.dof());
    plan.traits = {.fixed = true, .symmetric = a.symmetric()};
    return plan;
}

PreconditionerRow par_ilut_row() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    PreconditionerRow row;
    row.name = "par_ilut";
    row.summary = "threshold ILU, or IC of a symmetric matrix, of general matrices: the largest entries are kept";
    row.explanation =
        "ParILUT, of symmetric matrices ParICT: each round adds the entries of A - L U to the pattern, makes a "
        "fixed-point sweep, keeps the largest entries of each triangle, and makes another sweep. On the last pattern "
        "the factors are found by an elimination, or by fixed-point sweeps. Blocks are compared by their Frobenius "
        "norm. It runs on a CPU. Source: Anzt, Chow, Dongarra, ParILUT: a new parallel threshold ILU factorization, "
        "SIAM J. Sci. Comput. 40, 2018.";
    row.kinds = {MatrixKind::general};
    row.parameters = {
        {section, "fill_limit", real, "2",
         "the most entries of a triangle of the factors, as a multiple of those of the matrix's triangle; both with "
         "the diagonal",
         "", Bound{1}, Bound{1000}},
        {section, "rounds", integer, "5", "how often entries are added and removed; 0: the pattern of the matrix", "",
         Bound{0}, Bound{1000}},
        {section, "sweeps", integer, "0",
         "number of fixed-point sweeps on the last pattern, after the rounds; 0: the factors are found by an "
         "elimination",
         "", Bound{0}, Bound{10000}},
        {section, "candidates", integer, "2",
         "the most entries that a round adds to a row, as a multiple of those of the matrix's row; the largest are "
         "taken. It bounds the memory of the set-up",
         "", Bound{1}, Bound{1000000}},
        {section, "tolerance", real, "0",
         "no further round if the last one has reduced the Frobenius norm of A - L U by less than this part of it; 0: "
         "all rounds",
         "", Bound{0}, Bound{1}},
    };
    for (ParameterSpec spec : pivot_parameters()) {
        if (spec.key == "pivot_boost") {
            spec.description += ", and of a pivot that cannot be used in a fixed-point sweep";
            spec.only_with.reset();
        }
        row.parameters.push_back(std::move(spec));
    }
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return std::unique_ptr<Preconditioner>(new ParIlut(setting.context, read_options(parameters, setting)));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return ParIlut::plan(read_options(parameters, setting), setting);
    };
    return row;
}

}  // namespace hyperplane
