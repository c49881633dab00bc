// SPDX-License-Identifier: BSD-3-Clause
// Finds the place where a state has become invalid.
#pragma once

#include <optional>
#include <string>

#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// A value of a state, on either backend, that is physically impossible or not finite. In the second case the quantity
/// is the unknown's name.
std::optional<BadState> find_bad_state(const Problem& problem, const Vector& u);
/// The first value that is not finite, with `prefix` before the unknown's name.
std::optional<BadState> find_not_finite(const SystemShape& shape, const Vector& x, const std::string& prefix = "");

/// "density is -0.3 at point (4, 5, 6)"; "cell" for cell-centred grids.
std::string describe(const BadState& bad, const Grid& grid);

/// Throws the UsageError that the initial state is not finite, of which `why` is an example, and names the key that has
/// to do with it if one can be told.
[[noreturn]] void refuse_initial_state(const Parameters& parameters, const std::string& why);

}  // namespace hyperplane
