// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/par_ilu.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/error.hpp"
#include "precond/choice_key.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/par_ilu/sweeps.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

/// Incomplete factors by fixed-point sweeps (precond/par_ilu/sweeps.hpp).
class FixedPointFactorisation : public Factorisation {
public:
    FixedPointFactorisation(int sweeps, FactorSweepMode mode) : count_(sweeps), mode_(mode) {}

    void analyse(const IluFactors& factors) override;
    void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) override;
    void release_scratch() override;
    FactorisationMemory memory(const IluPattern& pattern, const Context& context) const override;
    std::vector<KernelSet> kernels(const IluPattern& pattern) const override;
    SweepCounts sweeps() const override;
    void set_sweeps(int count) override { count_ = count; }
    std::string remark() const override;
    const char* varies() const override { return mode_ == FactorSweepMode::async ? "mode = async" : ""; }

private:
    int count_;
    FactorSweepMode mode_;
    std::unique_ptr<FactorSweeps> sweeps_;
    std::optional<StructMatrix> spare_;  ///< a second set of factors; sweeps read one and write the other
};

void FixedPointFactorisation::analyse(const IluFactors& factors) {
    if (!sweeps_ || !sweeps_->serves(factors.pattern())) {
        sweeps_.reset();
        sweeps_ = std::make_unique<FactorSweeps>(factors.context(), factors.pattern());
    }
    if (!sweeps_->needs_spare(mode_)) {
        spare_.reset();
        return;
    }
    const StructMatrix& shape = factors.held();
    if (spare_ && spare_->layout() == shape.layout() && spare_->dof() == shape.dof() &&
        spare_->stencil().offsets() == shape.stencil().offsets() && spare_->storage() == shape.storage())
        return;
    spare_.reset();
    spare_.emplace(factors.context(), shape.layout(), shape.stencil(), shape.dof(), shape.storage(), "factor");
}

void FixedPointFactorisation::compute(double alpha, const PivotRules& rules, IluFactors& factors,
                                      PivotInverter& inverter) {
    const FactorTarget result = factors.target(factors.held());
    sweeps_->run(factors.matrix(), result, spare_ ? factors.target(*spare_) : FactorTarget{}, count_, mode_, alpha,
                 rules, inverter, factors.unit_in_double());
}

void FixedPointFactorisation::release_scratch() {
    spare_.reset();
    sweeps_->release_scratch();
}

FactorisationMemory FixedPointFactorisation::memory(const IluPattern& pattern, const Context& context) const {
    const Index spare =
        FactorSweeps::needs_spare(pattern, context.backend(), mode_) ? IluFactors::bytes_in_double(pattern) : 0;
    return {.kept = FactorSweeps::bytes(pattern), .scratch = spare + FactorSweeps::scratch_bytes(context, pattern)};
}

std::vector<KernelSet> FixedPointFactorisation::kernels(const IluPattern& pattern) const {
    return FactorSweeps::kernels(as_factored(pattern));
}

SweepCounts FixedPointFactorisation::sweeps() const {
    return {.setup = count_, .bytes_of_setup_sweep = sweeps_->bytes_of_sweep()};
}

std::string FixedPointFactorisation::remark() const {
    return fmt::format(
        " It was found after {} sweeps, which may not converge for this matrix; struct_ilu factors exactly.", count_);
}

ParameterTable par_ilu_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    ParameterTable table = ilu_parameters();
    for (ParameterSpec& spec : table)
        if (spec.key == "pivot_policy") {
            spec.description =
                "what happens if a pivot cannot be used after the last sweep: an error with its cell (fail), a "
                "growing shift of the whole diagonal (shift), or, of general matrices alone, a replaced pivot (boost)";
        } else if (spec.key == "pivot_boost") {
            spec.description =
                "size of a boosted pivot, and of one that cannot be used before the last sweep, as a fraction of its "
                "block's largest entry, or of its row's where the block of a general matrix is zero";
            spec.only_with.reset();  // whatever the policy for the last sweep
        }
    table.push_back({.section = section,
                     .key = "sweeps",
                     .type = integer,
                     .default_value = "5",
                     .description = "number of fixed-point sweeps over all stored entries, which begin with those of A",
                     .minimum = Bound{1},
                     .maximum = Bound{10000}});
    table.push_back(
        choice_key("mode", "sync",
                   "sync: a sweep reads only values of the sweep before, and every run gives the same bits; async: "
                   "new entries replace the old ones as soon as they are computed, not deterministic; on a GPU, for "
                   "up to 8 unknowns a point, in memory for one set of factors",
                   {"sync", "async"}));
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

/// par_ilu of a matrix on a grid.
std::unique_ptr<IluPreconditioner> par_ilu_of(const Parameters& parameters, const PreconditionerSetting& setting) {
    if (parameters.text("preconditioner", "pivot_policy") == "boost")
        throw UsageError(fmt::format("{}: on a grid, par_ilu boosts no pivots; set pivot_policy = fail or shift",
                                     parameters.where("preconditioner", "pivot_policy")));
    const FactorSweepMode mode =
        parameters.text("preconditioner", "mode") == "async" ? FactorSweepMode::async : FactorSweepMode::sync;
    const int sweeps = int(parameters.integer("preconditioner", "sweeps"));
    return std::make_unique<IluPreconditioner>(setting.context, ilu_options(parameters, "par_ilu"),
                                               std::make_unique<FixedPointFactorisation>(sweeps, mode),
                                               chosen_solve(parameters));
}

}  // namespace

PreconditionerRow par_ilu_row() {
    PreconditionerRow row = ilu_row("par_ilu", par_ilu_of);
    row.summary = "ILU(k) or IC(k) by fixed-point sweeps; exact solves or Jacobi sweeps";
    row.explanation =
        "Each sweep improves all entries of the factors at the same time, the first one those of A, so that L U "
        "approaches A on the pattern of ILU(k); many sweeps give the factors of struct_ilu. A symmetric matrix is "
        "factored as incomplete Cholesky. Source: Chow and Patel, Fine-grained parallel incomplete LU factorization, "
        "SIAM J. Sci. Comput. 37, 2015.";
    row.parameters = par_ilu_parameters();
    row.on_ranks = true;
    row.only_on_ranks = {{"mode", "sync"}, {"solve_mode", "sync"}};
    return row;
}

}  // namespace hyperplane
