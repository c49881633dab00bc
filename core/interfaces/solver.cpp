// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hyperplane {

std::string explain(const SolveReport& report) {
    const std::string what = explain(report.reason);
    if (report.reason != StopReason::out_of_range) return what;
    const int exponent = int(std::clamp(-std::round(std::log10(report.b_norm)), -300.0, 300.0));
    if (std::abs(exponent) < 100)
        return fmt::format("{}; ||b|| is {:.1e}, so take a larger rtol or another first guess", what, report.b_norm);
    return fmt::format(
        "{}; ||b|| is {:.1e}: multiply b by 1e{}, and x is multiplied by it, too, or multiply both A and "
        "b{}",
        what, report.b_norm, exponent,
        exponent > 0 ? "; or give an atol, where so small a residual need not be smaller" : "");
}

}  // namespace hyperplane
