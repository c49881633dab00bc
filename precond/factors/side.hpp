// SPDX-License-Identifier: BSD-3-Clause
// The triangles of a matrix, and the order in which eliminations and solves go through its rows or points.
#pragma once

namespace hyperplane {

enum class Side {
    lower,  ///< a row depends on the columns before it; rows ascend
    upper,  ///< a row depends on the columns after it; rows descend
};

}  // namespace hyperplane
