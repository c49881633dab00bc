// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study SUBVERB STUDY: each in a file of its own.
#pragma once

#include "apps/command_line.hpp"
#include "apps/study/study.hpp"

namespace hyperplane {

/// Lists the cases with the memory each needs. Returns 0, 2 where a case is refused, 6 where one does not fit.
int study_plan(const Study& study, const Invocation& invocation);
/// Runs what is not done, --jobs cases at a time. Returns 0 when all cases are done, 8 where one is not, 75 when it
/// was stopped by a signal. `retry`: also cases whose failure another attempt may not meet.
int study_run(const Study& study, const Invocation& invocation, bool retry);
/// Submits what is not done as a Slurm job array. Returns 0.
int study_submit(const Study& study, const Invocation& invocation);
/// Says how far each case is. Returns 0 when all are done, 8 otherwise.
int study_status(const Study& study, const Invocation& invocation);
/// Writes FOLDER.h5 and FOLDER.csv, a row a case. Returns 0.
int study_collect(const Study& study, const Invocation& invocation);

}  // namespace hyperplane
