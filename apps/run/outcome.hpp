// SPDX-License-Identifier: BSD-3-Clause
// What came of a run.
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
    std::string message;            ///< why the run ended, a sentence
    std::string end;                ///< the EndReason's name; empty where the run did not get as far
    std::vector<SolveRow> solves;   ///< these and the next five: of this run and of those it goes on from
    std::vector<NewtonRow> newton;  ///< of nonlinear problems
    std::vector<StepRow> steps;
    DiagnosticTable diagnostics;
    std::vector<ErrorNorm> errors;  ///< of the final state
    std::vector<PartRow> parts;     ///< those that it goes on from, and this run
    TimerTree timers;               ///< assemble, setup, solve, solve/spmv, solve/preconditioner, output; of all parts
    std::map<std::string, Index> peak_by_label;
    Index peak = 0, predicted = 0;  ///< bytes; the peak is the largest of any part
    std::string fields_file;        ///< empty: none written
    bool resumed = false;
};

}  // namespace hyperplane
