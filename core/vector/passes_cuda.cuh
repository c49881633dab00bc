// SPDX-License-Identifier: BSD-3-Clause
// Passes over vectors on a GPU: an operation on the elements of arrays, with or without sums, in one kernel.
#pragma once

#include <algorithm>

#include "core/device/cuda.hpp"
#include "core/vector/reduce_cuda.cuh"
#include "core/vector/vector.hpp"

namespace hyperplane::cuda {

static_assert(Index(SumOrder::most_planes) * Results::most_separate <= device::Scratch::sums);

/// An operation on arrays, element by element. Bit k of `read` (`written`) is set if array k is read (written).
template <int arrays_, int sums_, unsigned read_, unsigned written_>
struct Operation {
    static constexpr int arrays = arrays_, sums = sums_;
    static constexpr unsigned read = read_, written = written_;
    static constexpr int widest = 2;      ///< neighbouring values that one instruction may load
    static constexpr int converted = -1;  ///< the array whose values come from Op::convert, if any; it is not read

    const double* array[arrays];
    double* result[sums + 1];

    /// Evaluates the coefficients; returns false if there is nothing to do.
    __device__ bool prepare() { return true; }
    /// The place of element `at` in the arrays.
    __device__ Index place(Index at) const { return at; }
};

/// Elements from width `at` on. If not `aligned`, one instruction loads only one element.
template <int width, bool aligned = true, class Op>
__device__ void load(const Op& op, Index at, Values<width> (&values)[Op::arrays]) {
#pragma unroll
    for (int k = 0; k < Op::arrays; ++k) {
        if constexpr (Op::converted >= 0)
            if (k == Op::converted) values[k] = op.template convert<width, aligned>(at);
        if (!(Op::read >> k & 1)) continue;
        if (aligned) {
            values[k] = reinterpret_cast<const Values<width>*>(op.array[k])[op.place(at)];
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane) values[k].at[lane] = op.array[k][op.place(width * at + lane)];
        }
    }
}

template <int width, bool aligned = true, class Op>
__device__ void apply(const Op& op, Index at, Values<width> (&values)[Op::arrays], double* sum) {
#pragma unroll
    for (int lane = 0; lane < width; ++lane) {
        double element[Op::arrays];
#pragma unroll
        for (int k = 0; k < Op::arrays; ++k) element[k] = values[k].at[lane];
        op(element, sum);
#pragma unroll
        for (int k = 0; k < Op::arrays; ++k) values[k].at[lane] = element[k];
    }
#pragma unroll
    for (int k = 0; k < Op::arrays; ++k) {
        if (!(Op::written >> k & 1)) continue;
        double* const array = const_cast<double*>(op.array[k]);
        if (aligned) {
            reinterpret_cast<Values<width>*>(array)[op.place(at)] = values[k];
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane) array[op.place(width * at + lane)] = values[k].at[lane];
        }
    }
}

template <class Op>
constexpr int unroll = Op::arrays <= 2   ? 4
                       : Op::arrays <= 4 ? 2
                                         : 1;

/// Many arrays take more registers than four blocks of a multiprocessor leave a thread.
template <class Op>
constexpr int blocks_per_multiprocessor = Op::arrays <= 4 ? 4 : 2;

/// What a thread does of `size` consecutive elements; `thread` of `threads` share them.
template <int width, int together, bool aligned = true, class Op>
__device__ void run_elements(const Op& op, Index size, Index thread, Index threads, double* sum) {
    const Index chunks = size / width;
    Index at = thread;
    if (width > 1 && at == 0 && size % width) {
        Values<1> values[Op::arrays];
        load(op, size - 1, values);
        apply(op, size - 1, values, sum);
    }
    for (; at + (together - 1) * threads < chunks; at += together * threads) {
        Values<width> values[together][Op::arrays];
#pragma unroll
        for (int u = 0; u < together; ++u) load<width, aligned>(op, at + u * threads, values[u]);
#pragma unroll
        for (int u = 0; u < together; ++u) apply<width, aligned>(op, at + u * threads, values[u], sum);
    }
    for (; at < chunks; at += threads) {
        Values<width> values[Op::arrays];
        load<width, aligned>(op, at, values);
        apply<width, aligned>(op, at, values, sum);
    }
}

