// SPDX-License-Identifier: BSD-3-Clause
// Whether two resolved decks ask for the same computation.
#pragma once

#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// What of a deck is left out of a comparison.
using Sections = std::vector<std::string>;

/// A line each key that `parameters` and the resolved deck of a record give different values:
/// "solver.rtol is 1e-6, was 1e-8". A key that the record does not know counts as equal at its default,
/// so that a newer program goes on with records of an older one.
std::vector<std::string> deck_differences(const Parameters& parameters, const std::string& resolved,
                                          const Sections& ignored);

/// Eight hexadecimal digits of all keys with their values, but for those in `ignored` sections.
std::string deck_hash(const Parameters& parameters, const Sections& ignored);

}  // namespace hyperplane
