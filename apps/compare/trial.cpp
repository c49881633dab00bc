// SPDX-License-Identifier: BSD-3-Clause
// A candidate's times, as its passes give them, and the fingerprint of the system that all candidates solve.
#include <limits>

#include "apps/compare/compare.hpp"
#include "core/random.hpp"

namespace hyperplane {

Timing Trial::total_time() const {
    std::vector<double> total;
    for (std::size_t at = 0; at < setup.size(); ++at) total.push_back(setup[at] + solve[at]);
    return timing_of(total);
}

double Trial::per_iteration() const {
    std::vector<double> each;
    for (std::size_t at = 0; at < iterations.size(); ++at)
        if (iterations[at] > 0) each.push_back(solve[at] / double(iterations[at]));
    return timing_of(each).median;
}

double Trial::preconditioner_share() const {
    for (const TimerRow& row : timers.rows())
        if (row.name == "solve/preconditioner") return row.seconds / timers.seconds("solve");
    return std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t SystemFingerprints::all() const {
    std::uint64_t bits = 0;
    for (std::uint64_t part : {a, p, b, x0, criterion}) bits = scramble(bits ^ part) + 1;
    return bits;
}

}  // namespace hyperplane
