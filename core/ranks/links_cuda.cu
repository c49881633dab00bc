// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/links_cuda.hpp"

#include <algorithm>
#include <utility>

#include "core/device/cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/ranks/offers_cuda.hpp"
#include "core/ranks/waiting_cuda.cuh"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane {
namespace {

/// Writes the addresses by which this rank reaches what all ranks have to `to`, in its memory.
template <class T>
void put_addresses(const Context& context, cuda::Peers& peers, const T* mine, T** to) {
    std::vector<double> message;
    peers.describe(mine, message);
    const std::vector<double> messages = gathered(context, message);
    std::vector<T*> all;
    for (int rank = 0; rank < context.ranks()->size(); ++rank)
        all.push_back(static_cast<T*>(
            peers.reach(rank, std::span(messages).subspan(std::size_t(rank) * message.size(), message.size()))));
    context.stream().copy(all.data(), to, Index(all.size() * sizeof(T*)));
}

}  // namespace

RankLinks::~RankLinks() = default;

RankLinks::RankLinks(const Context& context, BetweenHosts between_hosts) : between_hosts_(std::move(between_hosts)) {
    const device::Stream& stream = context.stream();
    const int ranks = context.ranks()->size();
    if (cuda::by_messages(context)) {
        messages_ = std::make_unique<cuda::RankMessages>(context, between_hosts_.nccl);
        records_ = messages_->in_graphs();
        return;
    }
    peers_ = cuda::Peers::of(context);
    records_ = context.ranks()->one_process() || !peers_->share_gpus();
    memory_ = {context.allocate("exchange between ranks", bytes(ranks)),
               [&stream](void* memory) { stream.release(memory); }};
    stream.zero(memory_.get(), bytes(ranks));
    auto* const sums = static_cast<double*>(memory_.get());
    auto** const all_sums = reinterpret_cast<double**>(sums + 2 * device::Scratch::sums);
    auto** const all_flags = reinterpret_cast<unsigned**>(all_sums + ranks);
    auto* const flags = reinterpret_cast<unsigned*>(all_flags + ranks);
    put_addresses(context, *peers_, sums, all_sums);
    put_addresses(context, *peers_, flags, all_flags);
    context.synchronize();
    synchronise_ranks(context, true);  // all flags are zero, and all memory is accessible
    view_ = {context.ranks()->rank(), ranks, flags + cuda::flags_of_rank(ranks), all_sums, all_flags};
}

cuda::Peers& RankLinks::peers() const {
    if (!peers_) throw Error(ExitCode::internal, "the memory of a rank on another host was to be reached");
    return *peers_;
}

const RankLinks& links_of(const Context& context) {
    std::shared_ptr<RankLinks>& links = context.links();
    if (!links) {
        if (context.stream().recording())
            throw Error(ExitCode::internal, "ranks have exchanged nothing before they record what they exchange");
        links = std::make_shared<RankLinks>(context);
    }
    return *links;
}

bool synchronise_ranks(const Context& context, bool decision) {
    return of_first_rank(context, decision ? 1.0 : 0.0) > 0.0;
}

namespace cuda {

std::vector<double> described(const Context& context, const std::vector<const void*>& addresses) {
    std::vector<double> message;
    for (const void* const address : addresses) links_of(context).peers().describe(address, message);
    return message;
}

std::size_t values_to_describe(const Context& context, std::size_t addresses) {
    return addresses * links_of(context).peers().values_of_address();
}

std::vector<void*> reached(const Context& context, int rank, std::span<const double> described) {
    Peers& peers = links_of(context).peers();
    const std::size_t size = peers.values_of_address();
    std::vector<void*> addresses;
    for (std::size_t at = 0; at < described.size(); at += size)
        addresses.push_back(peers.reach(rank, described.subspan(at, size)));
    return addresses;
}

namespace {

constexpr int most_arrays = 32;

/// What a rank stores into the halo of another one: `count` values of each array.
struct Push {
    const double* from[most_arrays];
    double* to[most_arrays];
    Index count;
    int rank;  ///< -1: there is none
};

struct Exchange {
    Push below, above;
    int arrays;
    LinkView link;
    unsigned* arrived;
};

__device__ void push(const Push& end, int arrays) {
    if (end.rank < 0) return;
    const Index stride = Index(gridDim.x) * block_threads, first = Index(blockIdx.x) * block_threads + threadIdx.x;
    for (int array = 0; array < arrays; ++array) {
        const double* const from = end.from[array];
        double* const to = end.to[array];
#pragma unroll 4
        for (Index at = first; at < end.count; at += stride) to[at] = from[at];
    }
}

/// 1. Tell both neighbours that all work before this kernel is done: the halo may be overwritten. 2. When they say the
/// same, store values into their halos. 3. The last thread block tells them so, and waits for their values.
__global__ void __launch_bounds__(block_threads) exchange_halos(const __grid_constant__ Exchange x) {
    const LinkView& link = x.link;
    const unsigned epoch = *const_cast<volatile unsigned*>(link.epochs + 1) + 1;
    unsigned* const own = link.flags[link.rank] + link.ranks;  // ready below, above; values of below, above
    const auto tell = [&](int what) {
        if (x.below.rank >= 0) release(link.flags[x.below.rank] + link.ranks + what + 1, epoch);
        if (x.above.rank >= 0) release(link.flags[x.above.rank] + link.ranks + what, epoch);
    };
    const auto wait = [&](int what) {
        if (x.below.rank >= 0) wait_for(own + what, epoch);
        if (x.above.rank >= 0) wait_for(own + what + 1, epoch);
    };
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) tell(0);
        wait(0);
    }
    __syncthreads();
    push(x.below, x.arrays);
    push(x.above, x.arrays);
    __threadfence_system();
    if (!is_last_block(x.arrived) || threadIdx.x > 0) return;
    __threadfence_system();
    tell(2);
    wait(2);
    link.epochs[1] = epoch;
}

