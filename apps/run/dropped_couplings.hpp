// SPDX-License-Identifier: BSD-3-Clause
// How much of a matrix a preconditioner with scope = rank leaves out.
#pragma once

#include <string>

#include "apps/run/case.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// The entries of a case's matrix that couple points or rows of different ranks and that its preconditioner therefore
/// leaves out: "360 of the matrix's 5040 entries"; empty if it leaves none out. Of a matrix on a periodic grid the
/// entries around an axis count neither as dropped nor otherwise, since the preconditioner of one rank has none of
/// them, either; those of a general matrix count as all others do. It is the text of the record's item
/// dropped_couplings in /environment, too. Of a general matrix all entries are looked at, so the first rank alone asks.
std::string dropped_couplings(const Case& a_case);
/// Returns that text from a record; empty if its run left none out.
std::string dropped_couplings(const RecordData& record);

constexpr const char* dropped_couplings_item = "dropped_couplings";  ///< in a record's environment

}  // namespace hyperplane
