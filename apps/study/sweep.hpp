// SPDX-License-Identifier: BSD-3-Clause
// What a study varies: section [sweep] of its file.
//
//   section.key = VALUE, VALUE, ...    commas separate values; blanks belong to a value (16 16 8)
//   a VALUE may be a range             0..3   1..2 step 0.25   1e-8..1e-2 factor 100
//   combine = product | zip            all combinations, the last key fastest; or the i-th values together
//   skip = CONDITION                   leaves combinations out (apps/study/expression.hpp)
//   folder = NAME                      where the records go
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/deck.hpp"

namespace hyperplane {

/// A key and the values it takes.
struct SweepAxis {
    std::string section, key;
    int line = 0;  ///< of the study file
    std::vector<std::string> values;

    std::string name() const { return section + "." + key; }
};

struct Sweep {
    std::vector<SweepAxis> axes;
    bool zip = false;
    std::string skip;
    int skip_line = 0;
    std::string folder;  ///< empty: not set
    int line = 0;        ///< of the section
};

/// The keys of [sweep] that are not keys of the deck: combine, skip, folder.
ParameterTable sweep_parameters();

/// Whether a deck has a section [sweep].
bool is_study(const Deck& deck);

/// Reads [sweep]; throws one UsageError with all that is wrong, a line each.
Sweep read_sweep(const Deck& deck);

/// Values of all axes ("section.key" -> text), a row each combination that is not skipped, in the order of the cases.
/// Throws UsageError where `skip` cannot be understood or there are too many.
std::vector<std::map<std::string, std::string>> combinations(const Sweep& sweep, const std::string& file);

}  // namespace hyperplane
