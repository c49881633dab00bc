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

std::string grid_text(const Grid& g, bool rows_alone, const std::string& stencil, int dof) {
    const Index unknowns = g.points() * dof;
    if (rows_alone) return fmt::format("none, {} unknowns", unknowns);
    return fmt::format("{} x {} x {} {}, {} unknowns, {}{}", g.nx, g.ny, g.nz, g.cell_centred ? "cells" : "points",
                       unknowns, stencil, dof > 1 ? fmt::format(", {} a point", dof) : "");
}

}  // namespace hyperplane
