// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/device/cuda.hpp"
#include "core/vector/blas1_cuda.hpp"
#include "core/vector/point_values.hpp"
#include "core/vector/point_values_cuda.hpp"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int most_candidates = 1024;

using Candidate = SlotValue;

/// A candidate for each block, then the smallest if the host reads it, lie in a stream's scratch.
static_assert((most_candidates + 1) * sizeof(Candidate) <= device::Scratch::sums * sizeof(double));

__device__ Candidate first_of(const Layout& layout, bool natural, Candidate a, Candidate b) {
    if (a.slot < 0 || b.slot < 0) return a.slot < 0 ? b : a;
    if (a.value == b.value && natural) return b.slot < a.slot ? b : a;  // without the divisions that find a point
    return comes_before(layout, b.value, b.slot, a.value, a.slot) ? b : a;
}

/// The first of the candidates of a block's threads, in the order of comes_before; valid in thread 0.
__device__ Candidate block_first(const Layout& layout, bool natural, Candidate mine) {
    __shared__ Candidate of_thread[block_threads];
    of_thread[threadIdx.x] = mine;
    for (int half = block_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            of_thread[threadIdx.x] = first_of(layout, natural, of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
    }
    return of_thread[0];
}

__global__ void find_smallest(const __grid_constant__ Layout layout, const double* values, Candidate* found,
                              unsigned* arrived, Candidate* smallest) {
    const Index stride = Index(gridDim.x) * block_threads;
    const bool natural = layout.step().x == 1;
    Candidate best{0.0, -1};
    for (Index at = Index(blockIdx.x) * block_threads + threadIdx.x; at < layout.slots(); at += stride)
        best = first_of(layout, natural, best, {values[at], at});
    best = block_first(layout, natural, best);
    if (threadIdx.x == 0) found[blockIdx.x] = best;
    if (!is_last_block(arrived)) return;
    best = {0.0, -1};
    for (int block = threadIdx.x; block < gridDim.x; block += block_threads)
        best = first_of(layout, natural, best, {__ldcg(&found[block].value), __ldcg(&found[block].slot)});
    best = block_first(layout, natural, best);
    if (threadIdx.x == 0) *smallest = best;
}

}  // namespace

void queue_smallest(const Context& context, const Layout& layout, const double* values, SlotValue* found) {
    const device::Scratch& scratch = context.stream().scratch();
    const Index blocks = std::min<Index>((layout.slots() + block_threads - 1) / block_threads, most_candidates);
    find_smallest<<<unsigned(blocks), block_threads, 0, stream(context)>>>(
        layout, values, reinterpret_cast<Candidate*>(scratch.partial), scratch.arrived, found);
    launched(context, "find_smallest");
}

void smallest(const Context& context, const Layout& layout, const double* values, double* value, Index* slot) {
    auto* const found = reinterpret_cast<Candidate*>(context.stream().scratch().partial) + most_candidates;
    queue_smallest(context, layout, values, found);
    Candidate candidate;
    context.stream().copy(found, &candidate, sizeof(candidate));
    *value = candidate.value;
    *slot = candidate.slot;
}

}  // namespace hyperplane::cuda
