// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/most_memory.hpp"

#include <algorithm>

namespace hyperplane::multigrid {

MatrixShape with(const MatrixShape& a, const Grid& grid, const Stencil& stencil) {
    return {grid, stencil, a.dof(), a.symmetric(), 1};  // interpolation reads a plane on either side
}

namespace {

/// The number of coefficients that a matrix stores for a point.
Index coefficients_of(const MatrixShape& a) {
    const int entries = a.symmetric() ? a.stencil().diagonal() + 1 : a.stencil().size();
    return Index(entries) * a.dof() * a.dof();
}

/// The bytes that a CPU holds meanwhile to invert the matrix of a last grid, which may be more than the rest of the
/// set-up holds in addition; 0 where that matrix is too large to be inverted, and on a GPU.
Index inversion_bytes(const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    if (setting.context.backend() == Backend::cuda || a.unknowns() > most_dense_unknowns) return 0;
    return DenseSolve::setup_bytes(a, Backend::cpu);
}

}  // namespace

Index matrix_bytes(const PreconditionerSetting& setting) {
    return StructMatrix::bytes(coefficients_of(setting.matrix), setting.natural_layout().slots_in_memory());
}

Index vector_bytes(const PreconditionerSetting& setting) {
    return setting.natural_layout().slots_in_memory() * setting.matrix.dof() * Index(sizeof(double));
}

Index damping_bytes(const PreconditionerSetting& setting) {
    return setting.context.backend() == Backend::cuda ? Smoother::table_bytes(setting.natural_layout()) : 0;
}

Index double_bytes(const PreconditionerSetting& setting, const CoarseningOptions& options, int grid,
                   bool keeps_matrix) {
    const bool in_single = options.single(grid) && grid > 0 && options.single(grid - 1);
    return keeps_matrix && !in_single ? 2 * vector_bytes(setting) : 0;
}

Index single_bytes(const PreconditionerSetting& setting, const CoarseningOptions& options, int grid, bool smoothed) {
    if (!options.single(grid)) return 0;
    const Index vector = vector_bytes(setting) / 2;
    const Index scalar = grid == *options.rounded_from ? Index(sizeof(double)) : 0;  // one of the hierarchy
    if (!smoothed) return 2 * vector + scalar;
    const bool copied = SingleMatrix::serves(setting.natural_layout(), setting.context.backend());
    return 4 * vector + scalar + (copied ? SingleMatrix::bytes(matrix_bytes(setting)) : 0);
}

Index copy_bytes(const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const Layout part = setting.natural_layout();
    return part.is_part() ? Sources::bytes(part, a.stencil(), coefficients_of(a)) : 0;
}

PlannedGrid::PlannedGrid(const PreconditionerSetting& finest, const CoarseningOptions& options)
    : setting(finest), ranks(finest.context, finest.matrix.grid()) {
    if (!ranks.cut()) return;
    const MatrixShape& a = finest.matrix;
    gathered = a.halo() == 0 || !ranks.serve(a.grid(), a.stencil(), options, 0);
    if (gathered) become_whole();
}

PlannedGrid PlannedGrid::next(const Coarsening& grids, const Stencil& stencil, const CoarseningOptions& options,
                              int number) const {
    PlannedGrid coarse = *this;
    coarse.gathered = false;
    coarse.gather_bytes = 0;
    coarse.setting.matrix = with(setting.matrix, grids.coarse, stencil);
    if (!ranks.cut()) return coarse;
    coarse.ranks = ranks.coarsened(grids.axes);
    coarse.setting.context = coarse.ranks.planning(setting.context);
    if (!coarse.ranks.serve(grids.coarse, stencil, options, number)) coarse.become_whole();
    return coarse;
}

Index PlannedGrid::interpolation_bytes(const Coarsening& grids, const Stencil& stencil, bool rounded) const {
    const Layout whole(LayoutKind::natural, grids.coarse, {});
    return Interpolation::bytes(grids, ranks.coarsened(grids.axes).layout(whole, stencil), rounded);
}

void PlannedGrid::become_whole() {
    const MatrixShape& a = setting.matrix;
    gather_bytes = ranks.bytes_to_gather(setting.context, a.grid(), a.dof());
    ranks = {};
    setting.context = ranks.planning(setting.context);
}

int MostMemory::place_of(const Stencil& stencil) {
    const auto found = std::ranges::find(stencils_, stencil.offsets(), &Stencil::offsets);
    const auto place = int(found - stencils_.begin());
    if (found == stencils_.end()) stencils_.push_back(stencil);
    return place;
}

const Stencil& MostMemory::coarse_stencil_of(int stencil, const Coarsening& grids) {
    const int reach = stencils_[stencil].radius() + 2;  // coarse offsets are shorter
    const auto near = [&](int points) { return std::min(points, reach); };
    const int axes = int(grids.axes[0]) + 2 * int(grids.axes[1]) + 4 * int(grids.axes[2]);
    const std::array<int, 5> key{stencil, axes, near(grids.coarse.nx), near(grids.coarse.ny), near(grids.coarse.nz)};
    const auto known = coarse_.find(key);
    if (known != coarse_.end()) return stencils_[known->second];
    return stencils_[coarse_[key] = place_of(coarse_stencil(stencils_[stencil], grids))];
}

Index MostMemory::from(const PlannedGrid& at, int grid) {
    const MatrixShape& shape = at.setting.matrix;
    const Grid points = shape.grid();
    const int place = place_of(shape.stencil());
    const std::array<int, 6> key{points.nx, points.ny, points.nz, place, at.ranks.cut(), grid};
    if (const auto known = known_.find(key); known != known_.end()) return at.gather_bytes + known->second;
    const Stencil& stencil = stencils_[place];
    const Index vector = vector_bytes(at.setting);
    const bool keeps = at.keeps_matrix(grid);
    const Index own = (keeps ? matrix_bytes(at.setting) : 0) + double_bytes(at.setting, options_, grid, keeps);
    Index most = 0;
    const bool last = is_last(points, stencil, options_, grid);
    const auto smoothed_by = [&](const SmootherPlan& smoother) {
        return smoother.plan(at.setting).bytes + 2 * vector + damping_bytes(at.setting) +
               single_bytes(at.setting, options_, grid, true);
    };
    const Index smoothed = last ? 0 : smoothed_by(smoothers_.on(grid));
    for (int chosen = 1; chosen < 8 && !last; ++chosen) {  // the sets of axes, a bit for each
        Axes axes{};
        bool possible = true;
        for (int axis = 0; axis < 3; ++axis) {
            axes[axis] = (chosen >> axis & 1) != 0;
            possible = possible && (!axes[axis] || can_coarsen(points, axis, stencil.radius()));
        }
        if (!possible) continue;
        const Coarsening grids(points, axes);
        const Stencil& coarse = coarse_stencil_of(place, grids);
        most = std::max(most, smoothed + at.interpolation_bytes(grids, coarse, options_.rounds(grid)) +
                                  from(at.next(grids, coarse, options_, grid + 1), grid + 1));
    }
    if (most == 0 && smoothers_.coarsest) most = smoothed_by(*smoothers_.coarsest);
    if (most == 0)
        most = DenseSolve::bytes(std::min(shape.unknowns(), most_dense_unknowns)) + inversion_bytes(at.setting) +
               single_bytes(at.setting, options_, grid, false);
    return at.gather_bytes + (known_[key] = own + most);
}

}  // namespace hyperplane::multigrid
