// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/pattern_text.hpp"

#include <fmt/format.h>

namespace hyperplane {

std::string bandwidth_text(const PatternStatistics& s) {
    return fmt::format("bandwidth {} below and {} above, levels {} below and {} above ({:.1f} rows a level)",
                       s.lower_bandwidth, s.upper_bandwidth, s.lower_levels, s.upper_levels, s.rows_a_lower_level());
}

std::string pattern_text(const PatternStatistics& s, int dof, bool symmetric) {
    return fmt::format("general, {} {}, {} {} ({:.1f} a row, {} to {}), {}, {}{}", s.rows,
                       dof > 1 ? fmt::format("block rows of {}", dof) : "rows", s.blocks,
                       dof > 1 ? "blocks" : "entries", s.mean(), s.shortest, s.longest, bandwidth_text(s),
                       symmetric     ? "symmetric"
                       : s.symmetric ? "symmetric pattern"
                                     : "unsymmetric pattern",
                       s.missing_diagonals > 0 ? fmt::format(", {} rows without diagonal", s.missing_diagonals) : "");
}

}  // namespace hyperplane
