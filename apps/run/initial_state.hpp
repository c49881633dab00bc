// SPDX-License-Identifier: BSD-3-Clause
// The state in which a run begins: the problem's own, or that of a record or checkpoint (initial.file).
#pragma once

#include "apps/run/case.hpp"
#include "core/interfaces/saved_values.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// Sets u to the state in which the case begins. Throws UsageError or FileError as check_initial_file does.
void set_initial_state(const Case& a_case, Vector& u);

/// Throws FileError if initial.file is no record with a state, UsageError if that state is of another problem or box,
/// or of another grid and initial.interpolate does not allow it. Where the deck is that of a record and initial.file is
/// not set anew, throws UsageError if the file holds another state than the record's run began in.
void check_initial_file(const Case& a_case);

/// Whether initial.file is set and does not exist. A run that goes on has its state elsewhere and does not need it.
bool initial_file_is_missing(const Case& a_case);

/// The item of a record's environment that tells the state of initial.file in which the run began: the fingerprint of
/// its values.
inline constexpr const char* initial_state_item = "initial_state";

/// That item's value for the file as it is now.
std::string mark_of_initial_file(const Case& a_case);

/// Throws UsageError if a run that goes on from `before` would name an initial.file that holds another state than the
/// run began in. A file that is missing is passed over, and so is a record that does not tell the state.
void check_initial_file_unchanged(const Case& a_case, const RecordData& before);

/// Throws FileError if initial.file is a file that the run writes or removes, also by another name of it.
void refuse_initial_file_among_outputs(const Case& a_case);

/// `values`, natural order and dof fastest, at the points of another grid of the same box: linear between the points
/// of `from`, constant beyond the outermost ones, across the boundary along periodic axes. They are computed where they
/// are read, by one thread, and need room for two planes of `from`.
SavedValues interpolated(const SavedValues& values, const Grid& from, const Grid& to, int dof);

}  // namespace hyperplane
