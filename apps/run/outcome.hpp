// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "io/record.hpp"

namespace hyperplane {

struct Outcome {
    ExitCode code = ExitCode::ok;
    std::string message;            ///< a sentence that says why the run ended
    std::string end;                ///< the EndReason's name; empty if the run did not reach an end of time stepping
    std::vector<SolveRow> solves;   ///< this and the next five: of this run and the earlier parts
    std::vector<NewtonRow> newton;  ///< for nonlinear problems
    std::vector<StepRow> steps;
    DiagnosticTable diagnostics;
    std::vector<ErrorNorm> errors;  ///< of the final state
    std::vector<PartRow> parts;     ///< the earlier parts, and this run
    TimerTree timers;               ///< assemble, setup, solve, solve/spmv, solve/preconditioner, output; of all parts
    std::map<std::string, Index> peak_by_label;
    Index peak = 0, predicted = 0;  ///< bytes; `peak` is the largest of any part
    Index predicted_most = 0;       ///< bytes; above `predicted` where values decide how much it takes
    std::string fields_file;        ///< empty if none was written
    std::string series_file;        ///< likewise, of the series of fields
    std::string dropped;            ///< dropped_couplings of the case, on the first rank
    bool resumed = false;
    Index kept_steps = 0;  ///< steps after which a failed run keeps a state, from which --restart goes on; 0: none
};

}  // namespace hyperplane
