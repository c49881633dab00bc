// SPDX-License-Identifier: BSD-3-Clause
// The argument and the report of the kernel that inverts a matrix's diagonal blocks (precond/jacobi/jacobi.cuh).
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// A summary of the pivots of some points.
struct PivotSummary {
    double ratio;         ///< smallest |pivot| / |diagonal of A|
    long long point;      ///< the first in natural order that has it
    long long failures;   ///< number of pivots that cannot be used
    long long failed;     ///< the first of them: point * dof + component
    double failed_value;  ///< its value

    HYPERPLANE_HD void take_ratio(double other, long long at) {
        if (other < ratio || (other == ratio && at < point)) ratio = other, point = at;
    }
    HYPERPLANE_HD void take_failures(long long count, long long first, double value) {
        failures += count;
        if (first < failed) failed = first, failed_value = value;
    }
    HYPERPLANE_HD void take(const PivotSummary& other) {
        take_ratio(other.ratio, other.point);
        take_failures(other.failures, other.failed, other.failed_value);
    }
};
/// The summary of no points.
constexpr PivotSummary no_pivots{1.0, 0, 0, ~0ull >> 1, 0.0};

struct InvertDiagonalArguments {
    const double* a;        // A's diagonal blocks [row][col][a_stride]
    double* inverse;        // [row][col][inverse_stride]
    PivotSummary* summary;  // [thread block]
    double tolerance;
    long long slots, a_stride, inverse_stride;
    int nx, ny, nz, natural, level_y, level_z;
};
static_assert(sizeof(PivotSummary) == 40);
static_assert(sizeof(InvertDiagonalArguments) == 80);

}  // namespace hyperplane
