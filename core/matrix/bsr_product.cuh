// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix, or the residual r = b - A x in twice the working precision, on a GPU.
//
// LANES threads of a warp have one block row. Lane l takes column l mod DOF of the blocks l / DOF, l / DOF + GROUP, ...
// of the row, so that adjacent lanes read adjacent values; then the lanes' sums are added pairwise. Rows with more than
// `longest` blocks are cut into pieces, which have a warp each (bsr_pieces) and whose sums are added in their order
// (bsr_long_rows). Every sum has an order that follows from the pattern.
//
// bsr_staged forms the same sums with the same bits (sm_90 and later). The blocks of consecutive rows follow each other
// in memory. One thread of a thread block asks for all of them at once, by a bulk copy to shared memory, so many more
// bytes are on their way than where each row waits for its own; then a team of threads a row, each with several of the
// LANES lanes, forms the lanes' sums and adds them in the same pairs.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32), EXACT (the residual).

#include "core/device/async_copies.cuh"
#include "core/matrix/bsr_arguments.hpp"
#include "core/matrix/sums.cuh"

namespace hyperplane {

#if EXACT
typedef ExactSum Sum;
#else
typedef PlainSum Sum;
#endif

__device__ __forceinline__ ExactSum from_lane(const ExactSum& sum, int distance, int width) {
    ExactSum other;
    other.high = __shfl_xor_sync(0xffffffffu, sum.high, distance, width);
    other.low = __shfl_xor_sync(0xffffffffu, sum.low, distance, width);
    return other;
}
__device__ __forceinline__ PlainSum from_lane(const PlainSum& sum, int distance, int width) {
    PlainSum other;
    other.sum = __shfl_xor_sync(0xffffffffu, sum.sum, distance, width);
    return other;
}

/// The rows of the blocks [begin, end), added by `lanes` adjacent threads; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum sum_of(const BsrProductArguments& a, long long begin, long long end, int lane) {
    constexpr int group = lanes / DOF;
    const int c = lane % DOF, first = lane / DOF;
    Sum sum[DOF];
    if (first < group)
        for (long long at = begin + first; at < end; at += group) {
            const double x = __ldg(a.x + (long long)__ldg(a.column + at) * DOF + c);
            const double* const block = a.values + at * DOF * DOF + c;
#pragma unroll
            for (int r = 0; r < DOF; ++r) sum[r].add_product(__ldg(block + r * DOF), x);
        }
    Sum mine;
#pragma unroll
    for (int r = 0; r < DOF; ++r) {
#pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            // Both lanes of a pair must add in the same order, the lower one's sum first.
            const Sum other = from_lane(sum[r], distance, lanes);
            Sum low = lane & distance ? other : sum[r];
            low.add(lane & distance ? sum[r] : other);
            sum[r] = low;
        }
        if (lane == r) mine = sum[r];
    }
    return mine;
}

__device__ __forceinline__ void store(const BsrProductArguments& a, long long row, int r, Sum sum) {
#if EXACT
    Sum with_b;
    with_b.add(a.b[row * DOF + r]);
    with_b.add(sum);
    sum = with_b;
#endif
    a.y[row * DOF + r] = sum.value();
}

extern "C" __global__ void __launch_bounds__(256) bsr_rows(const __grid_constant__ BsrProductArguments a) {
    const int lane = threadIdx.x % LANES;
    const long long row = (long long)blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
    long long begin = 0, end = 0;
    if (row < a.rows) begin = a.row_begin[row], end = a.row_begin[row + 1];
    const bool mine = row < a.rows && end - begin <= a.longest;
    const Sum sum = sum_of<LANES>(a, begin, mine ? end : begin, lane);
    if (mine && lane < DOF) store(a, row, lane, sum);
}

extern "C" __global__ void __launch_bounds__(256) bsr_pieces(const __grid_constant__ BsrProductArguments a) {
    const int lane = threadIdx.x % 32;
    const long long piece = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    if (piece >= a.piece_count) return;
    const Sum sum = sum_of<32>(a, a.pieces[piece].begin, a.pieces[piece].end, lane);
    if (lane >= DOF) return;
    double* const partial = a.partial + (piece * DOF + lane) * 2;
#if EXACT
    partial[0] = sum.high, partial[1] = sum.low;
#else
    partial[0] = sum.sum;
#endif
}

extern "C" __global__ void __launch_bounds__(256) bsr_long_rows(const __grid_constant__ BsrProductArguments a) {
    const long long at = (long long)blockIdx.x * 256 + threadIdx.x, which = at / DOF;
    if (which >= a.long_row_count) return;
    const int r = at % DOF;
    Sum total;
    for (long long piece = a.long_rows[which].begin; piece < a.long_rows[which].end; ++piece) {
        Sum one;
        const double* const partial = a.partial + (piece * DOF + r) * 2;
#if EXACT
        one.high = partial[0], one.low = partial[1];
#else
        one.sum = partial[0];
#endif
        total.add(one);
    }
    store(a, a.long_rows[which].row, r, total);
}

#if !EXACT && DOF <= 8 && __CUDA_ARCH__ >= 900

constexpr int team = staged_team(LANES, DOF), own = LANES / team;  // threads of a row, lanes of a thread

/// sum[0] + ... + sum[lanes - 1] of each row, in the order of pairs of lanes.
template <int lanes>
__device__ __forceinline__ void add_pairs(const double (&sum)[lanes][DOF], double (&total)[DOF]) {
    if constexpr (lanes > 1) {
        double half[lanes / 2][DOF];
#pragma unroll
        for (int l = 0; l < lanes / 2; ++l)
#pragma unroll
            for (int r = 0; r < DOF; ++r) half[l][r] = sum[l][r] + sum[l + lanes / 2][r];
        add_pairs(half, total);
    } else {
#pragma unroll
        for (int r = 0; r < DOF; ++r) total[r] = sum[0][r];
    }
}

