// SPDX-License-Identifier: BSD-3-Clause
// Operations on several vectors, the columns of V, and one vector w: w += sign V c, V^T w, or both. V and w are read
// from memory once in either case. For up to 32 columns a thread loads two entries of all columns into registers. For
// more, a thread block copies chunks of entries to shared memory and works on them there.
#include <cuda_pipeline.h>

#include <algorithm>

#include "core/device/cuda.hpp"
#include "core/vector/blas1_cuda.hpp"
#include "core/vector/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int max_columns = 64, max_in_registers = 32, blocks_per_multiprocessor = 3;
constexpr int columns_per_warp = max_columns / block_warps;
/// Values of a piece of a sum: the sums of many columns over a thread block cost as much as several hundred entries.
constexpr Index long_pieces = 16384;

static_assert(Index(SumOrder::most_planes) * max_columns <= device::Scratch::sums);

enum class Reduce { nothing, norm, dots };

struct Arguments {
    const double* v[max_columns];
    int columns;
    double* w;
    double sign;
    const double* c;
    int chunk;   ///< entries at a time, a multiple of 64
    bool pairs;  ///< whether two neighbouring entries can be loaded together
    SumTail tail;
};

/// Copies `chunk` entries of a column to shared memory, with zeros from entry `count` on.
__device__ void stage(const double* from, double* to, int count, int chunk, bool pairs) {
    for (int at = threadIdx.x % 32 * 2; at < chunk; at += 64) {
        if (pairs && at + 1 < count) {
            __pipeline_memcpy_async(to + at, from + at, 16);
        } else {
            to[at] = at < count ? from[at] : 0.0;
            to[at + 1] = at + 1 < count ? from[at + 1] : 0.0;
        }
    }
}

/// w += sign V c if `combine`, then w^T w or V^T w.
template <bool combine, Reduce reduce>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor) columns_pass(const Arguments a) {
    extern __shared__ double staged[];
    __shared__ double c[max_columns];
    double* const w = staged + a.columns * a.chunk;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (combine && threadIdx.x < a.columns) c[threadIdx.x] = a.sign * a.c[threadIdx.x];
    const SumOrder& order = a.tail.order;
    const int sums = reduce == Reduce::norm ? 1 : a.columns;
    double* const partial = a.tail.scratch.partial;

    for (Index block = blockIdx.x; block < order.blocks(); block += gridDim.x) {
        double product[columns_per_warp] = {}, square = 0.0;
        for (int part = 0; part < order.components; ++part) {
            const Index begin = part * order.component + order.first(block), size = order.count(block);
            for (Index first = 0; first < size; first += a.chunk) {
                const int count = int(min(Index(a.chunk), size - first));
                __syncthreads();  // all threads have read the previous chunk
                for (int m = warp; m <= a.columns; m += block_warps)
                    stage((m < a.columns ? a.v[m] : a.w) + begin + first, staged + m * a.chunk, count, a.chunk,
                          a.pairs);
                __pipeline_commit();
                __pipeline_wait_prior(0);
                __syncthreads();
                if (combine) {
                    for (int at = threadIdx.x; at < count; at += block_threads) {
                        double value = w[at];
                        for (int m = 0; m < a.columns; ++m) value = fma(c[m], staged[m * a.chunk + at], value);
                        a.w[begin + first + at] = value;
                        if (reduce == Reduce::norm) square = fma(value, value, square);
                        if (reduce == Reduce::dots) w[at] = value;
                    }
                }
                if (reduce == Reduce::dots) {
                    if (combine) __syncthreads();
                    for (int at = lane; at < count; at += 32) {
                        const double value = w[at];
#pragma unroll
                        for (int turn = 0; turn < columns_per_warp; ++turn)
                            if (const int m = warp + turn * block_warps; m < a.columns)
                                product[turn] = fma(staged[m * a.chunk + at], value, product[turn]);
                    }
                }
            }
        }
        if (reduce == Reduce::norm) {
            square = block_sum(square);
            if (threadIdx.x == 0) partial[block] = square;
        }
        if (reduce == Reduce::dots) {
#pragma unroll
            for (int turn = 0; turn < columns_per_warp; ++turn) {
                const int m = warp + turn * block_warps;
                const double total = warp_sum(product[turn]);
                if (lane == 0 && m < a.columns) partial[block * sums + m] = total;
            }
        }
    }
    if (reduce != Reduce::nothing && is_last_block(a.tail.scratch.arrived)) finish_sums(a.tail, sums);
}

