// SPDX-License-Identifier: BSD-3-Clause
// Whether two resolved decks ask for the same computation.
#pragma once

#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Sections that are left out when decks are compared.
using Sections = std::vector<std::string>;

/// A key whose values in two resolved decks differ.
struct DeckDifference {
    std::string section, key;
    std::string text;       ///< "solver.rtol is 1e-6, was 1e-8"
    bool both_set = true;   ///< false if the key is, or was, unset
    bool vanished = false;  ///< it was a default of a component that another one has replaced
    std::string name() const { return section + "." + key; }
};

/// The keys whose values in `parameters` and in the resolved deck of a record differ. A key that the record does not
/// have counts as equal if it has its default, so that a newer program can continue with the records of an older one.
std::vector<DeckDifference> changed_keys(const Parameters& parameters, const std::string& resolved,
                                         const Sections& ignored);
/// The text of each of them.
std::vector<std::string> deck_differences(const Parameters& parameters, const std::string& resolved,
                                          const Sections& ignored);

/// A hash of all keys and their values, except those in `ignored` sections, as eight hexadecimal digits. It is that of
/// earlier programs, in which grid.lengths was 1 by default for every problem.
std::string deck_hash(const Parameters& parameters, const Sections& ignored);

}  // namespace hyperplane
