// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/pay_off.hpp"

#include <algorithm>
#include <cmath>

namespace hyperplane {

std::optional<Index> solves_to_pay_off(const SetupAndSolve& baseline, const SetupAndSolve& candidate) {
    const double gained = baseline.each - candidate.each, spent = candidate.before - baseline.before;
    if (!(gained > 0.0)) return {};
    const double solves = std::floor(spent / gained) + 1.0;
    if (!(solves <= 1e9)) return {};
    return std::max<Index>(1, Index(solves));
}

}  // namespace hyperplane
