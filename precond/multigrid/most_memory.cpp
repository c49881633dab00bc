// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/most_memory.hpp"

namespace hyperplane::multigrid {

MatrixShape with(const MatrixShape& a, const Grid& grid, const Stencil& stencil) {
    return {grid, stencil, a.dof(), a.symmetric()};
}

Index matrix_bytes(const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const int entries = a.symmetric() ? a.stencil().diagonal() + 1 : a.stencil().size();
    return StructMatrix::bytes(Index(entries) * a.dof() * a.dof(), a.block_rows());
}

Index MostMemory::of(const PreconditionerSetting& finest) {
    stencils_.insert_or_assign(0, finest.matrix.stencil());
    return from(finest, 0, 0);
}

Index MostMemory::from(PreconditionerSetting setting, int mask, int grid) {
    const Grid grid_points = setting.matrix.grid();
    const std::array<int, 4> key{grid_points.nx, grid_points.ny, grid_points.nz, mask};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    setting.matrix = with(setting.matrix, grid_points, stencils_.at(mask));
    const Index points = setting.matrix.block_rows(), unknowns = setting.matrix.unknowns();
    const Index vector = unknowns * Index(sizeof(double));
    const Index own = (grid > 0 ? matrix_bytes(setting) + 2 * vector : 0);
    Index most = 0;
    const bool is_last = points <= options_.coarsest_points || grid + 1 >= options_.grids;
    const Index smoothed = is_last ? 0 : smoothers_.on(grid).plan(setting).bytes + 2 * vector;
    for (int axis = 0; axis < 3 && !is_last; ++axis) {
        const Stencil& stencil = setting.matrix.stencil();
        if (!can_coarsen(grid_points, axis, stencil.radius())) continue;
        Axes axes{false, false, false};
        axes[axis] = true;
        const Coarsening grids(grid_points, axes);
        const int next = mask | 1 << axis;
        if (!stencils_.count(next)) stencils_.emplace(next, coarse_stencil(stencil, grids));
        PreconditionerSetting coarse = setting;
        coarse.matrix = with(setting.matrix, grids.coarse, stencil);
        most = std::max(most,
                        smoothed + Interpolation::bytes(grids, options_.rounds(grid)) + from(coarse, next, grid + 1));
    }
    if (most == 0) most = DenseSolve::bytes(std::min(unknowns, most_dense_unknowns));
    return known_[key] = own + most;
}

}  // namespace hyperplane::multigrid
