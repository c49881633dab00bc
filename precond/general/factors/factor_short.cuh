// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a row of one unknown that has at most LANES entries: each lane keeps one entry in a register.
//
// The rows k that are eliminated come in batches of BATCH. Where the entries of row k meet those of this row follows
// from the pattern alone, so it is found for a batch while the rows of the batch before are waited for. Lane b of a
// batch waits for row k_b and loads its inverse pivot; then all values of the batch are loaded together, and what
// remains one after another is arithmetic.
//
// Definitions: as in factor.cuh, and BATCH (at most LANES).

#include "precond/general/factors/eliminated_row.cuh"
#include "precond/general/solves/waiting.cuh"

namespace hyperplane {

struct ShortRow {
    struct Memory {};  // shared memory; none
    static __device__ __forceinline__ bool takes(const Row& row) { return row.end - row.begin <= LANES; }

    const Row& r;
    int lane, lower, size;  // entries below the diagonal, and all
    int column;             // this lane's
    u64 epoch;

    __device__ __forceinline__ explicit ShortRow(const Row& row, u64 launch)
        : r(row),
          lane(row.lane),
          lower(int(row.diagonal - row.begin)),
          size(int(row.end - row.begin)),
          column(row.lane < size ? __ldg(row.a.column + row.begin + row.lane) : -1),
          epoch(launch) {}

    /// What the pattern tells of a batch.
    struct Batch {
        long long place[BATCH];  // of the entry of row k_b in this lane's column, or -1
        long long pivot;         // lane b: the place of row k_b's diagonal
        int k;                   // lane b: k_b
    };

    __device__ __forceinline__ Batch look_up(int first) const {
        Batch batch;
        batch.pivot = 0, batch.k = 0;
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            batch.place[b] = -1;
            if (first + b >= lower) continue;
            const int k = __shfl_sync(r.mask, column, first + b, LANES);
            const long long pivot = __ldg(r.a.diagonal + k);
            if (lane == b) batch.pivot = pivot, batch.k = k;
            if (lane < size && (SYMMETRIC ? lane >= lower : lane > first + b))
                batch.place[b] = find(r.a.column, pivot + 1, __ldg(r.a.row_begin + k + 1), column);
        }
        return batch;
    }

    /// This lane's entry of A + shift diag(A).
    __device__ __forceinline__ double given() const {
        if (r.a.place) {
            r.load();
            return lane < size ? *r.element(r.begin + lane, 0) : 0.0;
        }
        const double value = lane < size ? __ldg(r.a.a_values + __ldg(r.a.a_row_begin + r.row) + lane) : 0.0;
        return lane == lower ? (1.0 + r.a.shift) * value : value;
    }

    __device__ __forceinline__ double eliminated_row(double x) const {
        Batch next = look_up(0);
        for (int first = 0; first < lower; first += BATCH) {
            const Batch batch = next;
            if (first + BATCH < lower) next = look_up(first + BATCH);
            double inverse = 0.0;
            if (lane < BATCH && first + lane < lower) {
                wait_for(r.a.finished + batch.k, epoch);
                inverse = __ldcg(r.a.values + batch.pivot);
            }
            __syncwarp(r.mask);
            double u[BATCH];
#pragma unroll
            for (int b = 0; b < BATCH; ++b) u[b] = batch.place[b] >= 0 ? __ldcg(r.a.values + batch.place[b]) : 0.0;
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                if (first + b >= lower) continue;
                const double mine =
                    SYMMETRIC ? __shfl_sync(r.mask, u[b], lower, LANES) : __shfl_sync(r.mask, x, first + b, LANES);
                const double w = mine * __shfl_sync(r.mask, inverse, b, LANES);
                if (lane == first + b) x = w;
                if (batch.place[b] >= 0) x -= w * u[b];
            }
        }
        return x;
    }

    /// Writes the row; returns the ratio of the pivot to A's diagonal.
    __device__ __forceinline__ double factor() const {
        double x = eliminated_row(given());
        double ratio = 1.0;
        if (lane == lower) {
            const double own = r.own < 0 ? 0.0 : __ldg(r.a.a_values + r.own);
            const PivotJudge judge{r.a.rule, r.a.log};
            ratio = fmin(ratio, judge.ratio(x, own));
            const double used = judge.usable<BY_ROW>(x, own, fmax(fabs(x), fabs(own)), (u64)r.row, true,
                                                     [this] { return r.largest_of_a(); });
            x = inverse_or_zero(used);
        }
        if (lane < size) *r.element(r.begin + lane, 0) = x;
        return __shfl_sync(r.mask, ratio, lower, LANES);
    }
};

}  // namespace hyperplane
