// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/offers_cuda.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/device/cuda.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

std::mutex of_events;
/// Events that no context uses, by GPU.
std::map<int, std::vector<cudaEvent_t>>& free_events() {
    static auto* const events = new std::map<int, std::vector<cudaEvent_t>>;
    return *events;
}

/// An event of the current GPU, `ordinal`.
cudaEvent_t take_event(int ordinal) {
    const std::scoped_lock lock(of_events);
    std::vector<cudaEvent_t>& events = free_events()[ordinal];
    cudaEvent_t event = nullptr;
    if (events.empty()) {
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    } else {
        event = events.back();
        events.pop_back();
    }
    return event;
}

/// Marks the end of what is queued now.
double marked(const Context& context, void* event) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(event), stream(context)), "cudaEventRecord");
    return address_as_value(event);
}

void wait_for_mark(const Context& context, double event) {
    check(cudaStreamWaitEvent(stream(context), static_cast<cudaEvent_t>(address_of_value(event)), 0),
          "cudaStreamWaitEvent");
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

void pull(const Context& context, const std::vector<double>& from, const EndArrays& end) {
    if (end.received == 0) return;
    for (std::size_t first = 0; first < from.size(); first += arrays_of_pull) {
        const std::size_t arrays = std::min<std::size_t>(arrays_of_pull, from.size() - first);
        Pull pull{};
        for (std::size_t at = 0; at < arrays; ++at) {
            pull.from[at] = static_cast<const double*>(address_of_value(from[first + at]));
            pull.to[at] = end.halo[first + at];
        }
        pull.count = end.received;
        const Index blocks = std::clamp<Index>((end.received + 4 * block_threads - 1) / (4 * block_threads), 1, 128);
        pull_values<<<dim3(unsigned(blocks), unsigned(arrays)), block_threads, 0, stream(context)>>>(pull);
        launched(context, "copy from another rank");
    }
}

}  // namespace

OfferEvents::OfferEvents(const Context& context)
    : ordinal_(context.stream().properties().ordinal), offered_(nullptr), read_(nullptr) {
    stream(context);  // makes its GPU the current one
    offered_ = take_event(ordinal_);
    read_ = take_event(ordinal_);
}

OfferEvents::~OfferEvents() {
    const std::scoped_lock lock(of_events);
    for (void* const event : {offered_, read_}) free_events()[ordinal_].push_back(static_cast<cudaEvent_t>(event));
}

void offer(const Context& context, int to, std::vector<double> values) {
    values.push_back(marked(context, links_of(context).events().offered()));
    context.ranks()->send(to, values);
}

std::vector<double> take_offer(const Context& context, int from, std::size_t count) {
    links_of(context);  // all memory is accessible
    std::vector<double> values(count + 1);
    context.ranks()->receive(from, values);
    wait_for_mark(context, values.back());
    values.pop_back();
    return values;
}

void acknowledge(const Context& context, int to) {
    const double event = marked(context, links_of(context).events().read());
    context.ranks()->send(to, {&event, 1});
}

void await_acknowledgement(const Context& context, int from) {
    double event = 0.0;
    context.ranks()->receive(from, {&event, 1});
    wait_for_mark(context, event);
}

void exchange_arrays(const Context& context, const EndArrays& low, const EndArrays& high) {
    const int below = context.ranks()->rank() - 1, above = below + 2 < context.ranks()->size() ? below + 2 : -1;
    const auto give = [&](int to, const EndArrays& end) {
        if (to < 0) return;
        std::vector<double> addresses;
        for (const double* const values : end.own) addresses.push_back(address_as_value(values));
        offer(context, to, std::move(addresses));
    };
    const auto take = [&](int from, const EndArrays& end) {
        if (from < 0) return;
        pull(context, take_offer(context, from, end.halo.size()), end);
        acknowledge(context, from);
    };
    give(below, low);
    give(above, high);
    take(below, low);
    take(above, high);
    for (const int rank : {below, above})
        if (rank >= 0) await_acknowledgement(context, rank);
}

}  // namespace hyperplane::cuda
