// SPDX-License-Identifier: BSD-3-Clause
// The table and the timeline of a run's profile (output.profile, core/profile.hpp).
#pragma once

#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "core/profile.hpp"

namespace hyperplane {

/// A kind of work as tables show it.
struct ProfileLine {
    std::string kind;  ///< the last part of its name, or "the rest": what a kind takes besides those within it
    int depth = 0;     ///< 0: a phase of the run
    double seconds = 0.0;
    double share = 0.0;  ///< of the time of its phase
    Index calls = 0;     ///< 0: the rest
    double rate = 0.0;   ///< GB/s, the fewest bytes that it must move over its time; 0: not known
};

/// The lines in the order of the work, each kind before those within it.
std::vector<ProfileLine> profile_lines(const std::vector<ProfileRow>& rows);

/// A table of the lines that take this share of the whole. `limit`: the memory's bandwidth in GB/s; 0: not measured.
std::string profile_table(const std::vector<ProfileRow>& rows, double limit, double least_share = 0.0);

/// Writes the calls of a case's profile to Case::profile_path() as events of the Chrome trace format. Throws FileError.
void write_profile(const Case& a_case);

}  // namespace hyperplane
