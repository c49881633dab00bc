// SPDX-License-Identifier: BSD-3-Clause
// StencilMatrix: a matrix on a structured grid, as another program hands it to Hyperplane. Public: what is declared
// here stays compatible within a minor version (docs/library.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hyperplane {

/// What a StencilMatrix is, apart from its values.
struct StencilShape {
    /// Number of grid points along x, y and z; 1 along an axis that does not exist.
    std::array<int, 3> extents{1, 1, 1};
    /// The equations at point p couple it with the points p + offset. The list has (0, 0, 0) and with each offset its
    /// negative; its order is free. The default is the seven-point stencil: the point itself and its neighbours along
    /// -x, +x, -y, +y, -z, +z.
    std::vector<std::array<int, 3>> offsets{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                            {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    /// Number of unknowns, and of equations, at each point, 1 to 32.
    int unknowns = 1;
    /// Axes along which the neighbours of the last points are the first ones.
    std::array<bool, 3> periodic{false, false, false};
    /// States that A equals its transpose, which cg needs and which halves the memory. It is checked, bit for bit.
    bool symmetric = false;

    friend bool operator==(const StencilShape&, const StencilShape&) = default;
};

/// The values, one array of all points for each coefficient. Points are in natural order: (i, j, k) has the number
/// i + nx (j + ny k).
class StencilMatrix {
public:
    /// A matrix of zeros. Throws UsageError if the shape is not as StencilShape says, OutOfMemory if its values do not
    /// fit into memory.
    explicit StencilMatrix(StencilShape shape);

    const StencilShape& shape() const { return shape_; }
    std::int64_t points() const { return points_; }
    /// Number of rows: points() times the unknowns of a point.
    std::int64_t rows() const { return points_ * shape_.unknowns; }
    /// Number of a point in natural order.
    std::int64_t number(int i, int j, int k) const {
        return i + std::int64_t(shape_.extents[0]) * (j + std::int64_t(shape_.extents[1]) * k);
    }

    /// The coefficients of one offset, by its place in StencilShape::offsets: element p belongs to equation `row` of
    /// point p and to unknown `column` of the neighbour. Where the neighbour lies outside the grid it must be 0.
    std::span<double> coefficients(int offset, int row = 0, int column = 0);
    std::span<const double> coefficients(int offset, int row = 0, int column = 0) const;

private:
    /// Where a coefficient's values begin. Throws UsageError if there is no such coefficient.
    std::int64_t place(int offset, int row, int column) const;

    StencilShape shape_;
    std::int64_t points_ = 0;
    std::vector<double> values_;
};

}  // namespace hyperplane
