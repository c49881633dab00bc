// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/grid_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/vector/blas1.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#include "core/matrix/views.hpp"
#endif

namespace hyperplane::multigrid {

#ifdef __CUDACC__
namespace {

constexpr int tile = 16, threads = tile * tile, blocks_of_grid = 1024;

/// Squares of x summed over some tiles of one plane. Threads are numbered so that neighbouring ones have neighbouring
/// slots, and their sums are added by the place of their points in a tile, in any layout.
__global__ void __launch_bounds__(threads)
    sum_squares(const __grid_constant__ ConstVectorView x, int dof, int pieces, double* sums) {
    __shared__ double all[threads];
    const Grid& grid = x.layout.grid();
    const bool natural = x.layout.step().x == 1;
    const int one = int(threadIdx.x) % tile, other = int(threadIdx.x) / tile;
    const int of_tile_x = natural ? one : other, of_tile_y = natural ? other : one;
    const int across = (grid.nx + tile - 1) / tile, tiles = across * ((grid.ny + tile - 1) / tile);
    const int k = x.layout.begin_plane() + int(blockIdx.x) / pieces;
    double total = 0.0;
    for (int at = int(blockIdx.x) % pieces; at < tiles; at += pieces) {
        const Int3 p{at % across * tile + of_tile_x, at / across * tile + of_tile_y, k};
        if (p.x >= grid.nx || p.y >= grid.ny) continue;
        const Index slot = x.layout.slot(p);
        for (int c = 0; c < dof; ++c) total += x.at(slot, c) * x.at(slot, c);
    }
    all[of_tile_x + tile * of_tile_y] = total;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) all[threadIdx.x] += all[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = all[0];
}

double norm_on_gpu(const Vector& x) {
    const Layout& layout = x.layout();
    const Grid& grid = layout.grid();
    const Context& context = x.context();
    const auto tiles = [](int extent) { return (extent + tile - 1) / tile; };
    const int pieces = std::clamp(blocks_of_grid / grid.nz, 1, tiles(grid.nx) * tiles(grid.ny));
    Buffer<double> sums(context, "multigrid: tables", Index(layout.planes()) * pieces);
    sum_squares<<<unsigned(sums.size()), threads, 0, cuda::stream(context)>>>(view(x), x.dof(), pieces, sums.data());
    cuda::launched(context, "norm");
    std::vector<double> host(std::size_t(sums.size()));
    context.stream().copy(sums.data(), host.data(), sums.size() * Index(sizeof(double)));
    if (layout.is_part()) {
        std::vector<double> of_ranks(std::size_t(pieces) * grid.nz);
        context.ranks()->all_gather(host, of_ranks);
        host = std::move(of_ranks);
    }
    double sum = 0.0;
    for (const double of_block : host) sum += of_block;
    return std::sqrt(sum);
}

}  // namespace
#endif

double grid_norm(const Vector& x) {
#ifdef __CUDACC__
    if (x.backend() == Backend::cuda) return norm_on_gpu(x);
#endif
    return norm2(x);
}

}  // namespace hyperplane::multigrid