/// The rows of the staged blocks [begin, end) of a block row, whose team's thread `member` has the lanes member,
/// member + team, ...; the whole team receives them.
__device__ __forceinline__ void sum_staged(const BsrProductArguments& a, const double* values, const int* column,
                                           int begin, int end, int member, double (&total)[DOF]) {
    constexpr int group = LANES / DOF, rounds = own >= 8 ? 1 : 8 / own;
    double sum[own][DOF] = {};
    for (int base = begin; base < end; base += group * rounds) {
        double x[rounds][own];
#pragma unroll
        for (int round = 0; round < rounds; ++round)
#pragma unroll
            for (int l = 0; l < own; ++l) {
                const int lane = l * team + member, b = lane / DOF, at = base + round * group + b;
                if (b < group && at < end) x[round][l] = __ldg(a.x + (long long)column[at] * DOF + lane % DOF);
            }
#pragma unroll
        for (int round = 0; round < rounds; ++round)
#pragma unroll
            for (int l = 0; l < own; ++l) {
                const int lane = l * team + member, b = lane / DOF, at = base + round * group + b;
                if (b < group && at < end)
#pragma unroll
                    for (int r = 0; r < DOF; ++r) sum[l][r] += values[(at * DOF + r) * DOF + lane % DOF] * x[round][l];
            }
    }
    add_pairs(sum, total);
#pragma unroll
    for (int distance = team / 2; distance > 0; distance /= 2)
#pragma unroll
        for (int r = 0; r < DOF; ++r) total[r] += __shfl_xor_sync(0xffffffffu, total[r], distance, team);
}

/// The last of the ascending `begins` [first, count), of which the first one is at most `most`, that is so, too.
__device__ __forceinline__ int last_within(const long long* begins, int first, int count, long long most) {
    while (count - first > 1) {
        const int middle = (first + count) / 2;
        if (__ldg(begins + middle) <= most)
            first = middle;
        else
            count = middle;
    }
    return first;
}

/// All threads ask for the blocks [from, from + count); from is a multiple of 4, so that addresses are multiples of 16.
__device__ __forceinline__ void request(const BsrProductArguments& a, long long from, int count, double* values,
                                        int* column, unsigned barrier) {
    constexpr int size = DOF * DOF;
    // Of the last blocks of the matrix, those beyond a multiple of 4 are copied one by one.
    const int whole = int(min((long long)(count + 3) / 4 * 4, (a.blocks - from) / 4 * 4));
    if (threadIdx.x == 0) {
        fence_barriers();
        arrive_expecting(barrier, whole * (8 * size + 4));
        if (whole > 0) {
            copy_bulk_once_async(shared_address(column), a.column + from, whole * 4, barrier);
            copy_bulk_once_async(shared_address(values), a.values + from * size, whole * 8 * size, barrier);
        }
    }
    for (int at = whole + threadIdx.x; at < count; at += staged_threads(DOF)) column[at] = a.column[from + at];
    for (int at = whole * size + threadIdx.x; at < count * size; at += staged_threads(DOF))
        values[at] = a.values[from * size + at];
}

extern "C" __global__ void __launch_bounds__(staged_threads(DOF))
    bsr_staged(const __grid_constant__ BsrProductArguments a) {
    extern __shared__ __align__(16) double staged_values[];
    __shared__ u64 arrived;
    int* const column = reinterpret_cast<int*>(staged_values + a.capacity * DOF * DOF);
    constexpr int most_rows = staged_rows(LANES, DOF);
    const long long first_row = (long long)blockIdx.x * most_rows;
    const int rows = int(min((long long)most_rows, a.rows - first_row)), member = threadIdx.x % team;
    const long long* const begins = a.row_begin + first_row;
    const unsigned barrier = shared_address(&arrived);
    if (threadIdx.x == 0) init_barrier(barrier, 1);
    const long long stop = __ldg(begins + rows);
    int parity = 0;
    for (int first = 0; first < rows;) {  // more than once where shared memory does not hold all rows
        const long long start = __ldg(begins + first), from = start & ~3LL;
        int past = rows;
        long long all = stop;
        if (stop > from + a.capacity) {
            past = last_within(begins, first, rows, from + a.capacity);
            all = __ldg(begins + past);
        }
        if (past == first) {  // nor this row
            const long long end = __ldg(begins + first + 1);
            if (threadIdx.x < 32) {
                const bool mine = threadIdx.x < LANES && end - start <= a.longest;
                const Sum sum = sum_of<LANES>(a, start, mine ? end : start, threadIdx.x % LANES);
                if (mine && threadIdx.x < DOF) store(a, first_row + first, threadIdx.x, sum);
            }
            ++first;
            continue;
        }
        request(a, from, int(all - from), staged_values, column, barrier);
        const int row = first + threadIdx.x / team;
        const bool there = row < past;
        const long long begin = there ? __ldg(begins + row) : from, end = there ? __ldg(begins + row + 1) : from;
        const bool mine = there && end - begin <= a.longest;
        __syncthreads();
        while (!phase_is_complete(barrier, parity)) {
        }
        parity ^= 1;
        double total[DOF];
        sum_staged(a, staged_values, column, int(begin - from), mine ? int(end - from) : 0, member, total);
        if (mine)
#pragma unroll
            for (int r = 0; r < DOF; ++r)
                if (r % team == member) a.y[(first_row + row) * DOF + r] = total[r];
        first = past;
        if (first < rows) __syncthreads();
    }
}

#endif

}  // namespace hyperplane
