// SPDX-License-Identifier: BSD-3-Clause
// Reads the table of a file that `hyperplane study collect` wrote (docs/study.md), without the records in it.
#pragma once

#include <string>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// A case of the table. A missing count is -1, a missing real NaN.
struct CollectedCase {
    Index number = 0;
    std::string name, status;
    Index exit_code = -1, iterations = -1, memory_peak = -1;
    std::string stop_reason;
    double setup_seconds = 0.0, solve_seconds = 0.0;
};

struct CollectedStudy {
    std::string path, study, code_version;
    std::vector<CollectedCase> cases;
};

/// Throws FileError.
CollectedStudy read_collected_study(const std::string& path);
/// Whether a file holds a collected study; false if it cannot be read.
bool is_collected_study(const std::string& path);

}  // namespace hyperplane
