// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/transfer_cuda.hpp"

#include <string>

#include "precond/kernel_set.hpp"

namespace hyperplane::multigrid {
namespace {

rtc::Source transfer_source() {
    return precond_source("precond/multigrid/transfer.cuh");
}

}  // namespace

GridSlots slots_of(const Layout& layout) {
    const Grid& grid = layout.grid();
    return {layout.kind() == LayoutKind::natural, grid.nx, grid.ny, grid.nz, layout.levels().y, layout.levels().z,
            layout.begin_plane() - layout.halo()};
}

StepLaunch::StepLaunch(const Layout& fine, const Layout& coarse, const Layout& order, int begin, int end, int threads,
                       int layers)
    : step_{}, blocks_{} {
    const Grid& grid = order.grid();
    const bool natural = order.kind() == LayoutKind::natural;
    step_.fine = slots_of(fine);
    step_.coarse = slots_of(coarse);
    step_.order = slots_of(order);
    step_.fine_slots = int(fine.slots_in_memory());
    step_.coarse_slots = int(coarse.slots_in_memory());
    step_.order_slots = int(order.slots_in_memory());
    step_.own_begin = fine.begin_plane();
    step_.own_end = fine.end_plane();
    step_.begin = natural ? begin : 0;
    step_.extent[0] = natural ? grid.nx : grid.ny;
    step_.extent[1] = natural ? grid.ny : grid.nz;
    step_.extent[2] = natural ? end - begin : grid.nx;
    const int of_layer = threads / layers;
    step_.columns = step_.extent[1] >= of_layer / 32 ? 32 : of_layer;
    step_.tiles = (step_.extent[0] + step_.columns - 1) / step_.columns;
    step_.rows = of_layer / step_.columns;
    blocks_.x = unsigned(step_.tiles) * unsigned((step_.extent[2] + layers - 1) / layers) *
                unsigned((step_.extent[1] + step_.rows - 1) / step_.rows);
}

rtc::Definitions StepLaunch::definitions(const Coarsening& grids, int dof, int threads) {
    const auto flag = [&](int axis) { return grids.axes[axis] ? "1" : "0"; };
    return {{"AXIS_X", flag(0)},
            {"AXIS_Y", flag(1)},
            {"AXIS_Z", flag(2)},
            {"DOF", std::to_string(dof)},
            {"THREADS", std::to_string(threads)}};
}

rtc::Definitions TransferCuda::definitions(const Coarsening& grids, int dof, bool rounded, bool single) {
    rtc::Definitions all = StepLaunch::definitions(grids, dof, threads);
    all["WEIGHT"] = rounded ? "float" : "double";
    all["REAL"] = single ? "float" : "double";
    return all;
}

TransferCuda::TransferCuda(const Context& context, const Coarsening& grids, int dof, bool rounded, bool single)
    : rounded_(rounded),
      restrict_(context, transfer_source(), definitions(grids, dof, rounded, single), "restrict_to"),
      add_(context, transfer_source(), definitions(grids, dof, rounded, single), "add_to") {}

rtc::Programs TransferCuda::programs(const Coarsening& grids, int dof, bool rounded, bool single) {
    return {{transfer_source(), definitions(grids, dof, rounded, single)}};
}

}  // namespace hyperplane::multigrid
