// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/periodic_lines.hpp"

namespace hyperplane::multigrid {
namespace {

/// The point with this index along an axis and zeros along the others.
Int3 along(int axis, int index) {
    return {axis == 0 ? index : 0, axis == 1 ? index : 0, axis == 2 ? index : 0};
}
int component(int axis, Int3 p) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

}  // namespace

AxisPoint::AxisPoint(const Coarsening& grids, int axis, int index, int reach)
    : reach_(reach), around_(std::size_t(3 * (2 * reach + 1))) {
    const int step = grids.axes[axis] ? 2 : 1, most = grids.axes[axis] ? 1 : 0;
    const Int3 own = along(axis, index);
    for (int s = -most; s <= most; ++s) {
        Int3 child;
        if (!grids.child(own, along(axis, s), child)) {
            regular_ = false;
            continue;
        }
        children_[s + 1] = component(axis, child);
        regular_ = regular_ && children_[s + 1] == step * index + s;
        for (int o = -reach; o <= reach; ++o) {
            const Int3 fine = grids.fine.wrapped(child + along(axis, o));
            if (!grids.fine.contains(fine)) {
                regular_ = false;
                continue;
            }
            Around& around = around_[std::size_t(number(s, o))];
            around.fine = component(axis, fine);
            regular_ = regular_ && around.fine == step * index + s + o;
            for (int t = -most; t <= most; ++t) {
                Int3 parent;
                if (grids.parent(fine, along(axis, t), parent)) {
                    const int at = component(axis, parent);
                    const int offset = component(axis, grids.offset(own, parent));
                    around.parents.push_back({t, at, offset});
                    regular_ = regular_ && step * at == around.fine - t && offset == at - index;
                } else if ((around.fine - t) % step == 0) {
                    regular_ = false;
                }
            }
        }
    }
}

PeriodicLines::PeriodicLines(const Coarsening& grids, int reach) {
    const int extents[3] = {grids.coarse.nx, grids.coarse.ny, grids.coarse.nz};
    for (int axis = 0; axis < 3; ++axis)
        for (int index = 0; index < extents[axis]; ++index) points_[axis].emplace_back(grids, axis, index, reach);
    for (int x = 0; x < extents[0]; ++x) {
        if (x > 0 && at(0, x).regular() && at(0, x - 1).regular())
            ++segments_.back().count;
        else
            segments_.push_back({x, 1});
    }
}

int PeriodicLines::first_regular(int axis) const {
    for (std::size_t index = 0; index < points_[axis].size(); ++index)
        if (points_[axis][index].regular()) return int(index);
    return -1;
}

}  // namespace hyperplane::multigrid
