// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/results.hpp"

#include <fmt/format.h>

#include <cmath>

#include "io/vtkhdf.hpp"

namespace hyperplane {
namespace {

void write_fields(const Case& a_case, const Vector& u, Outcome& outcome) {
    TimerScope scope(outcome.timers, "output");
    outcome.fields_file = a_case.fields_path();
    std::vector<NamedField> fields;
    for (int c = 0; c < a_case.shape().dof; ++c)
        fields.push_back({a_case.shape().components.at(c), natural_order(u, c)});
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

std::string step_title(const Case& a_case, const StepRow& row, Index newton) {
    const auto steps = a_case.steps();
    std::string title;
    if (a_case.time.pseudo())
        title = fmt::format("step {} of at most {}  CFL {:.4g}", row.step, *steps, row.cfl);
    else if (!steps || (*steps > 1 && !a_case.shape().linear))
        title = fmt::format("step {}{}  t {:.4g}  dt {:.3g}", row.step, steps ? fmt::format(" of {}", *steps) : "",
                            row.time, row.dt);
    else if (*steps > 1)
        title = fmt::format("step {} of {}", row.step, *steps);
    if (a_case.newton.judged) title += fmt::format("{}Newton {}", title.empty() ? "" : "  ", newton + 1);
    return title;
}

}  // namespace hyperplane
