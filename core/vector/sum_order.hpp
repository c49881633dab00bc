// SPDX-License-Identifier: BSD-3-Clause
// The order of sums over a vector in a GPU's memory. Like those in the host's memory (core/vector/plane_sums.hpp) they
// follow the grid: a plane is cut into pieces, each summed by one thread block, the pieces of a plane are added, and
// then the planes. How many pieces a plane has and how many threads add them up depends on the whole grid alone, so
// that ranks on GPUs of one kind get the bits that one GPU gets. Plain rows are cut into groups of equally many rows,
// which follow from the number of all rows alone and take the place of planes; the last group may be shorter. Several
// ranks have whole groups each (core/matrix/row_cuts.hpp).
#pragma once

#include <algorithm>

#include "core/grid/index_space.hpp"

namespace hyperplane::cuda {

struct SumOrder {
    /// Sums follow the planes of grids of up to this many; those of a grid with more planes are one.
    static constexpr int most_planes = 4096;

    Index plane = 0;                 ///< values of a plane
    int planes = 1, all_planes = 1;  ///< of this rank, and of the whole grid
    int first_plane = 0;
    int components = 1;
    Index component = 0;  ///< the distance between their values
    int pieces = 1;       ///< of a plane
    Index length = 0;     ///< values of a piece in each component; the last one of a plane may have fewer
    Index lacking = 0;    ///< values that this rank's last plane has fewer than the others

    /// For sums over `of_components` components of an index space, in pieces of about `least` values or more.
    SumOrder(const IndexSpace& space, int of_components, Index least = 2048) {
        constexpr Index shortest = 2048, few = 128, many = 2048;
        if (follows_planes(space)) {
            const Layout& layout = space.layout();
            plane = layout.slots_of_plane();
            planes = layout.planes();
            all_planes = layout.grid().nz;
            first_plane = layout.begin_plane();
            components = of_components;
            component = layout.slots_in_memory();
        } else if (space.has_grid()) {
            plane = space.block_rows() * of_components;
        } else {
            const Index rows = rows_of_group(space.all_block_rows());
            plane = rows * of_components;
            planes = int(std::max<Index>(1, parts(space.block_rows(), rows)));
            all_planes = int(std::max<Index>(1, parts(space.all_block_rows(), rows)));
            first_plane = int(space.first_block_row() / rows);
            lacking = planes * plane - space.block_rows() * of_components;
        }
        const Index values = plane * components;
        // A GPU has more than a hundred multiprocessors, so fewer pieces are shorter, but not too short.
        Index count = std::max(parts(values, least), std::min(parts(few, all_planes), parts(values, shortest)));
        count = std::clamp<Index>(count, 1, std::max<Index>(1, many / all_planes));
        length = parts(parts(plane, count), together) * together;
        pieces = int(std::max<Index>(1, parts(plane, std::max<Index>(1, length))));
    }
    /// The rows of a group of plain rows, of which there are `all`.
    static Index rows_of_group(Index all) {
        constexpr Index most_groups = 256;
        return std::max<Index>(1, parts(all, most_groups * together)) * together;
    }
    static bool follows_planes(const IndexSpace& space) {
        return space.has_grid() && space.layout().kind() == LayoutKind::natural &&
               space.layout().grid().nz <= most_planes;
    }

    bool is_part() const { return planes < all_planes; }
    /// Whether all pieces begin at even places, so that two values can be loaded together.
    bool even() const { return (all_planes == 1 && components == 1) || plane % 2 == 0; }
    /// 1 where a block's values of a component begin at an odd place of the whole grid's vector, otherwise 0.
    HYPERPLANE_HD int head(Index block, int c) const {
        return int((Index(c) * all_planes + first_plane + block / pieces) * plane + block % pieces * length) & 1;
    }
    HYPERPLANE_HD Index blocks() const { return Index(planes) * pieces; }
    /// The first value of a block, in component 0, and the number of its values in each component.
    HYPERPLANE_HD Index first(Index block) const { return block / pieces * plane + block % pieces * length; }
    HYPERPLANE_HD Index count(Index block) const {
        const Index left = plane - block % pieces * length - (block / pieces == planes - 1 ? lacking : 0);
        return left < 0 ? 0 : left < length ? left : length;
    }
    /// The threads that add the pieces of a plane for one of `columns` sums, a power of two.
    HYPERPLANE_HD int lanes(int columns) const {
        const Index wanted = 256 / (Index(all_planes) * (columns > 0 ? columns : 1));
        int lanes = 1;
        while (lanes < wanted && lanes < pieces && lanes < 256) lanes *= 2;
        return lanes;
    }

private:
    static constexpr Index together = 512;  ///< pieces and groups have multiples of so many values, and rows
    static Index parts(Index whole, Index part) { return (whole + part - 1) / part; }
};

}  // namespace hyperplane::cuda