/// The shape of a kernel for at most `most` columns: the number of pairs of entries that a thread loads at a time,
/// larger for few columns so that enough loads are in flight, and the number of resident thread blocks that registers
/// allow.
template <int most>
struct InRegisters {
    static constexpr int pairs = most <= 4 ? 4 : most <= 8 ? 2 : 1, blocks = most <= 16 ? 2 : 1;
};

/// `width` neighbouring entries of V and w: w += V c if `combine`, then their contribution to the sums.
template <int most, bool combine, Reduce reduce, int width>
struct Entries {
    Values<width> v[most], w;

    /// `at` counts groups of `width` entries from entry `begin` on.
    __device__ void load(const Arguments& a, Index begin, Index at, bool inside) {
#pragma unroll
        for (int m = 0; m < most; ++m)
            v[m] =
                inside && m < a.columns ? reinterpret_cast<const Values<width>*>(a.v[m] + begin)[at] : Values<width>{};
        w = inside ? reinterpret_cast<const Values<width>*>(a.w + begin)[at] : Values<width>{};
    }
    __device__ void use(const Arguments& a, Index begin, Index at, bool inside, const double (&c)[most],
                        double (&sum)[most]) {
#pragma unroll
        for (int k = 0; k < width; ++k) {
            double& value = w.at[k];
            if (combine) {
#pragma unroll
                for (int m = 0; m < most; ++m) value = fma(c[m], v[m].at[k], value);
            }
            if (reduce == Reduce::norm) sum[0] = fma(value, value, sum[0]);
            if (reduce == Reduce::dots) {
#pragma unroll
                for (int m = 0; m < most; ++m) sum[m] = fma(v[m].at[k], value, sum[m]);
            }
        }
        if (combine && inside) reinterpret_cast<Values<width>*>(a.w + begin)[at] = w;
    }
};

/// The same as columns_pass, in registers, for at most `most` columns.
template <int most, bool combine, Reduce reduce, int width>
__global__ void __launch_bounds__(block_threads, InRegisters<most>::blocks)
    few_columns_pass(const __grid_constant__ Arguments a) {
    constexpr int groups = InRegisters<most>::pairs * (width == 2 ? 1 : 2);
    __shared__ double c[most], of_warps[block_warps][most];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (combine && threadIdx.x < most) c[threadIdx.x] = threadIdx.x < a.columns ? a.sign * a.c[threadIdx.x] : 0.0;
    __syncthreads();
    const SumOrder& order = a.tail.order;
    const int sums = reduce == Reduce::norm ? 1 : a.columns;

    for (Index block = blockIdx.x; block < order.blocks(); block += gridDim.x) {
        double sum[most] = {};
        for (int part = 0; part < order.components; ++part) {
            const Index first = part * order.component + order.first(block), count = order.count(block);
            const Index size = count / width;
            if (width > 1 && threadIdx.x == 0 && count % width) {
                Entries<most, combine, reduce, 1> last;
                last.load(a, first, count - 1, true);
                last.use(a, first, count - 1, true, c, sum);
            }
            for (Index at = threadIdx.x; at < size; at += groups * block_threads) {
                Entries<most, combine, reduce, width> entries[groups];
#pragma unroll
                for (int u = 0; u < groups; ++u)
                    entries[u].load(a, first, at + u * block_threads, at + u * block_threads < size);
#pragma unroll
                for (int u = 0; u < groups; ++u)
                    entries[u].use(a, first, at + u * block_threads, at + u * block_threads < size, c, sum);
            }
        }
        if constexpr (reduce != Reduce::nothing) {
#pragma unroll
            for (int m = 0; m < (reduce == Reduce::norm ? 1 : most); ++m) {
                const double total = warp_sum(sum[m]);
                if (lane == 0) of_warps[warp][m] = total;
            }
            __syncthreads();
            if (threadIdx.x < sums) {
                double total = 0.0;
                for (int of = 0; of < block_warps; ++of) total += of_warps[of][threadIdx.x];
                a.tail.scratch.partial[block * sums + threadIdx.x] = total;
            }
            __syncthreads();  // before the sums of the next block are written
        }
    }
    if (reduce != Reduce::nothing && is_last_block(a.tail.scratch.arrived)) finish_sums(a.tail, sums);
}

