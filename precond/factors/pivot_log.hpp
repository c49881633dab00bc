// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation meets of pivots that it cannot use, told by many threads at once: counts, and the first events
// in natural order, so that reports do not depend on how points are shared out.
#pragma once

#include "core/host_device.hpp"
#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace hyperplane {

/// A row is that of a point in the grid, times dof, plus the component.
struct PivotLog {
    enum { capacity = 16 };
    unsigned long long failures, boosts;
    int lock, failed_size, boosted_size, padding;
    unsigned long long failed[1], boosted[capacity];
    double failed_value[1], boosted_value[capacity];
};

HYPERPLANE_HD inline void keep_first(unsigned long long* rows, double* values, int* size, int capacity,
                                     unsigned long long row, double value) {
    int at = *size < capacity ? (*size)++ : capacity - 1;
    if (at == capacity - 1 && *size == capacity && rows[at] != ~0ull && rows[at] < row) return;
    for (; at > 0 && rows[at - 1] > row; --at) rows[at] = rows[at - 1], values[at] = values[at - 1];
    rows[at] = row;
    values[at] = value;
}

HYPERPLANE_HD inline void keep_event(PivotLog* log, bool boosted, unsigned long long row, double value) {
    if (boosted)
        keep_first(log->boosted, log->boosted_value, &log->boosted_size, PivotLog::capacity, row, value);
    else
        keep_first(log->failed, log->failed_value, &log->failed_size, 1, row, value);
}

/// Counts an event and keeps it if it is one of the first.
HYPERPLANE_HD inline void record(PivotLog* log, bool boosted, unsigned long long row, double value) {
#ifdef __CUDA_ARCH__
    atomicAdd(boosted ? &log->boosts : &log->failures, 1ull);
    for (bool done = false; !done;)
        if (atomicCAS(&log->lock, 0, 1) == 0) {
            __threadfence();
            keep_event(log, boosted, row, value);
            __threadfence();
            atomicExch(&log->lock, 0);
            done = true;
        }
#else
#pragma omp critical(pivot_log)
    {
        ++(boosted ? log->boosts : log->failures);
        keep_event(log, boosted, row, value);
    }
#endif
}

#ifdef __CUDACC__
#define HYPERPLANE_APART __noinline__
#else
#define HYPERPLANE_APART inline
#endif
/// The same, out of the way of unrolled loops.
HYPERPLANE_HD HYPERPLANE_APART static void record_apart(PivotLog* log, bool boosted, unsigned long long row,
                                                        double value) {
    record(log, boosted, row, value);
}
#undef HYPERPLANE_APART

/// The rules of precond/factors/pivots.hpp, for one factorisation.
struct PivotJudge {
    PivotLog* log;
    double tolerance, boost;  ///< boost 0: a pivot that cannot be used is a failure
    int definite;             ///< a pivot must have the sign of A's diagonal

    HYPERPLANE_HD static bool is_number(double x) { return fabs(x) <= 1.7976931348623157e308; }
    /// Whether a pivot can be used as it is; `least`: tolerance times the block's largest entry, also of A's.
    HYPERPLANE_HD bool accepts(double pivot, double own, double least) const {
        return fabs(pivot) > least && is_number(pivot) && !(definite && pivot * own < 0.0);
    }
    /// The pivot to divide by: the one met, a boosted one, or 0 where it cannot be used. `scale`: the block's largest
    /// entry, also of A's. Told to the log by the thread that `tells`.
    HYPERPLANE_HD double usable(double pivot, double own, double scale, unsigned long long row, bool tells) const {
        if (accepts(pivot, own, tolerance * scale)) return pivot;
        const bool wrong_sign = definite && pivot * own < 0.0;
        const bool mend = boost > 0.0 && is_number(pivot) && is_number(scale) && scale > 0.0;
        if (tells) record_apart(log, mend, row, pivot);
        return mend ? copysign(boost * scale, wrong_sign || pivot == 0.0 ? own : pivot) : 0.0;
    }
    /// |pivot| / |own|, 0 where the sign is wrong, 1 where there is nothing to compare with.
    HYPERPLANE_HD double ratio(double pivot, double own) const {
        if (own == 0.0 || !is_number(pivot)) return 1.0;
        return definite && pivot * own < 0.0 ? 0.0 : fabs(pivot / own);
    }
};

/// The smallest |pivot| / |diagonal of A| of some points, at the first such row.
struct PivotRatio {
    double value = 1.0;
    long long row = 0;

    HYPERPLANE_HD void take(double other, long long at) {
        if (other < value || (other == value && at < row)) value = other, row = at;
    }
};

}  // namespace hyperplane
