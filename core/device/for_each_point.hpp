// SPDX-License-Identifier: BSD-3-Clause
// Loops over points on either backend: the body is written once, for host and device.
//
// A body is a struct with
//     HYPERPLANE_HD void operator()(Int3 point, Index slot) const;
// that is copied by value and holds plain values and pointers into memory of the backend it runs on
// (core/matrix/views.hpp). A body with a member type `few_points`, whose data at a point is so large that no grid has
// more than 2^31 points, counts slots in 32 bits. A body that reads arrays of another layout than the loop's has a
// member type `in_tiles`: on a GPU the threads of a thread block then have points that lie near each other in the grid,
// so that the caches serve both layouts. A member `unknowns()` means the same as in core/grid/layout.hpp. Files with
// such loops are listed under BOTH in their room's CMakeLists.txt and are compiled as CUDA if the CUDA backend is
// built.
#pragma once

#include "core/grid/layout.hpp"
#include "core/vector/vector.hpp"

#ifdef __CUDACC__
#include "core/device/cuda.hpp"
#elif HYPERPLANE_CUDA_BUILT
#error "name this file under BOTH in its CMakeLists.txt, so that its loops exist on the device too"
#endif

namespace hyperplane {

#ifdef __CUDACC__
/// One thread a slot. 64-bit divisions are slow on a GPU; where the slots allow, a point is found by 32-bit ones. Only
/// that is compiled twice, not the body.
template <class Body>
__global__ void visit_points(const __grid_constant__ Layout layout, const __grid_constant__ Body body) {
    if constexpr (requires { typename Body::few_points; }) {
        const unsigned slot = blockIdx.x * blockDim.x + threadIdx.x;
        if (slot < unsigned(layout.slots())) body(layout.point(slot), Index(slot));
    } else {
        const Index slot = Index(blockIdx.x) * blockDim.x + threadIdx.x;
        if (slot >= layout.slots()) return;
        const bool few_slots = layout.slots() <= Index(1) << 31;
        body(few_slots ? layout.point(unsigned(slot)) : layout.point(slot), slot);
    }
}

inline constexpr int tile_x = 16, tile_y = 16;

/// One thread a point; a block has a tile of a plane, and blockIdx.x numbers the tiles.
template <class Body>
__global__ void visit_tiles(const __grid_constant__ Layout layout, const __grid_constant__ Body body) {
    const Grid& grid = layout.grid();
    const unsigned across = unsigned(grid.nx + tile_x - 1) / tile_x, down = unsigned(grid.ny + tile_y - 1) / tile_y;
    const Int3 p{int(blockIdx.x % across * tile_x + threadIdx.x % tile_x),
                 int(blockIdx.x / across % down * tile_y + threadIdx.x / tile_x),
                 layout.begin_plane() + int(blockIdx.x / across / down)};
    if (p.x < grid.nx && p.y < grid.ny) body(p, layout.slot(p));
}

template <class Body>
void launch_for_each_point(const Context& context, const Layout& layout, const char* name, const Body& body) {
    constexpr int threads = 256;
    if constexpr (requires { typename Body::in_tiles; }) {
        static_assert(tile_x * tile_y == threads);
        const Grid& grid = layout.grid();
        const unsigned tiles =
            cuda::blocks_for(grid.nx, tile_x) * cuda::blocks_for(grid.ny, tile_y) * unsigned(layout.planes());
        visit_tiles<<<tiles, threads, 0, cuda::stream(context)>>>(layout, body);
    } else {
        const unsigned blocks = cuda::blocks_for(layout.slots(), threads);
        visit_points<<<blocks, threads, 0, cuda::stream(context)>>>(layout, body);
    }
    cuda::launched(context, name);
}
#endif

/// Calls body(point, slot) once for every point: over the context's threads, or as a kernel that is queued on its
/// device. The message of a device error contains `name`.
template <class Body>
void for_each_point(const Context& context, const Layout& layout, [[maybe_unused]] const char* name, const Body& body) {
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) return launch_for_each_point(context, layout, name, body);
#endif
    for_each_point(context, layout, body);
}

}  // namespace hyperplane
