// SPDX-License-Identifier: BSD-3-Clause
// The solvers that a deck can name. To add one, write its files and a row in registry.cpp.
#pragma once

#include <memory>

#include "core/interfaces/solver.hpp"
#include "core/parameters/registry.hpp"

namespace hyperplane {

using CreateSolver = std::unique_ptr<Solver> (*)(const Parameters&, const Context&);

const std::vector<RegistryRow<CreateSolver>>& solvers();

/// The keys of every solver: solver.name and the stop criteria.
ParameterTable common_solver_parameters();
StopCriteria stop_criteria(const Parameters& parameters);

}  // namespace hyperplane
