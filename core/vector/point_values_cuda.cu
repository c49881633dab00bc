// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/device/cuda.hpp"
#include "core/vector/blas1_cuda.hpp"
#include "core/vector/point_values.hpp"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int most_blocks = 1024;

/// A value and its slot; the slot is -1 if there is none.
struct Candidate {
    double value;
    Index slot;
};

__device__ Candidate found[most_blocks];
__device__ Candidate smallest_found;
__device__ unsigned blocks_arrived;

__device__ Candidate first_of(const Layout& layout, Candidate a, Candidate b) {
    if (a.slot < 0 || b.slot < 0) return a.slot < 0 ? b : a;
    return comes_before(layout, b.value, b.slot, a.value, a.slot) ? b : a;
}

/// The first of the candidates of a block's threads, in the order of comes_before; valid in thread 0.
__device__ Candidate block_first(const Layout& layout, Candidate mine) {
    __shared__ Candidate of_thread[block_threads];
    of_thread[threadIdx.x] = mine;
    for (int half = block_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            of_thread[threadIdx.x] = first_of(layout, of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
    }
    return of_thread[0];
}

__global__ void find_smallest(const __grid_constant__ Layout layout, const double* values) {
    const Index stride = Index(gridDim.x) * block_threads;
    Candidate best{0.0, -1};
    for (Index at = Index(blockIdx.x) * block_threads + threadIdx.x; at < layout.slots(); at += stride)
        best = first_of(layout, best, {values[at], at});
    best = block_first(layout, best);
    if (threadIdx.x == 0) found[blockIdx.x] = best;
    if (!is_last_block(&blocks_arrived)) return;
    best = {0.0, -1};
    for (int block = threadIdx.x; block < gridDim.x; block += block_threads)
        best = first_of(layout, best, {__ldcg(&found[block].value), __ldcg(&found[block].slot)});
    best = block_first(layout, best);
    if (threadIdx.x == 0) smallest_found = best;
}

}  // namespace

void smallest(const Layout& layout, const double* values, double* value, Index* slot) {
    const Index blocks = (layout.slots() + block_threads - 1) / block_threads;
    find_smallest<<<unsigned(std::min<Index>(blocks, most_blocks)), block_threads, 0, stream()>>>(layout, values);
    launched("find_smallest");
    void* symbol = nullptr;
    check(cudaGetSymbolAddress(&symbol, smallest_found), "cudaGetSymbolAddress");
    Candidate candidate;
    device::copy(symbol, &candidate, sizeof(candidate));
    *value = candidate.value;
    *slot = candidate.slot;
}

}  // namespace hyperplane::cuda
