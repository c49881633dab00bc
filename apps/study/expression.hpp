// SPDX-License-Identifier: BSD-3-Clause
// Conditions of a study, such as skip = preconditioner.name == jacobi and grid.cells > 64
//
//   condition   and, or, not, parentheses; == != < <= > >=; + - * / %
//   operands    numbers, varied keys (section.key), words (jacobi) or texts in single quotes ('a b')
//
// The whole condition is always evaluated, so a mistake is found also in a part on which the result does not depend.
#pragma once

#include <map>
#include <string>

namespace hyperplane {

/// The condition that holds for these values and no others, as a deck has it: "solver.name == cg and grid.cells == 8".
std::string condition_of(const std::map<std::string, std::string>& values);

/// Whether `condition` holds for these values ("section.key" -> text). Throws a UsageError that names the column if it
/// cannot be understood.
bool holds(const std::string& condition, const std::map<std::string, std::string>& values);

}  // namespace hyperplane
