// SPDX-License-Identifier: BSD-3-Clause
// The solvers that tests try: those of the registry, with what the solvers themselves say of their needs.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "solvers/registry.hpp"

namespace hyperplane::testing_support {

/// Whether a solver takes symmetric matrices alone.
inline bool needs_symmetry(const std::string& solver) {
    const auto& row = find_row(solvers(), "solver", solver);
    Parameters parameters(common_solver_parameters());
    parameters.add(row.parameters);
    try {
        row.create(parameters, Context::cpu())->check_operator("a problem", false);
    } catch (const UsageError&) {
        return true;
    }
    return false;
}

inline std::vector<std::string> solver_names() {
    std::vector<std::string> names;
    for (const auto& row : solvers()) names.push_back(row.name);
    return names;
}

/// Those that nonsymmetric matrices are solved by.
inline std::vector<std::string> nonsymmetric_solver_names() {
    std::vector<std::string> names = solver_names();
    std::erase_if(names, needs_symmetry);
    return names;
}

}  // namespace hyperplane::testing_support
