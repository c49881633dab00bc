// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix, or the residual r = b - A x in twice the working precision, on a GPU.
//
// LANES threads of a warp have one block row. Lane l takes column l mod DOF of the blocks l / DOF, l / DOF + GROUP, ...
// of the row, so that adjacent lanes read adjacent values; then the lanes' sums are added pairwise. Rows with more than
// `longest` blocks are cut into pieces, which have a warp each. The first thread blocks of a kernel whose name ends in
// _long have the pieces, so that these are worked on beside the other rows; the warp that comes last of a row's adds
// its pieces' sums in their order. Every sum has an order that follows from the pattern.
//
// bsr_staged forms the same sums with the same bits (sm_90 and later). The blocks of consecutive rows follow each other
// in memory. One thread of a thread block asks for all of them at once, by a bulk copy to shared memory, so many more
// bytes are on their way than where each row waits for its own; then a team of threads a row, each with several of the
// LANES lanes, forms the lanes' sums and adds them in the same pairs. bsr_short does so for a few entries a row. Where
// LANES is 32 and blocks have five unknowns or more, bsr_rows gives a warp a block row (bsr_warps.cuh), with the same
// bits again.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32), EXACT (the residual).

#include "core/device/async_copies.cuh"
#include "core/matrix/bsr_arguments.hpp"
#include "core/matrix/bsr_sums.cuh"

namespace hyperplane {

#if EXACT
typedef ExactSum Sum;
#else
typedef PlainSum Sum;
#endif

/// The sums of `lanes` adjacent threads, added pairwise; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum added_by_lanes(Sum (&sum)[DOF], int lane) {
    return added_by_lanes_of<Sum, DOF, lanes>(sum, lane);
}

template <class Value>
__device__ __forceinline__ Value load_once(const Value* at) {
    return load_once_of<DOF>(at);
}

/// The rows of the blocks [begin, end), added by `lanes` adjacent threads; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum sum_of(const BsrProductArguments& a, long long begin, long long end, int lane) {
    return sum_of_blocks<Sum, DOF, lanes>(a.column, a.values, begin, end, lane,
                                          [&](long long at) { return __ldg(a.x + at); });
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

/// The sums of a piece's rows, by a warp that asks for several blocks at a time.
__device__ __forceinline__ Sum sum_of_piece(const BsrProductArguments& a, long long begin, long long end, int lane) {
    constexpr int group = 32 / DOF, rounds = DOF >= 4 ? 1 : 4 / DOF;
    const int c = lane % DOF, first = lane / DOF;
    Sum sum[DOF];
    if (first < group)
        for (long long base = begin + first; base < end; base += group * rounds) {
            double x[rounds], value[rounds][DOF];
#pragma unroll
            for (int round = 0; round < rounds; ++round) {
                const long long at = base + round * group;
                if (at >= end) continue;
                x[round] = __ldg(a.x + (long long)__ldg(a.column + at) * DOF + c);
#pragma unroll
                for (int r = 0; r < DOF; ++r) value[round][r] = __ldg(a.values + (at * DOF + r) * DOF + c);
            }
#pragma unroll
            for (int round = 0; round < rounds; ++round)
                if (base + round * group < end)
#pragma unroll
                    for (int r = 0; r < DOF; ++r) add_fused(sum[r], value[round][r], x[round]);
        }
    return added_by_lanes<32>(sum, lane);
}

__device__ __forceinline__ Sum partial_sum(const BsrProductArguments& a, long long piece, int r) {
    const double* const at = a.partial + (piece * DOF + r) * 2;
    Sum sum;
#if EXACT
    sum.high = __ldcg(at), sum.low = __ldcg(at + 1);
#else
    sum.sum = __ldcg(at);
#endif
    return sum;
}

/// A warp's piece of a long row; the last warp of the row adds the sums of all its pieces.
__device__ __forceinline__ void add_piece(const BsrProductArguments& a, long long piece) {
    if (piece >= a.piece_count) return;
    const int lane = threadIdx.x % 32;
    const BlockRange mine = a.pieces[piece], all = a.long_rows[mine.row];
    const Sum sum = sum_of_piece(a, mine.begin, mine.end, lane);
    if (lane < DOF) {
        double* const partial = a.partial + (piece * DOF + lane) * 2;
#if EXACT
        partial[0] = sum.high, partial[1] = sum.low;
#else
        partial[0] = sum.sum;
#endif
        __threadfence();
    }
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(a.arrived + mine.row, 1u);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before + 1 < all.end - all.begin) return;
    __threadfence();
    // A lane has the sums of one row of a block and of every group-th piece, and hands them on to those that add.
    constexpr int group = 32 / DOF;
    const int r = lane % DOF, first = lane / DOF;
    Sum total;
    for (long long base = all.begin; base < all.end; base += group) {
        const Sum some = first < group && base + first < all.end ? partial_sum(a, base + first, r) : Sum();
#pragma unroll
        for (int k = 0; k < group; ++k) {
            const Sum one = from_lane(some, k * DOF + r);
            if (base + k < all.end) total.add(one);
        }
    }
    if (lane < DOF) store(a, all.row, lane, total);
    if (lane == 0) a.arrived[mine.row] = 0;  // for the next product
}

}  // namespace hyperplane