template <int width, class Op>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor<Op>) pass(Op op, Index size) {
    if (!op.prepare()) return;
    double none[1] = {};
    run_elements<width, unroll<Op>>(op, size, Index(blockIdx.x) * block_threads + threadIdx.x,
                                    Index(gridDim.x) * block_threads, none);
}

/// Whether one instruction may load `width` values from the beginning of each array.
template <int width, class Op>
__host__ __device__ bool is_aligned(const Op& op) {
    std::uintptr_t addresses = 0;
    for (const double* address : op.array) addresses |= reinterpret_cast<std::uintptr_t>(address);
    return addresses % (8 * width) == 0;
}

/// The same with sums, piece by piece of the planes.
template <int width, class Op>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor<Op>)
    pass_with_sums(Op op, const __grid_constant__ SumTail tail) {
    if (!op.prepare()) return;
    const SumOrder& order = tail.order;
    for (Index block = blockIdx.x; block < order.blocks(); block += gridDim.x) {
        double sum[Op::sums] = {};
        const Index first = order.first(block), count = order.count(block);
        for (int c = 0; c < order.components; ++c) {
            Op here = op;
            const Index begin = c * order.component + first;
            // Pairs begin at even places of the whole grid, whichever rank they are on. A rank's memory may begin at an
            // odd one.
            const int head = width == 2 ? order.head(block, c) : 0;
#pragma unroll
            for (int k = 0; k < Op::arrays; ++k) here.array[k] += op.place(begin);
            if (head && threadIdx.x == block_threads - 1) {
                Values<1> values[Op::arrays];
                load(here, 0, values);
                apply(here, 0, values, sum);
            }
#pragma unroll
            for (int k = 0; k < Op::arrays; ++k) here.array[k] += op.place(head);
            if (is_aligned<width>(here))
                run_elements<width, unroll<Op>*(width == 2 ? 1 : 2)>(here, count - head, threadIdx.x, block_threads,
                                                                     sum);
            else
                run_elements<width, unroll<Op>, false>(here, count - head, threadIdx.x, block_threads, sum);
        }
#pragma unroll
        for (int s = 0; s < Op::sums; ++s) {
            const double total = block_sum(sum[s]);
            if (threadIdx.x == 0) tail.scratch.partial[block * Op::sums + s] = total;
        }
    }
    if (is_last_block(tail.scratch.arrived)) finish_sums(tail, Op::sums);
}

/// Runs an operation without sums on `size` consecutive elements.
template <class Op>
void run(const Context& context, const char* name, const Op& op, Index size) {
    static_assert(Op::sums == 0);
    const bool pairs = Op::widest == 2 && is_aligned<2>(op);
    const Index work = (size + (pairs ? 1 : 0)) / (pairs ? 2 : 1);
    const Index blocks = std::max<Index>(1, (work + block_threads * unroll<Op> - 1) / (block_threads * unroll<Op>));
    if (pairs)
        pass<Op::widest><<<unsigned(blocks), block_threads, 0, stream(context)>>>(op, size);
    else
        pass<1><<<unsigned(blocks), block_threads, 0, stream(context)>>>(op, size);
    launched(context, name);
}

/// Runs an operation on all values of vectors like x, those of halos included; its arrays are whole memories.
template <class Op>
void run(const char* name, const Op& op, const Vector& x) {
    run(x.context(), name, op, x.memory().size());
}

/// Runs an operation with sums on `components` components of vectors like x; its arrays begin at slot 0.
template <class Op>
void run_sums(const char* name, const Op& op, const Vector& x, int components) {
    const Context& context = x.context();
    const SumOrder order(x.space(), components);
    Results results;
    std::copy_n(op.result, Op::sums, results.separate);
    const SumTail tail = tail_of(context, order, results);
    const Index blocks =
        std::clamp<Index>(order.blocks(), 1, Index(multiprocessors(context)) * blocks_per_multiprocessor<Op>);
    pass_with_sums<Op::widest><<<unsigned(blocks), block_threads, 0, stream(context)>>>(op, tail);
    launched(context, name);
    complete_sums(context, tail, Op::sums);
}
template <class Op>
void run_sums(const char* name, const Op& op, const Vector& x) {
    run_sums(name, op, x, x.dof());
}

}  // namespace hyperplane::cuda
