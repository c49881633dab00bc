// SPDX-License-Identifier: BSD-3-Clause
// Conversions of data between the reference and the code under test, which are independent otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/matrix/struct_matrix.hpp"
#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

inline Int3 to_int3(Offset s) {
    return {s.x, s.y, s.z};
}
inline Offset to_offset(Int3 s) {
    return {s.x, s.y, s.z};
}

inline Stencil to_stencil(const NamedStencil& stencil) {
    std::vector<Int3> offsets;
    for (Offset s : stencil.offsets) offsets.push_back(to_int3(s));
    return Stencil(stencil.name, offsets);
}

inline Grid to_grid(const Box& box) {
    Grid grid;
    grid.nx = box.nx;
    grid.ny = box.ny;
    grid.nz = box.nz;
    grid.periodic = box.periodic;
    return grid;
}

/// The name of a box: "17x9x5", or "7x5x5pxpz" if x and z are periodic.
inline std::string name_of(const Box& box) {
    std::ostringstream name;
    name << box.nx << 'x' << box.ny << 'x' << box.nz;
    for (int axis = 0; axis < 3; ++axis)
        if (box.periodic[axis]) name << 'p' << "xyz"[axis];
    return name.str();
}

inline StructMatrix to_struct_matrix(const Context& context, const Layout& layout, const StencilMatrix& a,
                                     MatrixStorage storage, const std::string& name = "test") {
    StructMatrix result(context, layout, to_stencil({name, a.offsets}), a.dof, storage);
    for (int row = 0; row < a.box.points(); ++row) {
        if (!layout.holds(to_int3(a.box.point(row)))) continue;  // another rank's
        for (const auto& [offset, block] : a.blocks[row]) {
            const int entry = result.stencil().find(to_int3(offset));
            if (!result.stores(entry)) continue;
            for (int r = 0; r < a.dof; ++r)
                for (int c = 0; c < a.dof; ++c)
                    result.values(entry, r, c)[layout.slot(to_int3(a.box.point(row)))] = block(r, c);
        }
    }
    result.share_halos();
    return result;
}

/// Converts x[row * dof + component] in natural order to a Vector, and back.
inline Vector to_vector(const Context& context, const Layout& layout, int dof, const std::vector<double>& x) {
    Vector result(context, layout, dof, "test vector");
    for (Index row = 0; row < layout.grid().points(); ++row)
        for (int c = 0; c < dof && layout.holds(layout.grid().point(row)); ++c)
            result(layout.grid().point(row), c) = x[row * dof + c];
    return result;
}

inline std::vector<double> from_vector(const Vector& x) {
    std::vector<double> result(x.size());
    for (Index row = 0; row < x.layout().slots(); ++row)
        for (int c = 0; c < x.dof(); ++c) result[row * x.dof() + c] = x(x.layout().grid().point(row), c);
    return result;
}

/// max |x - y| / max |y|; NaN if a value is not finite, infinity if the sizes differ.
inline double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
    if (x.size() != y.size()) return INFINITY;
    double largest = 0.0, error = 0.0;
    for (std::size_t at = 0; at < x.size(); ++at) {
        if (!std::isfinite(x[at]) || !std::isfinite(y[at])) return NAN;
        largest = std::max(largest, std::abs(y[at]));
        error = std::max(error, std::abs(x[at] - y[at]));
    }
    return largest > 0.0 ? error / largest : error;
}

}  // namespace hyperplane::reference
