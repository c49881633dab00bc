// SPDX-License-Identifier: BSD-3-Clause
// Traits of these factors that follow from a deck's keys, and the words that messages add about them.
#include <fmt/format.h>

#include "precond/factors/rounding_events.hpp"
#include "precond/sync_free_ilu/options.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {

void judge_rounding(const Rounding& met, const BsrMatrix& a, const SyncFreeOptions& options, SetupReport& report) {
    const std::shared_ptr<const RowOrder> order = order_of(a);
    const Index block_row = met.overflow.cell.x, given = order ? Index(order->given[block_row]) : block_row;
    judge_at(fmt::format("in row {}", given * a.dof() + met.overflow.component + 1), met, options.storage, options.name,
             report);
}

SetupReport factor_general(const BsrMatrix& a, const SyncFreeOptions& options,
                           const std::function<void(double, PivotInverter&)>& build) {
    const int sweeps = options.fixed_point_sweeps;
    const std::string remark =
        sweeps == 0 ? ""
                    : fmt::format(
                          " It was found after {} sweeps, which may not converge for this matrix; sync_free_ilu "
                          "factors exactly.",
                          sweeps);
    const PivotRules& rules = options.pivots.rules;
    return factor_with_policy(a, rules, options.pivots.shift, options.name, build, remark,
                              advice_if_indefinite(a.symmetric(), rules, options.name));
}

PreconditionerTraits traits_of(const SyncFreeOptions& options, bool matrix_is_symmetric) {
    const bool symmetric = matrix_is_symmetric && !options.pivots.rules.indefinite;
    return options.sweeps
               ? jacobi_traits(*options.sweeps, symmetric)
               : PreconditionerTraits{.fixed = true, .symmetric = symmetric, .varies = varying(options.part_variant)};
}

std::string advice_if_indefinite(bool symmetric, const PivotRules& rules, const std::string& name) {
    if (!symmetric || rules.indefinite) return "";
    return fmt::format(
        " A symmetric matrix whose pivots may be negative, but not zero, is factored as L D L^T with {}indefinite = "
        "true "
        "and solver.name = gmres.",
        name == "sync_free_ilu" ? "preconditioner." : "preconditioner.name = sync_free_ilu, ");
}

}  // namespace hyperplane
