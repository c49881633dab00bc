// SPDX-License-Identifier: BSD-3-Clause
#include "precond/counted.hpp"
#include <algorithm>

#include "core/error.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/par_ilut/par_ilut.hpp"
#include "precond/scaling/scaled.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

const std::vector<CountedRow>& counted_preconditioners() {
    static const std::vector<CountedRow> rows{
        {"none", [](const Parameters&, const Context&, const BlockCounts&) { return CountedPlan(); }},
        {"jacobi", jacobi_by_counts},
        {"sync_free_ilu", sync_free_ilu_by_counts},
        {"jacobi_sweeps", jacobi_sweeps_by_counts},
        {"par_ilu", par_ilu_by_counts},
        {"par_ilut", par_ilut_by_counts},
        {"subdomain_ildu0", subdomain_by_counts}};
    return rows;
}

CountedPlan plan_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a) {
    const auto& rows = counted_preconditioners();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const CountedRow& one) {
        return one.name == parameters.text("preconditioner", "name");
    });
    if (row == rows.end())
        throw UsageError(parameters.where("preconditioner", "name") +
                         ": the memory that this takes follows from the pattern of the matrix, which the head of its "
                         "file does not give; leave --header out, so that the file is read");
    CountedPlan plan = row->plan(parameters, context, a);
    plan.most_bytes = std::max(plan.most_bytes, plan.bytes);
    plan.most_setup_bytes = std::max(plan.most_setup_bytes, plan.setup_bytes);
    const Index scaling = bytes_of_scaling(parameters, a);
    plan.bytes += scaling;
    plan.most_bytes += scaling;
    return plan;
}

}  // namespace hyperplane
