// SPDX-License-Identifier: BSD-3-Clause
// Keys and values as other programs call them.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// This program's key, "section.key", for what others call `word` ("ksp_rtol", "maxiter", "solver.tol"); "" where there
/// is none.
std::string rival_name(const std::string& word);
/// The value among `choices` for what others call `word` ("gpu"); "" where there is none.
std::string rival_value(const std::string& word, const std::vector<std::string>& choices);

}  // namespace hyperplane
