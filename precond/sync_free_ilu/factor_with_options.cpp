// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/factor_with_options.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "precond/general/factors/advice_if_indefinite.hpp"

namespace hyperplane {

SetupReport factor_with_options(const BsrMatrix& a, const SyncFreeOptions& options,
                                const std::function<void(double alpha, PivotInverter& inverter)>& build) {
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

void judge_rounding(const Rounding& met, const BsrMatrix& a, const SyncFreeOptions& options, SetupReport& report) {
    const std::shared_ptr<const RowOrder> order = order_of(a);
    const Index block_row = met.overflow.cell.x, given = order ? Index(order->given[block_row]) : block_row;
    judge_at(fmt::format("in row {}", given * a.dof() + met.overflow.component + 1), met, options.storage, options.name,
             report);
}

}  // namespace hyperplane
