// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study SUBVERB STUDY. Each subverb is in a file of its own, subverb_NAME.cpp.
#pragma once

#include "apps/base/invocation.hpp"
#include "apps/study/study.hpp"

namespace hyperplane {

/// Lists the cases with their predicted memory. Returns 0, or 2 if a case is refused, or 6 if one does not fit.
int study_plan(const Study& study, const Invocation& invocation);
/// Runs the cases that are not done, --jobs at a time. Returns 0 if all cases are done, 8 if one is not, 75 if a signal
/// stopped it. `retry`: also cases whose failure may not repeat.
int study_run(const Study& study, const Invocation& invocation, bool retry);
/// Submits the cases that are not done as a Slurm job array. Returns 0, or 8 if a case is left out because of a file
/// that this program did not write.
int study_submit(const Study& study, const Invocation& invocation);
/// Prints the state of each case. Returns 0 if all are done, otherwise 8.
int study_status(const Study& study, const Invocation& invocation);
/// Writes FOLDER.h5 and FOLDER.csv with one row for each case. Returns 0.
int study_collect(const Study& study, const Invocation& invocation);

}  // namespace hyperplane
