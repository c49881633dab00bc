// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/stencil_values.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace hyperplane {
namespace {

Grid grid_of(const StencilShape& shape) {
    Grid grid;
    grid.nx = shape.extents[0];
    grid.ny = shape.extents[1];
    grid.nz = shape.extents[2];
    grid.periodic = shape.periodic;
    return grid;
}

Stencil stencil_of(const StencilShape& shape) {
    std::vector<Int3> offsets;
    for (const auto& [x, y, z] : shape.offsets) offsets.push_back({x, y, z});
    return Stencil::closure(offsets);
}

/// Place of an offset in StencilShape::offsets.
int place_of(const StencilShape& shape, Int3 offset) {
    int place = 0;
    while (shape.offsets[place] != std::array{offset.x, offset.y, offset.z}) ++place;
    return place;
}

/// Calls body(number, point) for every point in natural order.
template <class Body>
void for_points(const Grid& grid, const Body& body) {
    Index number = 0;
    for (int k = 0; k < grid.nz; ++k)
        for (int j = 0; j < grid.ny; ++j)
            for (int i = 0; i < grid.nx; ++i) body(number++, Int3{i, j, k});
}

std::string coefficient_at(Int3 point, Int3 offset, int row, int column) {
    return fmt::format("the coefficient at point ({}, {}, {}), offset ({}, {}, {}), equation {}, unknown {}", point.x,
                       point.y, point.z, offset.x, offset.y, offset.z, row, column);
}

/// Throws UsageError where a coefficient leads outside the grid.
void check_inside(const StencilMatrix& a, const Grid& grid, Int3 offset, int row, int column) {
    const std::span<const double> values = a.coefficients(place_of(a.shape(), offset), row, column);
    for_points(grid, [&](Index at, Int3 point) {
        if (values[at] != 0.0 && !grid.contains(grid.wrapped(point + offset)))
            throw UsageError(fmt::format("{} is {:g}, but there is no such neighbour: it must be 0",
                                         coefficient_at(point, offset, row, column), values[at]));
    });
}

/// Throws UsageError where a coefficient differs from the one that mirrors it. NaN, which a solve reports, does not.
void check_mirrored(const StencilMatrix& a, const Grid& grid, Int3 offset, int row, int column) {
    const std::span<const double> values = a.coefficients(place_of(a.shape(), offset), row, column);
    const std::span<const double> mirrored = a.coefficients(place_of(a.shape(), -offset), column, row);
    for_points(grid, [&](Index at, Int3 point) {
        const Int3 neighbour = grid.wrapped(point + offset);
        if (!grid.contains(neighbour)) return;
        const double value = values[at], other = mirrored[grid.row(neighbour)];
        if (value != other && !(std::isnan(value) && std::isnan(other)))
            throw UsageError(fmt::format("StencilShape::symmetric is true, but {} is {:.17g}, and its mirror {:.17g}",
                                         coefficient_at(point, offset, row, column), value, other));
    });
}

}  // namespace

MatrixShape shape_of(const StencilShape& shape) {
    return {grid_of(shape), stencil_of(shape), shape.unknowns, shape.symmetric};
}

void check_values(const StencilMatrix& a, const MatrixShape& shape) {
    const Grid& grid = shape.grid();
    for (const Int3 offset : shape.stencil().offsets())
        for (int row = 0; row < a.shape().unknowns; ++row)
            for (int column = 0; column < a.shape().unknowns; ++column) {
                check_inside(a, grid, offset, row, column);
                if (a.shape().symmetric) check_mirrored(a, grid, offset, row, column);
            }
}

void fill(const StencilMatrix& a, StructMatrix& filled) {
    const Layout& layout = filled.layout();
    for (int entry = 0; entry < filled.stored_entries(); ++entry)
        for (int row = 0; row < filled.dof(); ++row)
            for (int column = 0; column < filled.dof(); ++column) {
                const std::span<const double> from =
                    a.coefficients(place_of(a.shape(), filled.stencil()[entry]), row, column);
                double* to = filled.values(entry, row, column);
                for_points(layout.grid(), [&](Index at, Int3 point) { to[layout.slot(point)] = from[at]; });
            }
}

}  // namespace hyperplane
