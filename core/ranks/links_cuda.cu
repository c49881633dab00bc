// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/links_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/device/cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/waiting_cuda.cuh"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane {
namespace {

/// Writes the addresses that all ranks give to `to`, in this rank's memory.
template <class T>
void put_addresses(const Context& context, const T* mine, T** to) {
    std::vector<T*> all;
    for (const double value : gathered(context, {address_as_value(mine)}))
        all.push_back(static_cast<T*>(address_of_value(value)));
    context.stream().copy(all.data(), to, Index(all.size() * sizeof(T*)));
}

/// Makes the memory of GPU `other` accessible from GPU `mine`, the current one, once in a process.
void enable_peer(int mine, int other) {
    static std::mutex mutex;
    static std::set<std::pair<int, int>> enabled;
    const std::scoped_lock lock(mutex);
    if (enabled.contains({mine, other})) return;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)  // by another library
        cudaGetLastError();
    else
        cuda::check(error, "cudaDeviceEnablePeerAccess");
    enabled.insert({mine, other});
}

}  // namespace

double address_as_value(const void* address) {
    double value;
    std::memcpy(&value, &address, sizeof(value));
    return value;
}

void* address_of_value(double value) {
    void* address;
    std::memcpy(&address, &value, sizeof(value));
    return address;
}

void check_peers(const std::vector<int>& ordinals) {
    for (const int one : ordinals)
        for (const int other : ordinals) {
            int reachable = 1;
            if (one != other) cuda::check(cudaDeviceCanAccessPeer(&reachable, one, other), "cudaDeviceCanAccessPeer");
            if (!reachable)
                throw DeviceError("GPU " + std::to_string(one) + " cannot reach the memory of GPU " +
                                  std::to_string(other) +
                                  ", which ranks on GPUs need; make them run on one GPU (CUDA_VISIBLE_DEVICES), or "
                                  "give device.backend = cpu");
        }
}

RankLinks::RankLinks(const Context& context) : events_(context) {
    const device::Stream& stream = context.stream();
    const int mine = stream.properties().ordinal, ranks = context.ranks()->size();
    cuda::stream(context);
    std::vector<double> ordinals = gathered(context, {double(mine)});
    std::sort(ordinals.begin(), ordinals.end());
    shared_ = std::adjacent_find(ordinals.begin(), ordinals.end()) != ordinals.end();
    for (const double other : ordinals) {
        if (int(other) == mine) continue;
        check_peers({mine, int(other)});
        enable_peer(mine, int(other));
    }
    memory_ = {context.allocate("exchange between ranks", bytes(ranks)),
               [&stream](void* memory) { stream.release(memory); }};
    stream.zero(memory_.get(), bytes(ranks));
    auto* const sums = static_cast<double*>(memory_.get());
    auto** const all_sums = reinterpret_cast<double**>(sums + 2 * device::Scratch::sums);
    auto** const all_flags = reinterpret_cast<unsigned**>(all_sums + ranks);
    auto* const flags = reinterpret_cast<unsigned*>(all_flags + ranks);
    put_addresses(context, sums, all_sums);
    put_addresses(context, flags, all_flags);
    context.synchronize();
    meet_ranks(context, true);  // all flags are zero, and all memory is accessible
    view_ = {context.ranks()->rank(), ranks, flags + cuda::flags_of_rank(ranks), all_sums, all_flags};
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

bool meet_ranks(const Context& context, bool decision) {
    return of_first_rank(context, decision ? 1.0 : 0.0) > 0.0;
}

namespace cuda {
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

/// Queues the exchange of at most most_arrays arrays. Which addresses the neighbours store to is known when it is
/// recorded.
void queue_exchange(const Context& context, const SlabEnd& low, const SlabEnd& high,
                    const std::vector<double*>& arrays) {
    Communicator& ranks = *context.ranks();
    const int below = ranks.rank() - 1, above = ranks.rank() + 1 < ranks.size() ? ranks.rank() + 1 : -1;
    Exchange x{};
    x.arrays = int(arrays.size());
    x.link = links_of(context).view();
    x.arrived = context.stream().scratch().arrived;
    std::vector<double> addresses(arrays.size());
    const auto send = [&](int to, const SlabEnd& end) {
        for (std::size_t at = 0; at < arrays.size(); ++at) addresses[at] = address_as_value(arrays[at] + end.halo);
        if (to >= 0) ranks.send(to, addresses);
    };
    const auto make = [&](Push& push, int to, const SlabEnd& end) {
        push.rank = to;
        push.count = end.owned;
        if (to < 0) return;
        ranks.receive(to, addresses);
        for (std::size_t at = 0; at < arrays.size(); ++at) {
            push.from[at] = arrays[at] + end.own;
            push.to[at] = static_cast<double*>(address_of_value(addresses[at]));
        }
    };
    send(below, low);
    send(above, high);
    make(x.below, below, low);
    make(x.above, above, high);
    const Index most = std::max<Index>(low.owned, high.owned);
    const Index blocks = std::clamp<Index>((most + 4 * block_threads - 1) / (4 * block_threads), 1, most_blocks);
    exchange_halos<<<unsigned(blocks), block_threads, 0, stream(context)>>>(x);
    launched(context, "exchange of halos");
}

}  // namespace

void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high,
                   const std::vector<double*>& arrays) {
    for (std::size_t first = 0; first < arrays.size(); first += most_arrays)
        queue_exchange(context, low, high,
                       {arrays.begin() + std::ptrdiff_t(first),
                        arrays.begin() + std::ptrdiff_t(std::min(arrays.size(), first + most_arrays))});
}

}  // namespace cuda
}  // namespace hyperplane