template <int most, bool combine, Reduce reduce>
void run_in_registers(const Context& context, const char* name, const Arguments& a) {
    const Index blocks =
        std::clamp<Index>(a.tail.order.blocks(), 1, Index(multiprocessors(context)) * InRegisters<most>::blocks);
    if (a.pairs)
        few_columns_pass<most, combine, reduce, 2><<<unsigned(blocks), block_threads, 0, stream(context)>>>(a);
    else
        few_columns_pass<most, combine, reduce, 1><<<unsigned(blocks), block_threads, 0, stream(context)>>>(a);
    launched(context, name);
}

template <bool combine, Reduce reduce>
void run_staged(const Context& context, const char* name, Arguments& a) {
    // The resident thread blocks divide a multiprocessor's shared memory. Each leaves 8 KiB for the system, `c` and
    // sums.
    const Index memory = context.stream().properties().shared_per_block / blocks_per_multiprocessor - 8192;
    const Index room = memory / Index(sizeof(double)) / Index(a.columns + 1);
    a.chunk = int(std::clamp<Index>(room / 64 * 64, 64, 2048));
    const Index shared = Index(a.columns + 1) * a.chunk * Index(sizeof(double));
    const auto kernel = columns_pass<combine, reduce>;
    const cudaStream_t queue = stream(context);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
          "cudaFuncSetAttribute");
    const Index blocks =
        std::clamp<Index>(a.tail.order.blocks(), 1, Index(multiprocessors(context)) * blocks_per_multiprocessor);
    kernel<<<unsigned(blocks), block_threads, std::size_t(shared), queue>>>(a);
    launched(context, name);
}

template <bool combine, Reduce reduce>
void run_fitting(const Context& context, const char* name, Arguments& a) {
    if (a.columns <= 4) return run_in_registers<4, combine, reduce>(context, name, a);
    if (a.columns <= 8) return run_in_registers<8, combine, reduce>(context, name, a);
    if (a.columns <= 16) return run_in_registers<16, combine, reduce>(context, name, a);
    if (a.columns <= max_in_registers) return run_in_registers<max_in_registers, combine, reduce>(context, name, a);
    run_staged<combine, reduce>(context, name, a);
}

template <bool combine, Reduce reduce>
void run(const char* name, Columns v, Vector& w, double sign, const double* c, double* result) {
    const SumOrder order(w.space(), w.dof(), long_pieces);
    Arguments a{{}, int(v.size()), w.data(), sign, c, 0, false, {order, {}, AddPlanes::own, {}, {}}};
    a.pairs = order.even() && reinterpret_cast<std::uintptr_t>(w.data()) % 16 == 0;
    for (int m = 0; m < a.columns; ++m) {
        a.v[m] = v[m]->data();
        a.pairs = a.pairs && reinterpret_cast<std::uintptr_t>(a.v[m]) % 16 == 0;
    }
    Results results;
    results.together = result;
    if (reduce != Reduce::nothing) a.tail = tail_of(w.context(), order, results);
    run_fitting<combine, reduce>(w.context(), name, a);
    if (reduce != Reduce::nothing) complete_sums(w.context(), a.tail, reduce == Reduce::norm ? 1 : a.columns);
}

/// Calls body(columns, first) for groups of columns that fit one kernel, and once if there are no columns.
template <class Body>
void for_groups(Columns v, const Body& body) {
    for (std::size_t first = 0; first == 0 || first < v.size(); first += max_columns)
        body(v.subspan(first, std::min<std::size_t>(max_columns, v.size() - first)), first);
}

}  // namespace

void dots(Columns v, const Vector& w, double* h) {
    Vector& read_only = const_cast<Vector&>(w);
    for_groups(v, [&](Columns group, std::size_t first) {
        run<false, Reduce::dots>("dots", group, read_only, 0.0, nullptr, h + first);
    });
}

void add_combination(double sign, const double* c, Columns v, Vector& w) {
    for_groups(v, [&](Columns group, std::size_t first) {
        run<true, Reduce::nothing>("add_combination", group, w, sign, c + first, nullptr);
    });
}

void add_combination(double sign, const double* c, Columns v, Vector& w, double* ww) {
    for_groups(v, [&](Columns group, std::size_t first) {
        if (first + group.size() < v.size())
            run<true, Reduce::nothing>("add_combination", group, w, sign, c + first, nullptr);
        else
            run<true, Reduce::norm>("add_combination, norm", group, w, sign, c + first, ww);
    });
}

void add_combination_dots(double sign, const double* c, Columns v, Vector& w, double* h) {
    if (v.size() <= max_columns) return run<true, Reduce::dots>("add_combination, dots", v, w, sign, c, h);
    cuda::add_combination(sign, c, v, w);
    cuda::dots(v, w, h);
}

}  // namespace hyperplane::cuda