/// The flags are those that say whether ranks are ready for whole parts.
__global__ void synchronise(const __grid_constant__ LinkView link) {
    const unsigned epoch = *const_cast<volatile unsigned*>(link.epochs + 2) + 1;
    __syncthreads();
    for (int rank = threadIdx.x; rank < link.ranks; rank += blockDim.x) {
        if (rank == link.rank) continue;
        release(link.flags[rank] + link.ranks + flags_of_halos + link.rank, epoch);
        wait_for(link.flags[link.rank] + link.ranks + flags_of_halos + rank, epoch);
    }
    if (threadIdx.x == 0) link.epochs[2] = epoch;
}

/// Queues the exchange of at most most_arrays arrays. Which addresses the neighbours store to is known when it is
/// recorded.
void queue_exchange(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays,
                    OuterEnds outer) {
    Communicator& ranks = *context.ranks();
    const auto [below, above] = RanksBeside(ranks, outer);
    Exchange x{};
    x.arrays = int(arrays.size());
    x.link = links_of(context).view();
    x.arrived = context.stream().scratch().arrived;
    const auto send = [&](int to, const SlabEnd& end) {
        if (to < 0) return;
        std::vector<const void*> halos;
        for (const double* const array : arrays) halos.push_back(array + end.halo);
        ranks.send(to, described(context, halos));
    };
    std::vector<double> message(values_to_describe(context, arrays.size()));
    const auto make = [&](Push& push, int to, const SlabEnd& end) {
        push.rank = to;
        push.count = end.owned;
        if (to < 0) return;
        ranks.receive(to, message);
        const std::vector<void*> halos = reached(context, to, message);
        for (std::size_t at = 0; at < arrays.size(); ++at) {
            push.from[at] = arrays[at] + end.own;
            push.to[at] = static_cast<double*>(halos[at]);
        }
    };
    send(below, low);
    send(above, high);
    make(x.above, above, high);
    make(x.below, below, low);
    const Index most = std::max<Index>(low.owned, high.owned);
    const Index blocks = std::clamp<Index>((most + 4 * block_threads - 1) / (4 * block_threads), 1, most_blocks);
    exchange_halos<<<unsigned(blocks), block_threads, 0, stream(context)>>>(x);
    launched(context, "exchange of halos");
}

}  // namespace

void synchronise_in_stream(const Context& context) {
    if (by_messages(context))
        throw Error(ExitCode::internal, "ranks of several hosts were to synchronise within a graph");
    synchronise<<<1, 32, 0, stream(context)>>>(links_of(context).view());
    launched(context, "synchronisation of ranks");
}

void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays,
                   OuterEnds outer) {
    if (by_messages(context)) {
        EndArrays below{{}, low.owned, {}, low.received}, above{{}, high.owned, {}, high.received};
        for (double* const array : arrays) {
            below.own.push_back(array + low.own), below.halo.push_back(array + low.halo);
            above.own.push_back(array + high.own), above.halo.push_back(array + high.halo);
        }
        return cuda::exchange_arrays(context, below, above, outer);
    }
    for (std::size_t first = 0; first < arrays.size(); first += most_arrays)
        queue_exchange(context, low, high,
                       {arrays.begin() + std::ptrdiff_t(first),
                        arrays.begin() + std::ptrdiff_t(std::min(arrays.size(), first + most_arrays))},
                       outer);
}

}  // namespace cuda
}  // namespace hyperplane
