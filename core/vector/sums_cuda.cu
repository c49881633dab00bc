// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    add_all_planes(const double* sums, int planes, int columns, const __grid_constant__ Results results) {
    add_planes(planes, columns, results, [&](int at) { return sums[at]; });
}

}  // namespace

SumTail tail_of(const Context& context, const SumOrder& order, const Results& results) {
    SumTail tail{order, results, AddPlanes::own, context.stream().scratch(), {}};
    if (!context.ranks() || !order.is_part()) return tail;
    tail.add = context.stream().recording() ? AddPlanes::after_links : AddPlanes::after_host;
    tail.link = links_of(context).view();
    return tail;
}

void complete_sums(const Context& context, const SumTail& tail, int columns) {
    if (tail.add != AddPlanes::after_host) return;
    const SumOrder& order = tail.order;
    std::vector<double> mine(std::size_t(order.planes) * std::size_t(columns)),
        all(std::size_t(order.all_planes) * std::size_t(columns));
    context.stream().copy(tail.scratch.planes, mine.data(), Index(mine.size() * sizeof(double)));
    context.ranks()->all_gather(mine, all);
    context.stream().copy(all.data(), tail.scratch.planes, Index(all.size() * sizeof(double)));
    add_all_planes<<<1, block_threads, 0, stream(context)>>>(tail.scratch.planes, order.all_planes, columns,
                                                             tail.results);
    launched(context, "sums of all planes");
}

}  // namespace hyperplane::cuda
