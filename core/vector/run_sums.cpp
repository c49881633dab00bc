// SPDX-License-Identifier: BSD-3-Clause
// Compiled without contraction of a * b + c (-ffp-contract=off), see core/vector/lane_sums.hpp.
#include "core/vector/lane_sums.hpp"
#include "core/vector/run_kernel.hpp"

namespace hyperplane {

double sum_run(const double* x, Index count) {
    return sum_in_lanes(count, [=]<class T>(Index at) { return load<T>(x + at); });
}

double dot_run(const double* x, const double* y, Index count) {
    return sum_in_lanes(count, [=]<class T>(Index at) { return load<T>(x + at) * load<T>(y + at); });
}

double dot_run3(const double* x, const double* y, const double* z, Index count) {
    return sum_in_lanes(count, [=]<class T>(Index at) { return load<T>(x + at) * load<T>(y + at) * load<T>(z + at); });
}

}  // namespace hyperplane
