// SPDX-License-Identifier: BSD-3-Clause
// Views of the values of a vector or a matrix. They are small, and formulas at a point and kernels take them by value.
// A view is valid as long as the vector or matrix exists, and only on the backend where its values lie.
#pragma once

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// values[component][slot] of a Vector; T is double or const double.
template <class T>
struct BasicVectorView {
    Layout layout;
    T* values = nullptr;

    HYPERPLANE_HD T& at(Index slot, int c = 0) const { return values[c * layout.slots_in_memory() + slot]; }
    /// `point` must lie inside the grid, and where that is cut into parts, inside this part or its halo.
    HYPERPLANE_HD T& operator()(Int3 point, int c = 0) const { return at(layout.slot(point), c); }
};

using VectorView = BasicVectorView<double>;
using ConstVectorView = BasicVectorView<const double>;

inline VectorView view(Vector& x) {
    return {x.layout(), x.data()};
}
inline ConstVectorView view(const Vector& x) {
    return {x.layout(), x.data()};
}

/// values[entry][row][col][slot] of the entries that a StructMatrix stores; T is double or const double.
template <class T>
struct BasicMatrixView {
    T* values = nullptr;
    Index stride = 0;  ///< distance from one coefficient's first value to the next one's
    int dof = 1;
    int stored_entries = 0;

    HYPERPLANE_HD T& at(int entry, int row, int col, Index slot) const {
        return values[(Index(entry * dof + row) * dof + col) * stride + slot];
    }
};

using MatrixView = BasicMatrixView<double>;
using ConstMatrixView = BasicMatrixView<const double>;

inline MatrixView view(StructMatrix& a) {
    return {a.values(0), a.stride(), a.dof(), a.stored_entries()};
}
inline ConstMatrixView view(const StructMatrix& a) {
    return {a.values(0), a.stride(), a.dof(), a.stored_entries()};
}

}  // namespace hyperplane
