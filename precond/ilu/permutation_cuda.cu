// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/permutation_cuda.hpp"

#include "core/device/cuda.hpp"

namespace hyperplane {
namespace {

constexpr int side = 32, threads_y = 8;

__device__ Index natural_slot(const Permutation& p, int column, int j, int k) {
    int i = (column - p.levels.level({0, j, k})) % p.nx;
    if (i < 0) i += p.nx;
    return i + p.nx * (j + Index(p.ny) * (k - p.halo));
}
__device__ Index hyperplane_slot(const Permutation& p, int column, int j, int k) {
    return (Index(column) * p.nz + k) * p.ny + j;
}

/// A thread block copies a square of one plane: lines along y by their level modulo nx. Warps read and write values
/// that are contiguous but for a jump where the level modulo nx passes zero. Planes of the copy outside [begin, end)
/// become zero; of the natural vector only planes inside are written.
template <bool to_copy>
__global__ void __launch_bounds__(side* threads_y)
    permute(const Permutation p, int begin, int end, const double* from, double* to) {
    __shared__ double square[side][side + 1];
    const int k = to_copy ? int(blockIdx.z) : begin + int(blockIdx.z);
    const int column = int(blockIdx.x) * side, line = int(blockIdx.y) * side, x = int(threadIdx.x);
#pragma unroll
    for (int y = int(threadIdx.y); y < side; y += threads_y) {
        const int here = column + (to_copy ? x : y), j = line + (to_copy ? y : x);
        if (here >= p.nx || j >= p.ny) continue;
        if (to_copy)
            square[y][x] = k >= begin && k < end ? from[natural_slot(p, here, j, k)] : 0.0;
        else
            square[y][x] = from[hyperplane_slot(p, here, j, k)];
    }
    __syncthreads();
#pragma unroll
    for (int y = int(threadIdx.y); y < side; y += threads_y) {
        const int here = column + (to_copy ? y : x), j = line + (to_copy ? x : y);
        if (here >= p.nx || j >= p.ny) continue;
        to[to_copy ? hyperplane_slot(p, here, j, k) : natural_slot(p, here, j, k)] = square[x][y];
    }
}

dim3 blocks(const Permutation& p, int planes) {
    return {unsigned(p.nx + side - 1) / side, unsigned(p.ny + side - 1) / side, unsigned(planes)};
}

}  // namespace

void copy_to_hyperplanes(const Context& context, const Permutation& layouts, int begin, int end, const double* natural,
                         double* hyperplanes) {
    permute<true><<<blocks(layouts, layouts.nz), dim3(side, threads_y), 0, cuda::stream(context)>>>(
        layouts, begin, end, natural, hyperplanes);
    cuda::launched(context, "copy to hyperplanes");
}

void copy_from_hyperplanes(const Context& context, const Permutation& layouts, const double* hyperplanes,
                           double* natural) {
    const int begin = layouts.halo, end = layouts.nz - layouts.halo;
    permute<false><<<blocks(layouts, end - begin), dim3(side, threads_y), 0, cuda::stream(context)>>>(
        layouts, begin, end, hyperplanes, natural);
    cuda::launched(context, "copy from hyperplanes");
}

}  // namespace hyperplane
