// SPDX-License-Identifier: BSD-3-Clause
// The data of a comparison for the file, the table and the JSON.
#pragma once

#include "apps/compare/compare.hpp"
#include "io/comparison.hpp"

namespace hyperplane {

/// What is written about a comparison.
struct ComparisonSetting {
    std::string path;      ///< path of the HDF5 file
    std::string baseline;  ///< name of the candidate with which others are compared
    bool automatic;        ///< leave out pairs that cannot work together, and recommend one
};

/// A hash of the candidates, their resolved decks and the rules, the same in every call of the same comparison.
std::string identity_of(const std::vector<Candidate>& candidates, const CompareRules& rules, bool automatic);

/// The order of a table's rows: first those that converged and took all of `turns_done` turns, by median total time,
/// then those that took fewer, by the same, since few turns may have been lucky ones; then those that failed, by the
/// same; then those without a solve.
std::vector<std::size_t> order_of_rows(const std::vector<Trial>& trials, Index turns_done);

/// Rows are in that order.
ComparisonData summarise(const Comparison& comparison, const Deck& deck, const std::vector<Candidate>& candidates,
                         const CompareRules& rules, const ComparisonSetting& setting);

}  // namespace hyperplane
