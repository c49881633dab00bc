// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/results.hpp"

#include "core/ranks/cuts.hpp"
#include "io/vtkhdf.hpp"

namespace hyperplane {
namespace {

void write_fields(const Case& a_case, const Vector& u, Outcome& outcome) {
    TimerScope scope(outcome.timers, "output");
    outcome.fields_file = a_case.fields_path();
    std::vector<NamedField> fields;
    const RowOrder* const order = a_case.shape().order();
    const auto ordered = [&](std::vector<double> values) { return order ? order->to_given(values, 1) : values; };
    for (int c = 0; c < a_case.shape().dof; ++c)
        fields.push_back({a_case.shape().components.at(c), ordered(natural_order(u, c))});
    if (!is_first_rank(a_case.context)) return;
    write_vtkhdf(outcome.fields_file, a_case.shape().grid, fields, a_case.overwrite);
}

}  // namespace

void write_results(const Case& a_case, const Vector& u, double time, RecordWriter& record, Outcome& outcome) {
    const bool usable = outcome.code == ExitCode::ok || outcome.code == ExitCode::not_converged;
    const bool fields = a_case.parameters.boolean("output", "fields");
    if (!usable && (!fields || a_case.shape().linear)) return;
    Vector copy;
    const Vector& host = on_host(u, copy);
    if (usable) {
        outcome.errors = a_case.problem->errors(host, time);
        record.set_verification(outcome.errors);
    }
    if (fields) write_fields(a_case, host, outcome);
}

}  // namespace hyperplane
