// SPDX-License-Identifier: BSD-3-Clause
// Section [sweep] of a study, which says what the study varies.
//
//   section.key = VALUE, VALUE, ...    commas separate values; blanks belong to a value (16 16 8)
//   a VALUE may be a range             0..3   1..2 step 0.25   1e-8..1e-2 factor 100
//   a VALUE in quotes                  is one value, whatever commas and dots are in it
//   combine = product | zip            all combinations, the last key fastest; or the i-th values of all keys
//   skip = CONDITION                   leaves combinations out (apps/study/expression.hpp)
//   folder = NAME                      the folder of the records
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/deck.hpp"

namespace hyperplane {

/// A key and its values.
struct CaseAxis {
    std::string section, key;
    int line = 0;  ///< line in the study file
    std::vector<std::string> values;

    std::string name() const { return section + "." + key; }
};

struct CaseAxes {
    std::vector<CaseAxis> axes;
    bool zip = false;
    std::string skip;
    int skip_line = 0;
    std::string folder;  ///< empty if not set
    int folder_line = 0;
    int line = 0;  ///< line of the section
};

/// The keys of [sweep] that are not names of the deck's keys: combine, skip, folder.
ParameterTable case_axes_parameters();

/// Whether a deck has a section [sweep].
bool is_study(const Deck& deck);

/// Reads [sweep]. Throws one UsageError with all mistakes, one a line.
CaseAxes read_case_axes(const Deck& deck);

/// The values of all axes ("section.key" -> text) for each combination that is not skipped, in the order of the cases.
/// Throws UsageError if `skip` cannot be understood or there are too many combinations.
std::vector<std::map<std::string, std::string>> combinations(const CaseAxes& varied, const std::string& file);

}  // namespace hyperplane
