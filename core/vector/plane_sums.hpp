// SPDX-License-Identifier: BSD-3-Clause
// The order of sums over a vector in the host's memory. A vector is cut into blocks of consecutive values, each summed
// by one thread in the order of core/vector/lane_sums.hpp. On a grid in natural layout no block reaches over the end of
// a plane: the blocks of a plane are added in their order, component by component, and then the planes in theirs. So
// a sum has the same bits for any number of threads, and it follows the grid alone. Where planes belong to several
// ranks, every rank gets the sums of all planes and adds them itself.
//
// Plain rows have no planes: blocks have equal numbers of rows, which follow from the number of all rows alone, and are
// added in their order. Several ranks have whole blocks each (core/matrix/row_cuts.hpp), and every rank gets the sums
// of all blocks.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "core/device/context.hpp"
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

    /// For sums over `components` components of an index space, whose vectors have `dof`: by planes on a grid in
    /// natural layout, otherwise all values are one plane.
    PlaneSums(const IndexSpace& space, Index components, Index dof = 1) {
        if (space.has_grid() && space.layout().kind() == LayoutKind::natural) {
            *this = PlaneSums(space.layout(), space.layout().slots_of_plane(), components, longest);
            return;
        }
        plane_ = component_ = space.block_rows() * components;
        if (space.has_grid()) {
            divide(longest);
            return;
        }
        const Index rows = rows_of_block(space.all_block_rows(), dof);
        length_ = rows * components;
        blocks_of_plane_ = (plane_ + length_ - 1) / length_;
        if (space.slab()) all_blocks_ = (space.all_block_rows() + rows - 1) / rows;
    }
    /// The rows of a block of plain rows, of which there are `all` with `dof` values each.
    static Index rows_of_block(Index all, Index dof) {
        const Index blocks = std::max<Index>(1, (all * dof + longest - 1) / longest);
        const Index equal = (all * dof + blocks - 1) / blocks, together = std::lcm(Index(16), dof);
        return std::max<Index>(1, (equal + together - 1) / together) * together / dof;
    }
    /// For sums whose blocks are the lines of a layout along x.
    static PlaneSums of_lines(const Layout& layout) { return {layout, layout.grid().ny, 1, 1}; }

    Index blocks() const { return components_ * planes_ * blocks_of_plane_; }
    /// Blocks are numbered as the values lie: by component, plane and place within a plane.
    SumBlock block(Index at) const {
        const Index within = at % blocks_of_plane_ * length_;
        const Index plane = at / blocks_of_plane_;
        return {plane / planes_ * component_ + plane % planes_ * plane_ + within, std::min(length_, plane_ - within)};
    }
    /// Adds up partial[block][column]; the result has `columns` sums, over the planes of all ranks.
    void add_up(const Context& context, std::span<const double> partial, std::size_t columns, double* sums) const {
        if (all_blocks_ > 0) return add_up_blocks(*context.ranks(), partial, columns, sums);
        std::vector<double> of_planes = sums_of_planes(partial, columns);
        if (Communicator* ranks = context.ranks(); ranks && all_planes_ > planes_) {
            std::vector<double> all(std::size_t(all_planes_) * columns);
            ranks->all_gather(of_planes, all);
            of_planes = std::move(all);
        }
        std::fill_n(sums, columns, 0.0);
        for (std::size_t at = 0; at < of_planes.size(); at += columns)
            for (std::size_t m = 0; m < columns; ++m) sums[m] += of_planes[at + m];
    }

private:
    PlaneSums(const Layout& layout, Index plane, Index components, Index longest_block)
        : plane_(plane),
          planes_(layout.planes()),
          all_planes_(layout.grid().nz),
          components_(components),
          component_(layout.slots_in_memory()) {
        divide(longest_block);
    }
    void add_up_blocks(Communicator& ranks, std::span<const double> partial, std::size_t columns, double* sums) const {
        std::vector<double> all(std::size_t(all_blocks_) * columns);
        ranks.all_gather(partial, all);
        std::fill_n(sums, columns, 0.0);
        for (std::size_t at = 0; at < all.size(); at += columns)
            for (std::size_t m = 0; m < columns; ++m) sums[m] += all[at + m];
    }
    /// The blocks of a plane are as equal as multiples of the lanes allow.
    void divide(Index longest_block) {
        const Index blocks = std::max<Index>(1, (plane_ + longest_block - 1) / longest_block);
        const Index equal = (plane_ + blocks - 1) / blocks;
        length_ = longest_block == 1 ? 1 : std::max<Index>(1, (equal + 15) / 16 * 16);
        blocks_of_plane_ = (plane_ + length_ - 1) / length_;
    }
    std::vector<double> sums_of_planes(std::span<const double> partial, std::size_t columns) const {
        std::vector<double> sums(std::size_t(planes_) * columns);
        for (Index plane = 0; plane < planes_; ++plane)
            for (Index component = 0; component < components_; ++component) {
                const Index first = (component * planes_ + plane) * blocks_of_plane_;
                for (Index block = first; block < first + blocks_of_plane_; ++block)
                    for (std::size_t m = 0; m < columns; ++m)
                        sums[std::size_t(plane) * columns + m] += partial[std::size_t(block) * columns + m];
            }
        return sums;
    }

    Index plane_ = 0;                       ///< values of a plane
    Index planes_ = 1, all_planes_ = 1;     ///< of this rank, and of all
    Index components_ = 1, component_ = 0;  ///< and their distance
    Index length_ = 1, blocks_of_plane_ = 0;
    Index all_blocks_ = 0;  ///< of plain rows that several ranks share
};

}  // namespace hyperplane