#include "core/matrix/bsr_warps.cuh"

namespace hyperplane {

constexpr int threads_of_rows = rows_threads(LANES, DOF, EXACT);

__device__ __forceinline__ void add_rows(const BsrProductArguments& a, long long thread_block) {
    const int lane = threadIdx.x % LANES;
    const long long row = thread_block * (threads_of_rows / LANES) + threadIdx.x / LANES;
    if constexpr (rows_have_warps(LANES, DOF, EXACT)) {
        add_row_by_warp(a, row);
    } else {
        long long begin = 0, end = 0;
        if (row < a.rows) begin = a.row_begin[row], end = a.row_begin[row + 1];
        const bool mine = row < a.rows && end - begin <= a.longest;
        const Sum sum = sum_of<LANES>(a, begin, mine ? end : begin, lane);
        if (mine && lane < DOF) store(a, row, lane, sum);
    }
}

// For a row of a warp the compiler takes registers for all loads of a block only where it is told that one thread block
// a multiprocessor is enough; 0 says nothing.
constexpr int least_groups = rows_have_warps(LANES, DOF, EXACT) ? 1 : 0;

extern "C" __global__ void __launch_bounds__(threads_of_rows, least_groups)
    bsr_rows(const __grid_constant__ BsrProductArguments a) {
    add_rows(a, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(threads_of_rows, least_groups)
    bsr_rows_long(const __grid_constant__ BsrProductArguments a) {
    if (blockIdx.x < a.piece_groups)
        add_piece(a, (long long)blockIdx.x * (threads_of_rows / 32) + threadIdx.x / 32);
    else
        add_rows(a, blockIdx.x - a.piece_groups);
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
    constexpr int group = LANES / DOF, rounds = own < 8 ? 8 / own : DOF == 3 && LANES == 16 ? 2 : 1;
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
                    for (int r = 0; r < DOF; ++r)
                        sum[l][r] = __fma_rn(values[(at * DOF + r) * DOF + lane % DOF], x[round][l], sum[l][r]);
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

/// All threads ask for the blocks [start, from + count); block `from`, a multiple of staged_line(LANES, DOF), has the
/// first place in shared memory. What is copied begins with a multiple of 4, so that addresses are multiples of 16.
__device__ __forceinline__ void request(const BsrProductArguments& a, long long start, long long from, int count,
                                        double* values, int* column, unsigned barrier) {
    constexpr int size = DOF * DOF;
    const int skipped = staged_line(LANES, DOF) > 4 ? int(start - from) & ~3 : 0;
    from += skipped, count -= skipped, values += skipped * size, column += skipped;
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

__device__ __forceinline__ void add_staged_rows(const BsrProductArguments& a, long long thread_block) {
    extern __shared__ __align__(128) double staged_values[];
    __shared__ u64 arrived;
    int* const column = reinterpret_cast<int*>(staged_values + a.capacity * DOF * DOF);
    constexpr int most_rows = staged_rows(LANES, DOF);
    const long long first_row = thread_block * most_rows;
    const int rows = int(min((long long)most_rows, a.rows - first_row)), member = threadIdx.x % team;
    const long long* const begins = a.row_begin + first_row;
    const unsigned barrier = shared_address(&arrived);
    if (threadIdx.x == 0) init_barrier(barrier, 1);
    const long long stop = __ldg(begins + rows);
    int parity = 0;
    for (int first = 0; first < rows;) {  // more than once where shared memory does not hold all rows
        const long long start = __ldg(begins + first), from = start & ~(staged_line(LANES, DOF) - 1LL);
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
        request(a, start, from, int(all - from), staged_values, column, barrier);
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

extern "C" __global__ void __launch_bounds__(staged_threads(DOF))
    bsr_staged(const __grid_constant__ BsrProductArguments a) {
    add_staged_rows(a, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(staged_threads(DOF))
    bsr_staged_long(const __grid_constant__ BsrProductArguments a) {
    if (blockIdx.x < a.piece_groups)
        add_piece(a, (long long)blockIdx.x * (staged_threads(DOF) / 32) + threadIdx.x / 32);
    else
        add_staged_rows(a, blockIdx.x - a.piece_groups);
}

#endif

}  // namespace hyperplane

#if !EXACT && DOF == 1 && LANES <= 4 && __CUDA_ARCH__ >= 900
#include "core/matrix/bsr_short.cuh"
#endif
