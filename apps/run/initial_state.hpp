// SPDX-License-Identifier: BSD-3-Clause
// The state in which a run begins: the problem's own, or that of a record or checkpoint (initial.file).
#pragma once

#include "apps/run/case.hpp"
#include "core/interfaces/saved_values.hpp"

namespace hyperplane {

/// Sets u to the state in which the case begins. Throws UsageError or FileError as check_initial_file does.
void set_initial_state(const Case& a_case, Vector& u);

/// Throws FileError if initial.file is no record with a state, UsageError if that state is of another problem or box,
/// or of another grid and initial.interpolate does not allow it.
void check_initial_file(const Case& a_case);

/// Throws FileError if initial.file is a file that the run writes or removes, also by another name of it.
void refuse_initial_file_among_outputs(const Case& a_case);

/// `values`, natural order and dof fastest, at the points of another grid of the same box: linear between the points
/// of `from`, constant beyond the outermost ones, across the boundary along periodic axes. They are computed where they
/// are read, by one thread, and need room for two planes of `from`.
SavedValues interpolated(const SavedValues& values, const Grid& from, const Grid& to, int dof);

}  // namespace hyperplane
