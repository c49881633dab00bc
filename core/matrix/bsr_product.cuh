// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix, or the residual r = b - A x in twice the working precision, on a GPU.
//
// LANES threads of a warp have one block row. Lane l takes column l mod DOF of the blocks l / DOF, l / DOF + GROUP, ...
// of the row, so that adjacent lanes read adjacent values; then the lanes' sums are added pairwise. Rows with more than
// `longest` blocks are cut into pieces, which have a warp each. The first thread blocks of a kernel whose name ends in
// _long have the pieces, so that these are worked on beside the other rows; the warp that comes last of a row's adds
// its pieces' sums in their order. Every sum has an order that follows from the pattern.
//
// Where rows are uneven (BlockPattern::is_uneven), LANES is four for one unknown, and rows of more than 32 blocks are
// added by all lanes of their warp, after its other rows: a few threads would take longer for one of them than all
// others for theirs.
//
// bsr_staged forms the same sums with the same bits (sm_90 and later). The blocks of consecutive rows follow each other
// in memory. One thread of a thread block asks for all of them at once, by a bulk copy to shared memory, so many more
// bytes are on their way than where each row waits for its own; then a team of threads a row, each with several of the
// LANES lanes, forms the lanes' sums and adds them in the same pairs. bsr_short does so for a few entries a row. Where
// LANES is 32 and blocks have five unknowns or more, bsr_rows gives a warp a block row (bsr_warps.cuh), with the same
// bits again.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32), EXACT (the residual), UNEVEN (rows are uneven).

#include "core/matrix/bsr_pieces.cuh"
#include "core/matrix/bsr_warps.cuh"
#if !EXACT && DOF <= 8 && __CUDA_ARCH__ >= 900
#include "core/matrix/bsr_staged.cuh"
#endif
#if !EXACT && !UNEVEN && DOF == 1 && LANES <= 4 && __CUDA_ARCH__ >= 900
#include "core/matrix/bsr_short.cuh"
#endif

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
        const bool by_warp = is_added_by_warp(a, end - begin);
        const bool mine = row < a.rows && end - begin <= a.longest && !by_warp;
        const Sum sum = sum_of<LANES>(a, begin, mine ? end : begin, lane);
        if (mine && lane < DOF) store(a, row, lane, sum);
        add_rows_by_warp(a, by_warp && lane == 0, row, begin, end, [&](long long first, long long last, int place) {
            return sum_of_piece(a, first, last, place);
        });
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

}  // namespace hyperplane
