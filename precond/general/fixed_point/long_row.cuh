// SPDX-License-Identifier: BSD-3-Clause
// A fixed-point sweep of a long row of one unknown, by a thread block. A warp, as fixed_point.cuh has it, goes through
// the rows k of L's entries one after the other; a row of tens of thousands of entries would keep one busy long after
// all others are done.
//
// Threads take a row k each, as long as these have few entries in U: they look these up in the long row and note the
// pairs that they find. Then each thread subtracts the products of the entries that it owns, in the order of k, so that
// sums have the order of the other rows. A row k with many entries in U is worked on by all threads.

#include "precond/general/fixed_point/swept_row.cuh"

namespace hyperplane {

constexpr int long_threads = 256, most_pairs = 8;

struct Pairs {
    double factor[long_threads];             // L_ik
    double other[long_threads][most_pairs];  // U_kj
    int place[long_threads][most_pairs];     // of X_ij within the row; -1: there is no such pair
};

/// X = A + shift diag(A).
__device__ __forceinline__ void load_long(const Row& x) {
    const Arguments& a = x.a;
    const long long from = __ldg(a.a_row_begin + x.row), to = __ldg(a.a_row_begin + x.row + 1);
    if (a.place)
        for (long long at = x.begin + threadIdx.x; at < x.end; at += long_threads) a.values[at] = 0.0;
    __syncthreads();
    for (long long at = from + threadIdx.x; at < to; at += long_threads) {
        const long long place = a.place ? __ldg(a.place + at) : at - from;
        if (place >= 0) a.values[x.begin + place] = (at == x.own ? 1.0 + a.shift : 1.0) * __ldg(a.a_values + at);
    }
    __syncthreads();
}

/// The pairs of the row k of the entry `at`, whose entries in U are [first, last).
__device__ __forceinline__ void note_pairs(const Row& x, long long at, int k, long long first, long long last,
                                           Pairs& pairs) {
    const Arguments& a = x.a;
    pairs.factor[threadIdx.x] = a.others[at] * a.inverse[k];
    for (int pair = 0; pair < most_pairs; ++pair) {
        const long long other = first + pair;
        const long long found = other < last ? find(a.column, at + 1, x.end, __ldg(a.column + other)) : -1;
        pairs.place[threadIdx.x][pair] = found < 0 ? -1 : int(found - x.begin);
        if (found >= 0) pairs.other[threadIdx.x][pair] = a.others[other];
    }
}

/// Subtracts the products of `count` rows k from the entries that this thread owns.
__device__ __forceinline__ void subtract_pairs(const Row& x, int count, const Pairs& pairs) {
    for (int k = 0; k < count; ++k)
#pragma unroll
        for (int pair = 0; pair < most_pairs; ++pair) {
            const int place = pairs.place[k][pair];
            if (place >= 0 && place % long_threads == int(threadIdx.x))
                x.a.values[x.begin + place] = fma(-pairs.factor[k], pairs.other[k][pair], x.a.values[x.begin + place]);
        }
}

/// Subtracts the products of one row k, all threads together.
__device__ __forceinline__ void subtract_together(const Row& x, long long at, int k, long long first, long long last) {
    const Arguments& a = x.a;
    const double factor = a.others[at] * a.inverse[k];
    const bool through_mine = x.end - (at + 1) <= last - first;
    const long long from = through_mine ? at + 1 : first, to = through_mine ? x.end : last;
    for (long long one = from + threadIdx.x; one < to; one += long_threads) {
        const long long found =
            find(a.column, through_mine ? first : at + 1, through_mine ? last : x.end, __ldg(a.column + one));
        double* const mine = a.values + (through_mine ? one : found);
        if (found >= 0) *mine = fma(-factor, a.others[through_mine ? found : one], *mine);
    }
}

extern "C" __global__ void __launch_bounds__(long_threads) sweep_long_rows(const __grid_constant__ Arguments a) {
    __shared__ Pairs pairs;
    __shared__ int with_few;  // rows k from the next one on, up to the first with many entries in U
    const int own = __ldg(a.long_rows + blockIdx.x);
    if (own < a.first) return;  // of another rank
    const Row x = Row::of(a, own, nullptr);
    load_long(x);
    if (!a.others) return;
    for (long long next = x.begin; next < x.diagonal;) {
        if (threadIdx.x == 0) with_few = int(min((long long)long_threads, x.diagonal - next));
        __syncthreads();
        const long long at = next + threadIdx.x;
        const int k = at < x.diagonal ? __ldg(a.column + at) : -1;
        const long long first = k < 0 ? 0 : __ldg(a.diagonal + k) + 1, last = k < 0 ? 0 : __ldg(a.row_begin + k + 1);
        if (last - first > most_pairs) atomicMin(&with_few, int(threadIdx.x));
        __syncthreads();
        const int count = with_few;
        if (int(threadIdx.x) < count) note_pairs(x, at, k, first, last, pairs);
        __syncthreads();
        subtract_pairs(x, count, pairs);
        __syncthreads();
        next += count;
        if (count == long_threads || next == x.diagonal) continue;
        const int many = __ldg(a.column + next);
        subtract_together(x, next, many, __ldg(a.diagonal + many) + 1, __ldg(a.row_begin + many + 1));
        __syncthreads();
        ++next;
    }
}

}  // namespace hyperplane
