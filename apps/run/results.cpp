// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/results.hpp"

#include "apps/run/fields.hpp"
#include "core/interfaces/stop_reason.hpp"

namespace hyperplane {

namespace {

bool is_usable(const Outcome& outcome) {
    return outcome.code == ExitCode::ok || outcome.code == ExitCode::not_converged;
}

}  // namespace

bool has_good_state(const Case& a_case, const Outcome& outcome) {
    return is_usable(outcome) || !a_case.shape().linear || a_case.shape().regime == Regime::transient ||
           outcome.end == to_string(EndReason::time_not_finite);
}

void write_results(const Case& a_case, const Vector& u, double time, RecordWriter& record, Outcome& outcome) {
    const bool usable = is_usable(outcome), fields = a_case.parameters.boolean("output", "fields");
    if (!usable && !(fields && has_good_state(a_case, outcome))) return;
    Vector copy;
    const Vector& host = on_host(u, copy);
    if (usable && a_case.solution_belongs()) {
        outcome.errors = a_case.problem->errors(host, time);
        record.set_verification(outcome.errors);
    }
    if (!fields) return;
    TimerScope scope(outcome.timers, "output");
    outcome.fields_file = a_case.fields_path();
    write_fields(a_case, host, time, outcome.fields_file);
}

}  // namespace hyperplane
