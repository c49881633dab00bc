// SPDX-License-Identifier: BSD-3-Clause
// The results of a run's final state: norms of the error, and fields.
#pragma once

#include "apps/run/case.hpp"
#include "apps/run/outcome.hpp"

namespace hyperplane {

/// Writes the norms of u's error to the record if the run succeeded. If output.fields is set, writes u to the VTKHDF
/// file beside the record, also after a failure; then u is the last good state.
void write_results(const Case& a_case, const Vector& u, double time, RecordWriter& record, Outcome& outcome);

/// The beginning of a line of progress: "step 3 of 10, Newton step 2, t = 0.3, dt = 0.1"; empty if there is only one
/// step.
std::string step_title(const Case& a_case, const StepRow& row, Index newton);

}  // namespace hyperplane
