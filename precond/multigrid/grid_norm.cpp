// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/grid_norm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#include "core/matrix/views.hpp"
#include "core/vector/reduce_cuda.cuh"
#endif

namespace hyperplane::multigrid {

namespace {

constexpr int tile = 16, blocks_of_grid = 1024;

/// The number of thread blocks of a plane.
int pieces_of(const Grid& grid) {
    const auto tiles = [](int extent) { return (extent + tile - 1) / tile; };
    return std::clamp(blocks_of_grid / grid.nz, 1, tiles(grid.nx) * tiles(grid.ny));
}

/// The number of all thread blocks.
Index blocks_of(const Layout& layout) {
    return Index(layout.planes()) * pieces_of(layout.grid());
}

}  // namespace

#ifdef __CUDACC__
namespace {

constexpr int threads = tile * tile;

/// Squares of x summed over some tiles of one plane. Threads are numbered so that neighbouring ones have neighbouring
/// slots, and their sums are added by the place of their points in a tile, in any layout. If `norm` is given, the last
/// thread block to finish adds the sums of all of them in order, as the host does. A list, if given, consists of the
/// number of its norms and these.
__global__ void __launch_bounds__(threads) sum_squares(const __grid_constant__ ConstVectorView x, int dof, int pieces,
                                                       double* sums, unsigned* arrived, double* norm, double* list) {
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
    if (!norm || !cuda::is_last_block(arrived)) return;
    double sum = 0.0;
    for (int first = 0; first < int(gridDim.x); first += threads) {
        const int count = min(threads, int(gridDim.x) - first);
        __syncthreads();
        if (int(threadIdx.x) < count) all[threadIdx.x] = __ldcg(sums + first + threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0)
#pragma unroll 8
            for (int at = 0; at < count; ++at) sum += all[at];
    }
    if (threadIdx.x != 0) return;
    *norm = sqrt(sum);
    if (list) list[++*reinterpret_cast<unsigned*>(list)] = *norm;
}

void queue_norm(const Vector& x, double* sums, unsigned* arrived, double* norm, double* list) {
    sum_squares<<<unsigned(blocks_of(x.layout())), threads, 0, cuda::stream(x.context())>>>(
        view(x), x.dof(), pieces_of(x.layout().grid()), sums, arrived, norm, list);
    cuda::launched(x.context(), "norm");
}

void norm_on_gpu(const Vector& x, double* norm) {
    const Layout& layout = x.layout();
    const Context& context = x.context();
    const device::Stream& stream = context.stream();
    const Index blocks = blocks_of(layout);
    double* const sums = stream.scratch().partial;
    if (blocks > device::Scratch::sums)
        throw Error(ExitCode::internal, "multigrid: a norm of more planes than there is room for sums");
    queue_norm(x, sums, stream.scratch().arrived, layout.is_part() ? nullptr : norm, nullptr);
    if (!layout.is_part()) return;
    const Grid& grid = layout.grid();
    std::vector<double> mine(static_cast<std::size_t>(blocks)), of_ranks(std::size_t(pieces_of(grid)) * grid.nz);
    stream.copy(sums, mine.data(), blocks * Index(sizeof(double)));
    context.ranks()->all_gather(mine, of_ranks);
    double sum = 0.0;
    for (const double of_block : of_ranks) sum += of_block;
    sum = std::sqrt(sum);
    stream.copy(&sum, norm, sizeof sum);
}

}  // namespace
#endif

void grid_norm(const Vector& x, double* norm) {
#ifdef __CUDACC__
    if (x.backend() == Backend::cuda) return norm_on_gpu(x, norm);
#endif
    *norm = norm2(x);
}

NormList::NormList(const Context& context, const Layout& layout, int most)
    : room_(context, "multigrid: tables", bytes(layout, most) / Index(sizeof(double))),
      last_(1 + blocks_of(layout)),
      most_(most) {}

void NormList::clear() const {
    double* const count = const_cast<double*>(last()) + 1;
    room_.context().stream().zero(count, sizeof(double));
}

void NormList::add([[maybe_unused]] const Vector& x) {
#ifdef __CUDACC__
    double* const last = room_.data() + last_;
    queue_norm(x, room_.data() + 1, reinterpret_cast<unsigned*>(room_.data()), last, last + 1);
#endif
}

std::vector<double> NormList::get(int first, int count) const {
    std::vector<double> norms(static_cast<std::size_t>(count));
    room_.context().stream().copy(last() + 2 + first, norms.data(), count * Index(sizeof(double)));
    return norms;
}

Index NormList::bytes(const Layout& layout, int most) {
    return (3 + blocks_of(layout) + most) * Index(sizeof(double));
}

}  // namespace hyperplane::multigrid
