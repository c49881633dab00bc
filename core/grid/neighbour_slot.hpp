// SPDX-License-Identifier: BSD-3-Clause
// The slots of neighbours that lie across a periodic boundary, where other ranks may have them.
#pragma once

#include "core/grid/layout.hpp"

namespace hyperplane {

/// The slot of a point inside the grid that is a neighbour of a point of `layout`. In a part of a grid that is periodic
/// along z, a plane that is not in memory by its own number is in the halo at the other end.
HYPERPLANE_HD inline Index slot_of_neighbour(const Layout& layout, Int3 q) {
    if (const int planes = layout.grid().nz; layout.grid().periodic[2] && layout.is_part()) {
        if (q.z < layout.begin_plane() - layout.halo())
            q.z += planes;
        else if (q.z >= layout.end_plane() + layout.halo())
            q.z -= planes;
    }
    return layout.slot(q);
}

}  // namespace hyperplane
