// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "core/ranks/cuts.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/vector/reduce_cuda.cuh"
#include "core/vector/sums_cuda.hpp"

namespace hyperplane::cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    add_all_planes(const double* sums, int planes, int columns, const __grid_constant__ Results results) {
    add_planes(planes, columns, results, [&](int at) { return sums[at]; });
}

__global__ void __launch_bounds__(block_threads) add_all_pieces(const __grid_constant__ SumTail tail) {
    finish_sums(tail, 1);
}

}  // namespace

SumTail tail_of(const Context& context, const SumOrder& order, const Results& results) {
    SumTail tail{order, results, AddPlanes::own, context.stream().scratch(), {}};
    if (!context.ranks() || !order.is_part()) return tail;
    const bool by_links = context.stream().recording() && !by_messages(context);
    tail.add = by_links ? AddPlanes::after_links : AddPlanes::after_gather;
    tail.link = links_of(context).view();
    return tail;
}

void complete_sums(const Context& context, const SumTail& tail, int columns) {
    if (tail.add != AddPlanes::after_gather) return;
    const SumOrder& order = tail.order;
    const bool recording = context.stream().recording();
    // Within a graph the sums of pieces have been added up, so there is room for all planes in their place.
    double* const sums = recording ? tail.scratch.partial : tail.scratch.planes;
    if (recording) {
        std::vector<Index> counts;
        for (const double planes : gathered(context, {double(order.planes)})) counts.push_back(Index(planes) * columns);
        links_of(context).messages().record_gather(context, counts, tail.scratch.planes, sums);
    } else {
        std::vector<double> mine(std::size_t(order.planes) * std::size_t(columns)),
            all(std::size_t(order.all_planes) * std::size_t(columns));
        context.stream().copy(tail.scratch.planes, mine.data(), Index(mine.size() * sizeof(double)));
        context.ranks()->all_gather(mine, all);
        context.stream().copy(all.data(), sums, Index(all.size() * sizeof(double)));
    }
    add_all_planes<<<1, block_threads, 0, stream(context)>>>(sums, order.all_planes, columns, tail.results);
    launched(context, "sums of all planes");
}

double* pieces(const Context& context) {
    return context.stream().scratch().partial;
}

void add_pieces(const Context& context, const SumOrder& order, double* sum) {
    Results results;
    results.separate[0] = sum;
    const SumTail tail = tail_of(context, order, results);
    add_all_pieces<<<1, block_threads, 0, stream(context)>>>(tail);
    launched(context, "sums of pieces");
    complete_sums(context, tail, 1);
}

}  // namespace hyperplane::cuda
