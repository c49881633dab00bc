// SPDX-License-Identifier: BSD-3-Clause
// A thread finds the diagonal blocks of rows by binary searches and counts these rows; the sums are of integers, so
// their order does not matter.
#include "precond/general/pattern/diagonals_cuda.hpp"

#include "core/device/cuda.hpp"
#include "core/matrix/find_column.hpp"

namespace hyperplane {
namespace {

constexpr int search_threads = 256, blocks_of_a_multiprocessor = 8;

__device__ void add_up(Index* total, Index own) {
    for (int distance = 16; distance > 0; distance /= 2) own += __shfl_xor_sync(~0u, own, distance);
    if (threadIdx.x % 32 == 0 && own != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(own));
}
__device__ void take_largest(Index* total, Index own) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const Index other = __shfl_xor_sync(~0u, own, distance);
        own = own > other ? own : other;
    }
    if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<long long*>(total), static_cast<long long>(own));
}

__global__ void __launch_bounds__(search_threads) find_diagonals(const Index* row_begin, const int* column, Index rows,
                                                                 TableRule rule, Index* place, RowCounts* total) {
    RowCounts own;
    const Index stride = Index(gridDim.x) * search_threads;
    for (Index row = Index(blockIdx.x) * search_threads + threadIdx.x; row < rows; row += stride) {
        const Index begin = row_begin[row], end = row_begin[row + 1];
        const Index at = place[row] = find_column(column, begin, end, int(row));
        if (at < 0)
            ++own.missing;
        else
            own.add({int(at - begin), int(end - at)}, rule);
    }
    add_up(&total->missing, own.missing);
    add_up(&total->lower, own.lower);
    for (int at = 0; at < RowCounts::lengths; ++at) add_up(&total->longer[at], own.longer[at]);
    take_largest(&total->longest, own.longest);
    take_largest(&total->most, own.most);
    add_up(&total->long_rows, own.long_rows);
    add_up(&total->in_long_rows, own.in_long_rows);
    add_up(&total->offsets, own.offsets);
}

/// `count` is zero before, and the number of rows found afterwards.
__global__ void list_long_rows(const Index* row_begin, Index rows, int* list, unsigned* count) {
    const Index row = Index(blockIdx.x) * search_threads + threadIdx.x;
    if (row < rows && row_begin[row + 1] - row_begin[row] > RowCounts::long_row) list[atomicAdd(count, 1u)] = int(row);
}

}  // namespace

DiagonalsOnGpu diagonals_on_gpu(const Context& gpu, const BlockPattern& pattern, bool symmetric,
                                const std::string& label) {
    const Index rows = pattern.rows();
    DiagonalsOnGpu found{Buffer<Index>(gpu, label, rows, Initially::anything), {}};
    if (rows > 0) {
        Buffer<RowCounts> counts(gpu, label, 1);
        const unsigned most = unsigned(blocks_of_a_multiprocessor * cuda::multiprocessors(gpu));
        find_diagonals<<<std::min(cuda::blocks_for(rows, search_threads), most), search_threads, 0,
                         cuda::stream(gpu)>>>(pattern.row_begin(), pattern.column(), rows, TableRule{symmetric},
                                              found.place.data(), counts.data());
        cuda::launched(gpu, "find diagonals");
        gpu.stream().copy(counts.data(), &found.counts, Index(sizeof(RowCounts)));
    }
    found.counts.rows = rows;
    found.counts.blocks = pattern.blocks();
    return found;
}

Buffer<int> long_rows_on_gpu(const Context& gpu, const BlockPattern& pattern, const RowCounts& counts,
                             const std::string& label) {
    Buffer<int> list(gpu, label, counts.long_rows);
    if (counts.long_rows == 0) return list;
    Buffer<unsigned> count(gpu, label, 1);
    list_long_rows<<<cuda::blocks_for(pattern.rows(), search_threads), search_threads, 0, cuda::stream(gpu)>>>(
        pattern.row_begin(), pattern.rows(), list.data(), count.data());
    cuda::launched(gpu, "list long rows");
    return list;
}

}  // namespace hyperplane
