// SPDX-License-Identifier: BSD-3-Clause
// What the coefficients of a row say of a matrix of one unknown, for host and kernels.
#pragma once

#include "core/host_device.hpp"

namespace hyperplane::multigrid {

/// Whether the couplings of a point to either side of it, both of which exist, differ by more than ten times.
HYPERPLANE_HD inline bool is_jump(double one, double other) {
    constexpr double large_ratio = 10.0;
    return one < 0.0 && other < 0.0 && (one < large_ratio * other || other < large_ratio * one);
}

/// Whether the coefficients of a row add up to zero or more, but for rounding of those beside its diagonal one.
HYPERPLANE_HD inline bool is_dominated(double sum, double diagonal) {
    return sum >= -1e-12 * diagonal;
}

/// The traits of one row, whose coefficients are given in the order of the stencil; of those that lead outside the
/// grid, zeros or none.
template <int entries>
class ExaminedRow {
public:
    HYPERPLANE_HD void add(int e, double value) {
        sum_ += value;
        if (2 * e + 1 == entries)
            own_ = value;
        else
            fits_ = fits_ && value <= 0.0;
        if (2 * e + 1 > entries) jumps_ = jumps_ || is_jump(before_[entries - 1 - e], value);
        if (2 * e + 1 < entries) before_[e] = value;
    }
    /// Whether the row is not that of an M-matrix: a coefficient beside the diagonal is positive, or the row's sum is
    /// negative by more than rounding.
    HYPERPLANE_HD bool is_other() const { return !(fits_ && is_dominated(sum_, own_)); }
    HYPERPLANE_HD bool jumps() const { return jumps_; }

private:
    double sum_ = 0.0, own_ = 0.0, before_[entries / 2 + 1] = {};
    bool fits_ = true, jumps_ = false;
};

}  // namespace hyperplane::multigrid
