// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/offers_cuda.hpp"

#include <algorithm>
#include <span>

#include "core/device/cuda.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

/// Marks the end of what is queued now.
void mark(const Context& context, void* event) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(event), stream(context)), "cudaEventRecord");
}

void wait_for_mark(const Context& context, void* event) {
    check(cudaStreamWaitEvent(stream(context), static_cast<cudaEvent_t>(event), 0), "cudaStreamWaitEvent");
}

PeerEvents events_of(const Context& context, int rank) {
    return links_of(context).peers().events(rank);
}

constexpr int arrays_of_pull = 64;

struct Pull {
    const double* from[arrays_of_pull];
    double* to[arrays_of_pull];
    Index count;  ///< values of each array
};

__global__ void __launch_bounds__(block_threads) pull_values(const __grid_constant__ Pull pull) {
    const double* const from = pull.from[blockIdx.y];
    double* const to = pull.to[blockIdx.y];
    const Index stride = Index(gridDim.x) * block_threads;
#pragma unroll 4
    for (Index at = Index(blockIdx.x) * block_threads + threadIdx.x; at < pull.count; at += stride) to[at] = from[at];
}

void pull(const Context& context, const std::vector<const void*>& from, const EndArrays& end) {
    if (end.received == 0) return;
    for (std::size_t first = 0; first < from.size(); first += arrays_of_pull) {
        const std::size_t arrays = std::min<std::size_t>(arrays_of_pull, from.size() - first);
        Pull pull{};
        for (std::size_t at = 0; at < arrays; ++at) {
            pull.from[at] = static_cast<const double*>(from[first + at]);
            pull.to[at] = end.halo[first + at];
        }
        pull.count = end.received;
        const Index blocks = std::clamp<Index>((end.received + 4 * block_threads - 1) / (4 * block_threads), 1, 128);
        pull_values<<<dim3(unsigned(blocks), unsigned(arrays)), block_threads, 0, stream(context)>>>(pull);
        launched(context, "copy from another rank");
    }
}

}  // namespace

void offer(const Context& context, int to, const Offer& offered) {
    std::vector<double> message = described(context, offered.addresses);
    message.insert(message.end(), offered.numbers.begin(), offered.numbers.end());
    mark(context, events_of(context, context.ranks()->rank()).offered);
    context.ranks()->send(to, message);
}

Offer take_offer(const Context& context, int from, std::size_t addresses, std::size_t numbers) {
    const std::size_t size = values_to_describe(context, addresses);
    std::vector<double> message(size + numbers);
    context.ranks()->receive(from, message);
    wait_for_mark(context, events_of(context, from).offered);
    const std::vector<void*> theirs = reached(context, from, std::span(message).first(size));
    return {{theirs.begin(), theirs.end()}, {message.begin() + std::ptrdiff_t(size), message.end()}};
}

void acknowledge(const Context& context, int to) {
    mark(context, events_of(context, context.ranks()->rank()).read);
    const double done = 1.0;
    context.ranks()->send(to, {&done, 1});
}

void await_acknowledgement(const Context& context, int from) {
    double done = 0.0;
    context.ranks()->receive(from, {&done, 1});
    wait_for_mark(context, events_of(context, from).read);
}

void exchange_arrays(const Context& context, const EndArrays& low, const EndArrays& high, OuterEnds outer) {
    const auto [below, above] = RanksBeside(*context.ranks(), outer);
    if (by_messages(context)) {
        std::vector<RankPart> sent, received;
        const auto list_sent = [&](int other, const EndArrays& end) {
            for (const double* const array : end.own)
                if (other >= 0) sent.push_back({other, const_cast<double*>(array), end.owned * Index(sizeof(double))});
        };
        const auto list_received = [&](int other, const EndArrays& end) {
            for (double* const array : end.halo)
                if (other >= 0) received.push_back({other, array, end.received * Index(sizeof(double))});
        };
        list_sent(below, low);
        list_sent(above, high);
        list_received(above, high);
        list_received(below, low);
        return exchange_parts(context, sent, received);
    }
    const auto give = [&](int to, const EndArrays& end) {
        if (to < 0) return;
        offer(context, to, {{end.own.begin(), end.own.end()}});
    };
    const auto take = [&](int from, const EndArrays& end) {
        if (from < 0) return;
        pull(context, take_offer(context, from, end.halo.size()).addresses, end);
        acknowledge(context, from);
    };
    give(below, low);
    give(above, high);
    take(above, high);
    take(below, low);
    for (const int rank : {below, above})
        if (rank >= 0) await_acknowledgement(context, rank);
}

}  // namespace hyperplane::cuda
