// SPDX-License-Identifier: BSD-3-Clause
// Lines of the log that say what a run is doing before its first iteration, where that takes so long that a user may
// wonder. Of several ranks the first one writes them.
#pragma once

#include <string>

#include "core/device/context.hpp"

namespace hyperplane {

struct Case;

/// That a file of a matrix is read, from 20 MiB on.
void announce_reading(const Context& context, const std::string& path);
/// That the order of a general matrix is sought, from 100,000 rows on.
void announce_order(const Context& context, const std::string& name, Index rows);
/// Whether a set-up may take seconds, from a million unknowns on a grid or 100,000 without one.
bool has_large_setup(const Case& a_case);
/// What such a set-up is, "assembling the matrix and setting up struct_ilu".
std::string setup_text(const Case& a_case);
/// That matrix and preconditioner are made, if they are so large.
void announce_setup(const Case& a_case);

}  // namespace hyperplane
