// SPDX-License-Identifier: BSD-3-Clause
// The sources, compiler and libraries that this program was built from.
#pragma once

#include <string>

namespace hyperplane {

struct BuildInfo {
    std::string version;  ///< of the project
    std::string git_sha;  ///< commit of the sources, with "-dirty" if they were changed; "unknown" without git
    std::string date;     ///< of that commit, "2026-11-21"; empty without git
    std::string compiler;
    std::string build_type;  ///< build type and flags
    std::string hdf5, boost, openmp;
    std::string backends;  ///< "cpu" or "cpu, cuda"
};

const BuildInfo& build_info();

}  // namespace hyperplane
