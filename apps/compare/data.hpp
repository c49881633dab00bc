// SPDX-License-Identifier: BSD-3-Clause
// A comparison that has run, as the file, the table and the JSON show it.
#pragma once

#include "apps/compare/compare.hpp"
#include "io/comparison.hpp"

namespace hyperplane {

/// What to make of a comparison.
struct ComparisonSetting {
    std::string path;      ///< of the HDF5 file
    std::string baseline;  ///< a candidate's name
    bool automatic;        ///< leave out pairs that cannot work together, and recommend one
};

/// The same for every call of the same comparison: candidates, their resolved decks, the rules.
std::string identity_of(const std::vector<Candidate>& candidates, const CompareRules& rules, bool automatic);

/// Rows are sorted: converged ones by median total time, then failed ones by the same, then those without a
/// solve.
ComparisonData summarise(const Comparison& comparison, const Deck& deck, const std::vector<Candidate>& candidates,
                         const CompareRules& rules, const ComparisonSetting& setting);

}  // namespace hyperplane
