// SPDX-License-Identifier: BSD-3-Clause
// The order of sums over a vector in the host's memory. A vector is cut into blocks of consecutive values, each summed
// by one thread in the order of core/vector/lane_sums.hpp. On a grid in natural layout no block reaches over the end of
// a plane: the blocks of a plane are added in their order, component by component, and then the planes in theirs. So
// a sum has the same bits for any number of threads, and it follows the grid alone.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/grid/index_space.hpp"

namespace hyperplane {

/// Consecutive values, or slots.
struct SumBlock {
    Index first, count;
};

class PlaneSums {
public:
    /// Values of the longest block. It is fixed, so that sums do not depend on the number of threads.
    static constexpr Index longest = 2048;

    /// For sums over `components` components of an index space: by planes on a grid in natural layout, otherwise all
    /// values are one plane.
    PlaneSums(const IndexSpace& space, Index components) {
        if (space.has_grid() && space.layout().kind() == LayoutKind::natural) {
            const Grid& grid = space.layout().grid();
            *this = PlaneSums(Index(grid.nx) * grid.ny, grid.nz, components, longest);
        } else {
            *this = PlaneSums(space.block_rows() * components, 1, 1, longest);
        }
    }
    /// For sums whose blocks are the lines of a grid along x.
    static PlaneSums of_lines(const Grid& grid) { return {grid.ny, grid.nz, 1, 1}; }

    Index blocks() const { return components_ * planes_ * blocks_of_plane_; }
    /// Blocks are numbered as the values lie: by component, plane and place within a plane.
    SumBlock block(Index at) const {
        const Index within = at % blocks_of_plane_ * length_;
        return {at / blocks_of_plane_ * plane_ + within, std::min(length_, plane_ - within)};
    }
    /// Adds up partial[block][column]; the result has `columns` sums.
    void add_up(std::span<const double> partial, std::size_t columns, double* sums) const {
        std::fill_n(sums, columns, 0.0);
        std::vector<double> of_plane(columns);
        for (Index plane = 0; plane < planes_; ++plane) {
            std::fill(of_plane.begin(), of_plane.end(), 0.0);
            for (Index component = 0; component < components_; ++component) {
                const Index first = (component * planes_ + plane) * blocks_of_plane_;
                for (Index block = first; block < first + blocks_of_plane_; ++block)
                    for (std::size_t m = 0; m < columns; ++m) of_plane[m] += partial[std::size_t(block) * columns + m];
            }
            for (std::size_t m = 0; m < columns; ++m) sums[m] += of_plane[m];
        }
    }

private:
    /// The blocks of a plane are as equal as multiples of the lanes allow.
    PlaneSums(Index plane, Index planes, Index components, Index longest_block)
        : plane_(plane), planes_(planes), components_(components), length_(longest_block) {
        if (longest_block > 1) {
            const Index blocks = std::max<Index>(1, (plane + longest_block - 1) / longest_block);
            length_ = std::max<Index>(1, ((plane + blocks - 1) / blocks + 15) / 16 * 16);
        }
        blocks_of_plane_ = (plane + length_ - 1) / length_;
    }

    Index plane_ = 0, planes_ = 0, components_ = 0, length_ = 1, blocks_of_plane_ = 0;
};

}  // namespace hyperplane
