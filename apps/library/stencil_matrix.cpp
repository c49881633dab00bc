// SPDX-License-Identifier: BSD-3-Clause
#include "hyperplane/stencil_matrix.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/grid/stencil.hpp"
#include "core/types.hpp"

namespace hyperplane {

StencilMatrix::StencilMatrix(StencilShape shape) : shape_(std::move(shape)) {
    const int nx = shape_.extents[0], ny = shape_.extents[1], nz = shape_.extents[2];
    if (nx < 1 || ny < 1 || nz < 1)
        throw UsageError(fmt::format("StencilShape::extents are {} x {} x {}; each must be 1 or more", nx, ny, nz));
    if (shape_.unknowns < 1 || shape_.unknowns > max_dof)
        throw UsageError(
            fmt::format("StencilShape::unknowns is {}; a point has 1 to {} of them", shape_.unknowns, max_dof));
    std::vector<Int3> offsets;
    for (const auto& [x, y, z] : shape_.offsets) offsets.push_back({x, y, z});
    const Stencil checked("StencilShape::offsets", offsets);  // throws where one is missing or there twice

    // The number of points is a real number here, since 64 bits do not count what extents of 32 bits allow.
    const double points = double(nx) * ny * nz;
    const double bytes = points * checked.size() * shape_.unknowns * shape_.unknowns * double(sizeof(double));
    const auto refuse = [&] {
        throw OutOfMemory(
            fmt::format("out of memory: a StencilMatrix of {} x {} x {} points, {} offsets and {} unknowns a point has "
                        "{:.3g} GiB of values, which could not be allocated; use a smaller grid",
                        nx, ny, nz, checked.size(), shape_.unknowns, bytes / (1 << 30)));
    };
    if (bytes >= double(std::numeric_limits<std::ptrdiff_t>::max())) refuse();
    points_ = Index(nx) * ny * nz;
    try {
        values_.resize(points_ * checked.size() * shape_.unknowns * shape_.unknowns);
    } catch (const std::bad_alloc&) {
        refuse();
    }
}

std::span<double> StencilMatrix::coefficients(int offset, int row, int column) {
    return {values_.data() + place(offset, row, column), std::size_t(points_)};
}

std::span<const double> StencilMatrix::coefficients(int offset, int row, int column) const {
    return {values_.data() + place(offset, row, column), std::size_t(points_)};
}

std::int64_t StencilMatrix::place(int offset, int row, int column) const {
    const int offsets = int(shape_.offsets.size()), unknowns = shape_.unknowns;
    if (offset < 0 || offset >= offsets || row < 0 || row >= unknowns || column < 0 || column >= unknowns)
        throw UsageError(fmt::format(
            "StencilMatrix::coefficients({}, {}, {}): this matrix has {} offsets and {} unknowns at a point", offset,
            row, column, offsets, unknowns));
    return ((Index(offset) * unknowns + row) * unknowns + column) * points_;
}

}  // namespace hyperplane
