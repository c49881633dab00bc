// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/pattern_text.hpp"

#include <fmt/format.h>

#include "core/counted.hpp"

namespace hyperplane {

std::string bandwidth_text(const PatternStatistics& s) {
    return fmt::format("bandwidth {} below and {} above, levels {} below and {} above ({:.1f} rows a level)",
                       s.lower_bandwidth, s.upper_bandwidth, s.lower_levels, s.upper_levels, s.rows_a_lower_level());
}

std::string symmetry_text(const PatternStatistics& s, bool symmetric) {
    return symmetric ? "symmetric" : s.symmetric ? "symmetric pattern" : "unsymmetric pattern";
}

std::string pattern_text(const PatternStatistics& s, int dof, bool symmetric) {
    const std::string rows =
        dof > 1 ? fmt::format("{} of {}", counted(s.rows, "block row"), dof) : counted(s.rows, "row");
    const std::string entries = dof > 1         ? counted(s.blocks, "block")
                                : s.blocks == 1 ? "1 entry"
                                                : fmt::format("{} entries", s.blocks);
    return fmt::format(
        "general, {}, {} ({:.1f} a row, {} to {}), {}, {}{}", rows, entries, s.mean(), s.shortest, s.longest,
        bandwidth_text(s), symmetry_text(s, symmetric),
        s.missing_diagonals > 0 ? fmt::format(", {} without diagonal", counted(s.missing_diagonals, "row")) : "");
}

}  // namespace hyperplane
