// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of a row of few blocks: a warp keeps it in shared memory.
//
// Where the entries of the rows k that are eliminated meet those of this row follows from the pattern alone, so it is
// found before any of these rows is waited for.
//
// Definitions: as in factor.cuh; LANES is 32.

#include "precond/general/factors/eliminated_row.cuh"
#include "precond/general/solves/waiting.cuh"

namespace hyperplane {

struct ShortRow {
    static constexpr int most = 512 / size < 32 ? 512 / size : 32;  // blocks of a row
    static constexpr int most_lower = 16;                           // of these below the diagonal
    /// The shared memory of a warp.
    struct Memory {
        double x[most * size];
        int place[most_lower][most];            // of the entries of row k that meet this row, after its diagonal
        unsigned char entry[most_lower][most];  // of this row that they meet
    };
    static __device__ __forceinline__ bool takes(const Row& row) {
        return row.end - row.begin <= most && row.diagonal - row.begin <= most_lower;
    }

    const Row& r;
    Memory& memory;
    int lane, lower, count;  // blocks below the diagonal, and all
    u64 epoch;

    __device__ __forceinline__ ShortRow(const Row& row, Memory& own, u64 launch)
        : r(row),
          memory(own),
          lane(row.lane),
          lower(int(row.diagonal - row.begin)),
          count(int(row.end - row.begin)),
          epoch(launch) {}

    /// X = A + shift diag(A).
    __device__ __forceinline__ void load() const {
        const long long from = __ldg(r.a.a_row_begin + r.row), to = __ldg(r.a.a_row_begin + r.row + 1);
        if (r.a.place) {
            for (int at = lane; at < count * size; at += 32) memory.x[at] = 0.0;
            __syncwarp();
        }
        for (long long at = from * size + lane; at < to * size; at += 32) {
            const long long block = at / size;
            const int e = int(at % size);
            const double factor = block == r.own && e / DOF == e % DOF ? 1.0 + r.a.shift : 1.0;
            const int there = r.a.place ? __ldg(r.a.place + block) : int(block - from);
            if (there < 0) continue;  // the factors leave this block out
            memory.x[there * size + e] = factor * __ldg(r.a.a_values + at);
        }
    }

    __device__ __forceinline__ void factor() const {
        load();
        const int column = lane < count ? __ldg(r.a.column + r.begin + lane) : -1;
        // Lane s: the row k of block s, the place of its diagonal, and how many of its entries meet this row.
        int meeting = 0;
        long long own_pivot = 0;
        for (int s = 0; s < lower; ++s) {
            const int k = __shfl_sync(~0u, column, s);
            const long long pivot = __ldg(r.a.diagonal + k);
            long long found = -1;
            if (lane < count && (SYMMETRIC ? lane >= lower : lane > s))
                found = find(r.a.column, pivot + 1, __ldg(r.a.row_begin + k + 1), column);
            const unsigned all = __ballot_sync(~0u, found >= 0);
            if (found >= 0) {
                const int at = __popc(all & ((1u << lane) - 1));
                memory.place[s][at] = int(found - pivot);
                memory.entry[s][at] = (unsigned char)lane;
            }
            if (lane == s) own_pivot = pivot, meeting = __popc(all);
        }
        if (lane < lower) wait_for(r.a.finished + column, epoch);
        __syncwarp();
        for (int s = 0; s < lower; ++s) eliminate(s, __shfl_sync(~0u, own_pivot, s), __shfl_sync(~0u, meeting, s));
        for (int at = lane; at < count * size; at += 32) *r.element(r.begin, at) = memory.x[at];
        __syncwarp();
    }

    __device__ __forceinline__ void eliminate(int s, long long pivot, int meeting) const {
        // Of a symmetric matrix the first entry of row k that meets this row is U_ki.
        const long long mirrored = SYMMETRIC ? pivot + memory.place[s][0] : 0;
        double product[share];
#pragma unroll
        for (int part = 0; part < share; ++part) {
            const int e = lane + part * 32, row = e / DOF, c = e % DOF;
            double sum = 0.0;
            if (e < size)
#pragma unroll
                for (int q = 0; q < DOF; ++q) {
                    const double x =
                        SYMMETRIC ? __ldcg(r.element(mirrored, q * DOF + row)) : memory.x[s * size + row * DOF + q];
                    sum = fma(x, __ldcg(r.element(pivot, q * DOF + c)), sum);
                }
            product[part] = sum;
        }
        __syncwarp();
#pragma unroll
        for (int part = 0; part < share; ++part)
            if (const int e = lane + part * 32; e < size) memory.x[s * size + e] = r.w[e] = product[part];
        __syncwarp();
        for (int at = lane; at < meeting * size; at += 32) {
            const int which = at / size, e = at % size, row = e / DOF, c = e % DOF;
            const long long other = pivot + memory.place[s][which];
            double* const x = memory.x + memory.entry[s][which] * size + e;
            double sum = *x;
#pragma unroll
            for (int q = 0; q < DOF; ++q) sum = fma(-r.w[row * DOF + q], __ldcg(r.element(other, q * DOF + c)), sum);
            *x = sum;
        }
        __syncwarp();
    }
};

}  // namespace hyperplane
