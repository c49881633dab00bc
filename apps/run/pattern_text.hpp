// SPDX-License-Identifier: BSD-3-Clause
// The grid of a system, or the pattern of its general matrix, in words, for verdicts, records and comparisons.
#pragma once

#include <string>

#include "core/grid/grid.hpp"
#include "core/matrix/pattern_statistics.hpp"

namespace hyperplane {

/// "general, 900 rows, 4380 entries (4.9 a row, 3 to 5), bandwidth 30 below and 30 above, ..."; `symmetric`: the matrix
/// is known to be symmetric, not its pattern alone.
std::string pattern_text(const PatternStatistics& statistics, int dof, bool symmetric = false);
/// "symmetric", "symmetric pattern" or "unsymmetric pattern"; `symmetric` as above.
std::string symmetry_text(const PatternStatistics& statistics, bool symmetric);
/// "bandwidth 30 below and 30 above, levels 59 below and 59 above (15.3 rows a level)"
std::string bandwidth_text(const PatternStatistics& statistics);
/// "17 x 9 x 5 points, 2295 unknowns, star7, 3 a point"; where `rows_alone`, there is no grid: "none, 900 unknowns".
std::string grid_text(const Grid& grid, bool rows_alone, const std::string& stencil, int dof);

}  // namespace hyperplane
