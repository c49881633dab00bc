// SPDX-License-Identifier: BSD-3-Clause
// What to try where a solve or a set-up fails: only what the deck accepts, found by trying it, and only what can help.
// Trying it plans a run, for which a general matrix may be ordered and factored symbolically. That takes no more memory
// than the run did: what would need more is not advised.
#pragma once

#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "precond/factors/pivot_error.hpp"

namespace hyperplane {

/// One thing to try: keys with new values, "section.key=value".
struct Advice {
    std::vector<std::string> overrides;
    std::string why = {};  ///< what the values in use forbid; empty where the end of the solve says it
};

/// After a linear solve that did not converge, the best first; `history` may be empty where it is not known.
std::vector<Advice> advise(const Case& a_case, const SolveReport& report, const std::vector<HistoryEntry>& history);
/// After a set-up that met a pivot that it cannot use, and which these policies may mend. `predicted`: bytes that the
/// run was predicted to hold, of which a set-up that fails has used a part.
std::vector<Advice> advise_on_pivot(const Case& a_case, const PivotRemedies& remedies = {}, Index predicted = 0);

/// "; it takes less with a smaller grid.cells": the keys of the deck by which a run takes less memory; empty if there
/// are none. `exceeded`: it may hold more than was predicted for it.
std::string advise_on_memory(const Case& a_case, bool exceeded = false);

/// "solver.restart = 60, or preconditioner.fill_level = 1"; empty where there is no advice. What an advice says of the
/// values in use stands in parentheses behind it.
std::string to_string(const std::vector<Advice>& advice);

}  // namespace hyperplane
