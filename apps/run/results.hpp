// SPDX-License-Identifier: BSD-3-Clause
// What a run leaves of its final state: norms of the error, and fields.
#pragma once

#include "apps/run/case.hpp"
#include "apps/run/outcome.hpp"

namespace hyperplane {

/// Norms of u's error go into the record, of a run that solved what it was asked to; u as VTKHDF into the file beside
/// it, where output.fields asks for it, after a failure too: the last good state.
void write_results(const Case& a_case, const Vector& u, double time, RecordWriter& record, Outcome& outcome);

/// "step 3 of 10, Newton step 2, t = 0.3, dt = 0.1": what a progress line begins with; empty where there is one step.
std::string step_title(const Case& a_case, const StepRow& row, Index newton);

}  // namespace hyperplane
