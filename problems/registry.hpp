// SPDX-License-Identifier: BSD-3-Clause
// The problems that a deck can name. To add one, write its files and a row in registry.cpp.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/registry.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

/// Constructs a problem from [grid], [problem] and [time]. Throws UsageError if parameters contradict each other,
/// FileError if a file cannot be read.
using CreateProblem = std::unique_ptr<Problem> (*)(const Parameters&, const Context&, const InputFiles&);

struct ProblemRow : RegistryRow<CreateProblem> {
    bool has_grid = true;                  ///< whether [grid] means anything to the problem
    std::vector<OwnLengths> lengths = {};  ///< defaults of grid.lengths, where they are not those of the unit cube
    bool has_picture = true;               ///< docs/problems/NAME.png, drawn by a script beside it
};

const std::vector<ProblemRow>& problems();

/// Files of the repository that show a problem: a typical deck, and a picture of its result (empty if there is none).
struct Showing {
    std::string deck, picture;
};
Showing showing_of(const ProblemRow& problem);

/// The keys of every problem: problem.name, [grid] and [time]. The description of grid.lengths names the problems with
/// defaults of their own.
ParameterTable common_problem_parameters();

/// The key grid.lengths as one problem has it where its other keys have their defaults, and with which others it has
/// another default.
ParameterSpec lengths_parameter(const ProblemRow& row);

}  // namespace hyperplane
