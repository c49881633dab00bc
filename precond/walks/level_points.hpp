// SPDX-License-Identifier: BSD-3-Clause
// Loops over the points of one level on either backend; a GPU needs one kernel launch for each level. This is plain
// level scheduling, the baseline against which the mapping of section 4.1 of the StructILU paper is measured.
//
// Bodies, and files with such loops, follow the rules of core/device/for_each_point.hpp.
#pragma once

#include "core/device/for_each_point.hpp"

namespace hyperplane {

#ifdef __CUDACC__
/// Visits the points of a level, one thread each: blockIdx.y counts the planes from `first_plane` on, and consecutive
/// threads have consecutive j.
template <class Body>
__global__ void visit_level(const __grid_constant__ Layout layout, int level, int first_plane,
                            const __grid_constant__ Body body) {
    const LevelMap map = layout.levels();
    const Grid& grid = layout.grid();
    const int k = first_plane + int(blockIdx.y), rest = level - map.z * k;  // i + y j
    const int before = rest - (grid.nx - 1);
    const int j = (before > 0 ? (before + map.y - 1) / map.y : 0) + int(blockIdx.x * blockDim.x + threadIdx.x);
    const Int3 p{rest - map.y * j, j, k};
    if (p.x >= 0 && j < grid.ny) body(p, layout.slot(p));
}
#endif

/// Calls body(point, slot) once for every point of a level, as layout.levels() defines it.
template <class Body>
void for_each_point_of_level([[maybe_unused]] Backend backend, const Layout& layout, int level,
                             [[maybe_unused]] const char* name, const Body& body) {
    const int first = layout.level_first_plane(level), last = layout.level_last_plane(level);
#ifdef __CUDACC__
    if (backend == Backend::cuda) {
        if (first > last) return;
        const Grid& grid = layout.grid();
        const Index most = std::min<Index>(grid.ny, (grid.nx - 1) / layout.levels().y + 1);
        const int threads = most > 64 ? 128 : most > 32 ? 64 : 32;
        const dim3 blocks(cuda::blocks_for(most, threads), unsigned(last - first + 1));
        visit_level<<<blocks, threads, 0, cuda::stream()>>>(layout, level, first, body);
        return cuda::launched(name);
    }
#endif
    for (int k = first; k <= last; ++k) {
        const Run run = layout.level_run(level, k);
        for (int t = 0; t < run.count; ++t) {
            const Int3 p{run.first.x - layout.levels().y * t, run.first.y + t, k};
            body(p, layout.slot(p));
        }
    }
}

}  // namespace hyperplane
