// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/rows_cuda.hpp"

#include <algorithm>
#include <string>

#include "core/device/cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/ranks/waiting_cuda.cuh"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int most_neighbours = 64;

template <class Place>
__global__ void __launch_bounds__(block_threads)
    collect_blocks(const Place* places, Index count, Index size, const double* values, double* out) {
    const Index stride = Index(gridDim.x) * block_threads;
    for (Index at = Index(blockIdx.x) * block_threads + threadIdx.x; at < count * size; at += stride)
        out[at] = values[Index(places[at / size]) * size + at % size];
}

/// The values that a rank stores into the halo of another one.
struct RowPush {
    const int* sent;
    double* to;
    Index count;  ///< rows
    int rank;
};

struct RowPushes {
    RowPush push[most_neighbours];
    int neighbours, dof;
    const double* values;
    LinkView link;
    unsigned* arrived;
};

/// 1. Tell all neighbours that all work before this kernel is done: the halo may be overwritten. 2. When they say the
/// same, store values into their halos. 3. The last thread block tells them so, and waits for their values. The flags
/// are those of gathered parts, since any two ranks may be neighbours; a rank without neighbours counts, too.
__global__ void __launch_bounds__(block_threads) push_rows(const __grid_constant__ RowPushes x) {
    const LinkView& link = x.link;
    const unsigned epoch = *const_cast<volatile unsigned*>(link.epochs + 2) + 1;
    const int ready = link.ranks + flags_of_halos, values = ready + link.ranks;
    const auto tell = [&](int what) {
        for (int n = 0; n < x.neighbours; ++n) release(link.flags[x.push[n].rank] + what + link.rank, epoch);
    };
    const auto wait = [&](int what) {
        for (int n = 0; n < x.neighbours; ++n) wait_for(link.flags[link.rank] + what + x.push[n].rank, epoch);
    };
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) tell(ready);
        wait(ready);
    }
    __syncthreads();
    const Index stride = Index(gridDim.x) * block_threads, first = Index(blockIdx.x) * block_threads + threadIdx.x;
    for (int n = 0; n < x.neighbours; ++n) {
        const RowPush& push = x.push[n];
        for (Index at = first; at < push.count * x.dof; at += stride)
            push.to[at] = x.values[Index(push.sent[at / x.dof]) * x.dof + at % x.dof];
    }
    __threadfence_system();
    if (!is_last_block(x.arrived) || threadIdx.x > 0) return;
    __threadfence_system();
    tell(values);
    wait(values);
    link.epochs[2] = epoch;
}

unsigned blocks_of(Index values, Index most) {
    return unsigned(std::clamp<Index>((values + 4 * block_threads - 1) / (4 * block_threads), 1, most));
}

/// Records the exchange. Which addresses the neighbours store to is known then.
void record_exchange(const Context& context, const RowSlab& slab, int dof, const double* from, double* to) {
    if (slab.neighbours.size() > most_neighbours)
        throw Error(ExitCode::internal, std::to_string(slab.neighbours.size()) +
                                            " ranks read a rank's rows, and the kernel takes " +
                                            std::to_string(most_neighbours));
    const RowsOnGpu& rows = *slab.on_gpu;
    Communicator& ranks = *context.ranks();
    for (const RowSlab::Neighbour& other : slab.neighbours)
        ranks.send(other.rank, described(context, {to + other.slot * dof}));
    RowPushes x{};
    std::vector<double> message(values_to_describe(context, 1));
    for (std::size_t n = 0; n < slab.neighbours.size(); ++n) {
        const RowSlab::Neighbour& other = slab.neighbours[n];
        ranks.receive(other.rank, message);
        x.push[n] = {rows.sent.data() + rows.begin[n], static_cast<double*>(reached(context, other.rank, message)[0]),
                     Index(other.sent.size()), other.rank};
    }
    x.neighbours = int(slab.neighbours.size());
    x.dof = dof;
    x.values = from;
    x.link = links_of(context).view();
    x.arrived = context.stream().scratch().arrived;
    push_rows<<<blocks_of(rows.begin.back() * dof, most_blocks), block_threads, 0, stream(context)>>>(x);
    launched(context, "exchange of rows");
}

}  // namespace

void collect(const Context& context, const Buffer<Index>& places, Index size, const double* values, double* out) {
    if (places.size() == 0) return;
    collect_blocks<<<blocks_of(places.size() * size, 1024), block_threads, 0, stream(context)>>>(
        places.data(), places.size(), size, values, out);
    launched(context, "blocks that other ranks read");
}

std::shared_ptr<const RowsOnGpu> rows_on_gpu(const Context& context, const RowSlab& slab, int dof,
                                             const std::string& label) {
    std::vector<int> sent;
    RowsOnGpu made;
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        made.begin.push_back(Index(sent.size()));
        sent.insert(sent.end(), other.sent.begin(), other.sent.end());
    }
    made.begin.push_back(Index(sent.size()));
    made.sent = copied_to(context, label, sent);
    made.out = Buffer<double>(context, label, made.begin.back() * dof);
    return std::make_shared<const RowsOnGpu>(std::move(made));
}

void exchange_rows(const Context& context, const RowSlab& slab, int dof, const double* from, double* to) {
    links_of(context);  // a recording finds them made
    if (context.stream().recording() && !by_messages(context)) return record_exchange(context, slab, dof, from, to);
    const RowsOnGpu& rows = *slab.on_gpu;
    const Index count = rows.begin.back();
    if (count > 0) {
        collect_blocks<<<blocks_of(count * dof, 1024), block_threads, 0, stream(context)>>>(
            rows.sent.data(), count, Index(dof), from, rows.out.data());
        launched(context, "rows that other ranks read");
    }
    std::vector<RankPart> sent, received;
    for (std::size_t n = 0; n < slab.neighbours.size(); ++n) {
        const RowSlab::Neighbour& other = slab.neighbours[n];
        const Index row = dof * Index(sizeof(double));
        sent.push_back({other.rank, rows.out.data() + rows.begin[n] * dof, Index(other.sent.size()) * row});
        received.push_back({other.rank, to + other.slot * dof, other.received * row});
    }
    exchange_parts(context, sent, received);
}

}  // namespace hyperplane::cuda
