// SPDX-License-Identifier: BSD-3-Clause
// What is known about the triangular factors that Jacobi sweeps read, before any value is computed.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"
#include "precond/factors/reduced.hpp"

namespace hyperplane {

struct TriangleShape {
    Layout layout;
    std::vector<Int3> offsets;  ///< of the lower entries, (0,0,0), of the upper entries
    int dof = 1;
    bool symmetric = false, unit = false;  ///< as in FactorView
    FactorStorage storage = FactorStorage::double_precision;
    int zeros =
        0;  ///< mean number of a triangle's entries that are zero at a point, as they belong to the other triangle

    int lower() const { return int(offsets.size()) / 2; }
    /// Number of entries that are stored; of a symmetric matrix one triangle is.
    int kept() const { return symmetric ? lower() + 1 : 2 * lower() + 1; }

    friend bool operator==(const TriangleShape& a, const TriangleShape& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic && a.offsets == b.offsets &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.unit == b.unit && a.storage == b.storage &&
               a.zeros == b.zeros;
    }
};

}  // namespace hyperplane
