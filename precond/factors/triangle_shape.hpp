// SPDX-License-Identifier: BSD-3-Clause
// What is known of triangular factors, as Jacobi sweeps read them, before any value.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"
#include "precond/factors/reduced.hpp"

namespace hyperplane {

struct TriangleShape {
    Layout layout;
    std::vector<Int3> offsets;  ///< of the lower triangle's entries, (0,0,0), those of the upper one's
    int dof = 1;
    bool symmetric = false, unit = false;  ///< as FactorView's
    FactorStorage storage = FactorStorage::double_precision;
    int zeros = 0;  ///< entries of a triangle that are zero at a point, on average: the other triangle's

    int lower() const { return int(offsets.size()) / 2; }
    /// Entries that are kept: a symmetric matrix keeps one triangle.
    int kept() const { return symmetric ? lower() + 1 : 2 * lower() + 1; }

    friend bool operator==(const TriangleShape& a, const TriangleShape& b) {
        return a.layout == b.layout && a.layout.grid().periodic == b.layout.grid().periodic && a.offsets == b.offsets &&
               a.dof == b.dof && a.symmetric == b.symmetric && a.unit == b.unit && a.storage == b.storage &&
               a.zeros == b.zeros;
    }
};

}  // namespace hyperplane
