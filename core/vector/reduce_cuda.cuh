// SPDX-License-Identifier: BSD-3-Clause
// Sums over all thread blocks of a launch, in one kernel and in a fixed order.
#pragma once

#include "core/device/cuda.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/waiting_cuda.cuh"
#include "core/vector/block_sum.cuh"
#include "core/vector/sum_order.hpp"

namespace hyperplane::cuda {

/// `width` neighbouring values that one instruction loads or stores.
template <int width>
struct alignas(8 * width) Values {
    double at[width];
};

/// True in the thread block that is the last to call it; that block sees all that the others wrote before their calls.
/// Resets `arrived` for the next launch.
__device__ inline bool is_last_block(unsigned* arrived) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

/// Where sums go: sum m to together[m] if that is given, otherwise to *separate[m].
struct Results {
    static constexpr int most_separate = 5;
    double* together = nullptr;
    double* separate[most_separate] = {};

    __device__ double* at(int m) const { return together ? together + m : separate[m]; }
};

/// Who adds up the planes: this rank, which has all of them; this rank, after the host or a message to all ranks has
/// gathered those of all ranks; or this rank, after all ranks' kernels have exchanged them.
enum class AddPlanes { own, after_gather, after_links };

/// How the last thread block of a launch completes sums. The blocks have written partial[block][column], for the blocks
/// of the order.
struct SumTail {
    SumOrder order;
    Results results;
    AddPlanes add;
    device::Scratch scratch;
    LinkView link;
};

/// Adds planes[plane][column] in a fixed order, a warp for each column.
template <class Load>
__device__ void add_planes(int planes, int columns, const Results& results, const Load& load) {
    for (int m = threadIdx.x / 32; m < columns; m += block_warps) {
        double total = 0.0;
#pragma unroll 8
        for (int plane = threadIdx.x % 32; plane < planes; plane += 32) total += load(plane * columns + m);
        total = warp_sum(total);
        if (threadIdx.x % 32 == 0) *results.at(m) = total;
    }
}

/// Stores the sums of this rank's planes into the memory of all ranks, waits for theirs, and returns all of them. The
/// memory for epochs of the other parity stays as it is, since slower ranks may still read it.
__device__ inline const double* exchange_planes(const SumTail& t, int columns, const double* planes) {
    const LinkView& link = t.link;
    const unsigned epoch = *const_cast<volatile unsigned*>(link.epochs) + 1;
    const Index place = epoch % 2 * device::Scratch::sums;
    for (int other = 0; other < link.ranks; ++other) {
        double* const to = link.gathered[other] + place + Index(t.order.first_plane) * columns;
        for (int at = threadIdx.x; at < t.order.planes * columns; at += block_threads) to[at] = planes[at];
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) link.epochs[0] = epoch;
    for (int other = threadIdx.x; other < link.ranks; other += block_threads) {
        release(link.flags[other] + link.rank, epoch);
        wait_for(link.flags[link.rank] + other, epoch);
    }
    __syncthreads();
    return link.gathered[link.rank] + place;
}

/// Completes the sums. All threads of the last block must call it (is_last_block).
__device__ inline void finish_sums(const SumTail& t, int columns) {
    constexpr int kept = 512;
    __shared__ double of_planes[kept], of_thread[block_threads];
    const SumOrder& order = t.order;
    const int lanes = order.lanes(columns), lane = threadIdx.x % lanes, sums = order.planes * columns;
    double* const planes = sums <= kept && t.add != AddPlanes::after_gather ? of_planes : t.scratch.planes;
    for (int first = 0; first < sums; first += block_threads / lanes) {
        const int at = first + threadIdx.x / lanes;
        double total = 0.0;
        if (at < sums) {
            const double* const from = t.scratch.partial + Index(at / columns) * order.pieces * columns + at % columns;
#pragma unroll 8
            for (int piece = lane; piece < order.pieces; piece += lanes) total += __ldcg(from + Index(piece) * columns);
        }
        if (lanes > 1) {
            of_thread[threadIdx.x] = total;
            for (int half = lanes / 2; half > 0; half /= 2) {
                __syncthreads();
                if (lane < half) of_thread[threadIdx.x] += of_thread[threadIdx.x + half];
            }
            total = of_thread[threadIdx.x];
            __syncthreads();
        }
        if (lane == 0 && at < sums) planes[at] = total;
    }
    __syncthreads();
    if (t.add == AddPlanes::own) add_planes(order.planes, columns, t.results, [&](int at) { return planes[at]; });
    if (t.add == AddPlanes::after_links) {
        const double* const all = exchange_planes(t, columns, planes);
        add_planes(order.all_planes, columns, t.results, [&](int at) { return __ldcg(all + at); });
    }
}

/// The tail of sums over vectors of a context.
SumTail tail_of(const Context& context, const SumOrder& order, const Results& results);
/// Completes the sums of a kernel that was just launched, where that takes the host or messages.
void complete_sums(const Context& context, const SumTail& tail, int columns);

}  // namespace hyperplane::cuda
