// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/cuda.hpp"
#include "core/vector/passes_cuda.cuh"
#include "core/vector/single_updates.hpp"

namespace hyperplane::single_updates {
namespace {

// With one value of four bytes a thread, a multiprocessor has not enough loads under way for the memory's rate.
constexpr int threads = 256, values_of_thread = 4;

template <class Update>
__global__ void __launch_bounds__(threads) update_singles(Index size, const __grid_constant__ Update update) {
    const Index first = Index(blockIdx.x) * (threads * values_of_thread) + threadIdx.x;
    const double factor = update.factor();
    decltype(update.load(0)) values[values_of_thread];
#pragma unroll
    for (int n = 0; n < values_of_thread; ++n)
        if (first + n * threads < size) values[n] = update.load(first + n * threads);
#pragma unroll
    for (int n = 0; n < values_of_thread; ++n)
        if (first + n * threads < size) update.store(first + n * threads, factor, values[n]);
}

/// y = s x, sum = r^T y; the arrays are r and y.
struct WidenDot : cuda::Operation<2, 1, 0b01, 0b10> {
    static constexpr int converted = 1;
    const float* x;
    const double *y, *square;
    double factor;

    __device__ bool prepare() {
        factor = scale_of_square(*square);
        return true;
    }
    /// The values of y from `width * at` on.
    template <int width, bool aligned>
    __device__ cuda::Values<width> convert(Index at) const {
        const float* const from = x + (array[1] - y) + width * at;
        cuda::Values<width> values;
        if constexpr (width == 2 && aligned) {
            const float2 pair = *reinterpret_cast<const float2*>(from);
            values.at[0] = factor * double(pair.x), values.at[1] = factor * double(pair.y);
        } else {
#pragma unroll
            for (int lane = 0; lane < width; ++lane) values.at[lane] = factor * double(from[lane]);
        }
        return values;
    }
    __device__ void operator()(double* v, double* sum) const {
        sum[0] = fma(v[0], v[1], sum[0]);
    }
};

}  // namespace

template <class Update>
void on_gpu(const Context& context, Index size, const Update& update) {
    update_singles<<<cuda::blocks_for((size + values_of_thread - 1) / values_of_thread, threads), threads, 0,
                     cuda::stream(context)>>>(size, update);
    cuda::launched(context, "single precision");
}

void widen_dot_on_gpu(const SingleVector& x, const double* square, const Vector& r, Vector& y, double* product) {
    const WidenDot op{{{r.data(), y.data()}, {product}}, x.data(), y.data(), square, 0.0};
    cuda::run_sums("single precision", op, y);
}

template void on_gpu(const Context&, Index, const Conversion<double, float>&);
template void on_gpu(const Context&, Index, const Conversion<float, double>&);
template void on_gpu(const Context&, Index, const Scaling&);
template void on_gpu(const Context&, Index, const Addition&);
template void on_gpu(const Context&, Index, const Difference&);

}  // namespace hyperplane::single_updates
