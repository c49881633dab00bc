// SPDX-License-Identifier: BSD-3-Clause
// Gathers all ranks' parts of arrays on every rank's GPU: by copies from the others' memory, or, where it is recorded
// in a graph, by a kernel that stores a rank's part into the memory of all others.
#include <algorithm>
#include <span>
#include <string>

#include "core/device/cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/ranks/waiting_cuda.cuh"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int most_ranks = 256;

struct Gather {
    double* to[most_ranks];  ///< slot 0 of the first array of each rank
    Index begin, count;      ///< the slots that this rank has
    Index distance;          ///< from one array to the next
    int arrays;
    LinkView link;
    unsigned* arrived;
};

/// 1. Tell all ranks that all work before this kernel is done: the arrays may be overwritten. 2. When all of them say
/// the same, store values into their arrays. 3. The last thread block tells them so, and waits for their values.
__global__ void __launch_bounds__(block_threads) gather_parts(const __grid_constant__ Gather g) {
    const LinkView& link = g.link;
    const unsigned epoch = *const_cast<volatile unsigned*>(link.epochs + 2) + 1;
    const int ready = link.ranks + flags_of_halos, values = ready + link.ranks;
    const auto tell = [&](int what) {
        for (int rank = 0; rank < link.ranks; ++rank)
            if (rank != link.rank) release(link.flags[rank] + what + link.rank, epoch);
    };
    const auto wait = [&](int what) {
        for (int rank = 0; rank < link.ranks; ++rank)
            if (rank != link.rank) wait_for(link.flags[link.rank] + what + rank, epoch);
    };
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) tell(ready);
        wait(ready);
    }
    __syncthreads();
    const Index stride = Index(gridDim.x) * block_threads, first = Index(blockIdx.x) * block_threads + threadIdx.x;
    for (int array = 0; array < g.arrays; ++array)
        for (Index at = first; at < g.count; at += stride) {
            const Index slot = array * g.distance + g.begin + at;
            const double value = g.to[link.rank][slot];
            for (int rank = 0; rank < link.ranks; ++rank)
                if (rank != link.rank) g.to[rank][slot] = value;
        }
    __threadfence_system();
    if (!is_last_block(g.arrived) || threadIdx.x > 0) return;
    __threadfence_system();
    tell(values);
    wait(values);
    link.epochs[2] = epoch;
}

void queue_gather(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance) {
    const int rank = context.ranks()->rank(), ranks = context.ranks()->size();
    if (ranks > most_ranks)
        throw Error(ExitCode::internal, std::to_string(ranks) + " ranks on GPUs gather values, and the kernel takes " +
                                            std::to_string(most_ranks));
    Gather g{};
    const std::vector<double> messages = gathered(context, described(context, {first}));
    const std::size_t size = values_to_describe(context, 1);
    for (int other = 0; other < ranks; ++other)
        g.to[other] = static_cast<double*>(
            reached(context, other, std::span(messages).subspan(std::size_t(other) * size, size))[0]);
    g.begin = begins[rank];
    g.count = begins[rank + 1] - begins[rank];
    g.distance = distance;
    g.arrays = arrays;
    g.link = links_of(context).view();
    g.arrived = context.stream().scratch().arrived;
    const Index blocks = std::clamp<Index>((g.count + block_threads - 1) / block_threads, 1, most_blocks);
    gather_parts<<<unsigned(blocks), block_threads, 0, stream(context)>>>(g);
    launched(context, "gathering of parts");
}

/// Every rank sends its part to all others.
void send_parts(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance) {
    const int rank = context.ranks()->rank();
    std::vector<RankPart> sent, received;
    const auto part = [&](int of, int other, int array) {
        return RankPart{other, first + array * distance + begins[of],
                        (begins[of + 1] - begins[of]) * Index(sizeof(double))};
    };
    for (int other = 0; other < context.ranks()->size(); ++other)
        for (int array = 0; other != rank && array < arrays; ++array) {
            sent.push_back(part(rank, other, array));
            received.push_back(part(other, other, array));
        }
    exchange_parts(context, sent, received);
}

}  // namespace

void gather_slots(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance) {
    links_of(context);  // a recording finds them made
    if (context.stream().recording() && !by_messages(context))
        return queue_gather(context, begins, arrays, first, distance);
    send_parts(context, begins, arrays, first, distance);
}

}  // namespace hyperplane::cuda
