// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/cuda.hpp"
#include "core/vector/single_updates.hpp"

namespace hyperplane::single_updates {
namespace {

template <class Update>
__global__ void update_singles(Index size, const __grid_constant__ Update update) {
    const Index at = Index(blockIdx.x) * blockDim.x + threadIdx.x;
    const double factor = update.factor();
    if (at < size) update(at, factor);
}

}  // namespace

template <class Update>
void on_gpu(const Context& context, Index size, const Update& update) {
    constexpr int threads = 256;
    update_singles<<<cuda::blocks_for(size, threads), threads, 0, cuda::stream(context)>>>(size, update);
    cuda::launched(context, "single precision");
}

template void on_gpu(const Context&, Index, const Conversion<double, float>&);
template void on_gpu(const Context&, Index, const Conversion<float, double>&);
template void on_gpu(const Context&, Index, const Scaling&);
template void on_gpu(const Context&, Index, const Addition&);
template void on_gpu(const Context&, Index, const Difference&);

}  // namespace hyperplane::single_updates
