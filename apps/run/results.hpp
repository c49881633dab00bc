// SPDX-License-Identifier: BSD-3-Clause
// The results of a run's final state: norms of the error, and fields.
#pragma once

#include "apps/run/case.hpp"
#include "apps/run/outcome.hpp"

namespace hyperplane {

/// Whether the state at the end of a run is worth keeping: it is the solution or, after a nonlinear step has failed or
/// where time cannot go on, the last good state.
bool has_good_state(const Case& a_case, const Outcome& outcome);

/// Writes the norms of u's error to the record if the run succeeded. If output.fields is set, writes u to the VTKHDF
/// file beside the record, also after a failure; then u is the last good state.
void write_results(const Case& a_case, const Vector& u, double time, RecordWriter& record, Outcome& outcome);

}  // namespace hyperplane
