// SPDX-License-Identifier: BSD-3-Clause
// [expect], the section that makes a deck a test.
#pragma once

#include <string>
#include <vector>

#include "apps/run/outcome.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

struct Judgement {
    ExitCode code;                   ///< the final exit code of the run
    int checked = 0;                 ///< number of expectations that applied
    std::vector<std::string> unmet;  ///< one sentence for each
    bool recorded = true;            ///< whether the record could be written
};

/// Throws UsageError where a key of [expect] names no diagnostic of the problem, or a bound is missing or no number;
/// `diagnostics` are the names of all.
void check_diagnostics(const Parameters& parameters, const std::vector<std::string>& diagnostics);
/// Whether the exact solution of a problem, if one is known, belongs to a run. In time it follows from the problem's
/// own initial state, so that a run which begins in the state of initial.file has none.
bool solution_belongs_to_run(const Parameters& parameters, Regime regime);
/// Throws UsageError where [expect] bounds an error norm that the run does not have; `norms` are the names of all those
/// of the problem.
void check_error_norm(const Parameters& parameters, const std::vector<std::string>& norms, Regime regime);

/// Compares an outcome with [expect]. Unmet expectations give ExitCode::expectation; a failure that expect.exit_code,
/// expect.stop_reason or expect.end expects gives ok; a preempted run is not judged.
Judgement judge(const Parameters& parameters, const Outcome& outcome);

}  // namespace hyperplane
