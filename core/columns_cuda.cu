// Operations on many columns V and one vector w. A block takes a chunk of the rows: it brings the chunk of every
// column and of w into shared memory, and works on it there, so that V and w cross the memory once, whether they
// are combined, multiplied, or both.
#include <cuda_pipeline.h>

#include <algorithm>

#include "core/blas1_cuda.hpp"
#include "core/cuda.hpp"
#include "core/reduce_cuda.cuh"

namespace hyperplane::cuda {
namespace {

constexpr int max_columns = 64, max_blocks = 1024, blocks_per_multiprocessor = 3;
constexpr int columns_per_warp = max_columns / block_warps;

__device__ double partial[max_blocks * max_columns];
__device__ unsigned arrived;

enum class Reduce { nothing, norm, dots };

struct Arguments {
    const double* v[max_columns];
    int columns;
    double* w;
    double sign;
    const double* c;
    double* result;
    Index size;
    int chunk;  ///< rows at a time, a multiple of 64
};

/// Rows [first, first + chunk) of a column, zero beyond `rows`.
__device__ void stage(const double* from, double* to, int rows, int chunk) {
    for (int at = threadIdx.x % 32 * 2; at < chunk; at += 64) {
        if (at + 1 < rows) {
            __pipeline_memcpy_async(to + at, from + at, 16);
        } else {
            to[at] = at < rows ? from[at] : 0.0;
            to[at + 1] = 0.0;
        }
    }
}

/// Partial sums of blocks, `columns` each, added up in the order of the blocks.
__device__ void add_up(int columns, double* result) {
    if (!is_last_block(&arrived)) return;
    for (int m = threadIdx.x / 32; m < columns; m += block_warps) {
        double total = 0.0;
        for (int block = threadIdx.x % 32; block < gridDim.x; block += 32)
            total += __ldcg(&partial[block * max_columns + m]);
        total = warp_sum(total);
        if (threadIdx.x % 32 == 0) result[m] = total;
    }
}

/// w += sign V c where `combine`, then w^T w or V^T w.
template <bool combine, Reduce reduce>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor) columns_pass(const Arguments a) {
    extern __shared__ double staged[];
    __shared__ double c[max_columns];
    double* const w = staged + a.columns * a.chunk;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (combine && threadIdx.x < a.columns) c[threadIdx.x] = a.sign * a.c[threadIdx.x];
    double product[columns_per_warp] = {}, square = 0.0;

    for (Index first = Index(blockIdx.x) * a.chunk; first < a.size; first += Index(gridDim.x) * a.chunk) {
        const int rows = int(min(Index(a.chunk), a.size - first));
        __syncthreads();  // the chunk before has been read
        for (int m = warp; m <= a.columns; m += block_warps)
            stage((m < a.columns ? a.v[m] : a.w) + first, staged + m * a.chunk, rows, a.chunk);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        if (combine) {
            for (int at = threadIdx.x; at < rows; at += block_threads) {
                double value = w[at];
                for (int m = 0; m < a.columns; ++m) value = fma(c[m], staged[m * a.chunk + at], value);
                a.w[first + at] = value;
                if (reduce == Reduce::norm) square = fma(value, value, square);
                if (reduce == Reduce::dots) w[at] = value;
            }
        }
        if (reduce == Reduce::dots) {
            if (combine) __syncthreads();
            for (int at = lane; at < rows; at += 32) {
                const double value = w[at];
#pragma unroll
                for (int turn = 0; turn < columns_per_warp; ++turn)
                    if (const int m = warp + turn * block_warps; m < a.columns)
                        product[turn] = fma(staged[m * a.chunk + at], value, product[turn]);
            }
        }
    }

    if (reduce == Reduce::norm) {
        square = block_sum(square);
        if (threadIdx.x == 0) partial[blockIdx.x * max_columns] = square;
        add_up(1, a.result);
    }
    if (reduce == Reduce::dots) {
#pragma unroll
        for (int turn = 0; turn < columns_per_warp; ++turn) {
            const int m = warp + turn * block_warps;
            const double total = warp_sum(product[turn]);
            if (lane == 0 && m < a.columns) partial[blockIdx.x * max_columns + m] = total;
        }
        add_up(a.columns, a.result);
    }
}

template <bool combine, Reduce reduce>
void run(const char* name, Columns v, Vector& w, double sign, const double* c, double* result) {
    // What a multiprocessor has is shared by its blocks, beside a KiB that each takes for itself and `c`.
    const Index memory = device::properties().shared_per_block / blocks_per_multiprocessor - 2048;
    const Index room = memory / Index(sizeof(double)) / Index(v.size() + 1);
    Arguments a{};
    a.columns = int(v.size());
    for (int m = 0; m < a.columns; ++m) a.v[m] = v[m]->data();
    a.w = w.data();
    a.sign = sign;
    a.c = c;
    a.result = result;
    a.size = w.size();
    a.chunk = int(std::clamp<Index>(room / 64 * 64, 64, 2048));
    const Index shared = Index(a.columns + 1) * a.chunk * Index(sizeof(double));
    const auto kernel = columns_pass<combine, reduce>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
          "cudaFuncSetAttribute");
    const Index blocks = std::min<Index>({std::max<Index>(1, (a.size + a.chunk - 1) / a.chunk),
                                          Index(multiprocessors()) * blocks_per_multiprocessor, max_blocks});
    kernel<<<unsigned(blocks), block_threads, std::size_t(shared), stream()>>>(a);
    launched(name);
}

/// body(columns, first) for groups of columns that one kernel takes; once where there are none.
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
