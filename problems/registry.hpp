// SPDX-License-Identifier: BSD-3-Clause
// The problems a deck can name. Adding one: its own files and a row in registry.cpp.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/registry.hpp"

namespace hyperplane {

/// Makes a problem from [grid], [problem] and [time]; throws UsageError for parameters that
/// contradict each other, FileError for a file it cannot read.
using CreateProblem = std::unique_ptr<Problem> (*)(const Parameters&, const Context&, const InputFiles&);

const std::vector<RegistryRow<CreateProblem>>& problems();

/// Files of the repository that show a problem: a deck to begin with, and a picture of what comes out, or nothing.
struct Showing {
    std::string deck, picture;
};
Showing showing_of(const std::string& problem);

/// Keys every problem shares: problem.name, [grid] and [time].
ParameterTable common_problem_parameters();

}  // namespace hyperplane
