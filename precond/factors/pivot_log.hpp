// SPDX-License-Identifier: BSD-3-Clause
// A log of pivots that cannot be used, which many threads write to: counts, and the first events in natural order, so
// that reports do not depend on how points are distributed over threads.
#pragma once

#include "precond/factors/pivot_rule.hpp"

namespace hyperplane {

/// A row is the number of a point in the grid, times dof, plus the component.
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
/// The same as a separate function, which keeps the code out of unrolled loops.
HYPERPLANE_HD HYPERPLANE_APART static void record_apart(PivotLog* log, bool boosted, unsigned long long row,
                                                        double value) {
    record(log, boosted, row, value);
}
/// The largest absolute coefficient of the blocks [from, to) of A, of `size` coefficients each. Blocks whose place in
/// the factors is -1 do not count; `place` is null where the factors have all blocks.
[[maybe_unused]] HYPERPLANE_HD HYPERPLANE_APART static double largest_of_row(const double* values, const int* place,
                                                                             long long from, long long to, int size) {
    double largest = 0.0;
    for (long long at = from; at < to; ++at)
        if (!place || place[at] >= 0)
            for (int e = 0; e < size; ++e) largest = fmax(largest, fabs(values[at * size + e]));
    return largest;
}
#undef HYPERPLANE_APART

/// Events of rounding. All threads share one log.
struct RoundingLog {
    PivotLog overflows;  ///< its failures are rows with a value that is not finite or too large
    unsigned long long flushed;
};

/// The events of rounding one row of W, D^-1 or G.
class RowEvents {
public:
    /// Records that a value does not fit, or that something computed from it would not.
    HYPERPLANE_HD void refuse(double value) {
        if (!overflows_) bad_ = value;
        overflows_ = true;
    }
    HYPERPLANE_HD bool refused() const { return overflows_; }
    HYPERPLANE_HD void flush(bool flushed) { flushed_ += flushed; }
    /// Rounds a value to single precision; what does not fit becomes zero.
    HYPERPLANE_HD float single(double value) {
        constexpr double most = 3.4028234663852886e38;
        if (!(fabs(value) <= most)) {
            refuse(value);
            return 0.0f;
        }
        const float result = float(value);
        flush(value != 0.0 && result == 0.0f);
        return result;
    }
    /// `row` is a number unique to the row; of all overflows the log keeps the one whose row has the smallest number.
    HYPERPLANE_HD void tell(RoundingLog& log, unsigned long long row) const {
        if (overflows_) record_apart(&log.overflows, false, row, bad_);
        if (flushed_ == 0) return;
#ifdef __CUDA_ARCH__
        atomicAdd(&log.flushed, flushed_);
#else
#pragma omp atomic
        log.flushed += flushed_;
#endif
    }

private:
    double bad_ = 0.0;
    unsigned long long flushed_ = 0;
    bool overflows_ = false;
};

/// The rule for one factorisation, and the log of the pivots that cannot be used.
struct PivotJudge : PivotRule {
    PivotLog* log;

    /// The pivot to divide by: the pivot itself, a boosted one, or 0 if it cannot be used. If `logs`, a pivot that
    /// cannot be used is logged.
    HYPERPLANE_HD double usable(double pivot, double own, double scale, unsigned long long row, bool logs) const {
        return usable<false>(pivot, own, scale, row, logs, [&] { return scale; });
    }
    /// Judges a pivot of a general matrix in the same way; of_row() is the largest absolute coefficient of A's row.
    /// Where `may_need_row` is false it is not called, even if the rule has `by_row`.
    template <bool may_need_row, class OfRow>
    HYPERPLANE_HD double usable(double pivot, double own, double scale, unsigned long long row, bool logs,
                                const OfRow& of_row) const {
        if (accepts(pivot, own, tolerance * scale)) return pivot;
        if constexpr (may_need_row) scale = scale_to_boost(pivot, scale, of_row);
        const bool boosted_one = boosts(pivot, scale);
        if (logs) record_apart(log, boosted_one, row, pivot);
        return boosted_one ? boosted(pivot, own, scale) : 0.0;
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
