// SPDX-License-Identifier: BSD-3-Clause
// How rows of a level are sorted and cut into the slices of solves (slices.hpp) and of factorisations (tables.hpp), for
// the host and for nvcc.
//
// A row's class decides where it lies in its level; rows of one class stay in their order. A group is a number of
// consecutive classes. A slice has rows of one group and one level, and no more than a group's most_rows.
#pragma once

#include "core/host_device.hpp"
#include "core/types.hpp"
#include "precond/general/orders/slice.hpp"

namespace hyperplane {

/// The blocks of a row of factors.
struct RowEntries {
    int below = 0;  ///< the diagonal
    int from = 0;   ///< the diagonal on
    HYPERPLANE_HD Index all() const { return Index(below) + from; }
};

/// Those with most lanes first, and of these the longest, so that slices have few places without a block. A row with
/// `widths` blocks a lane, or more, is one of the widest.
struct SolveRule {
    using Slice = SolveSlice;
    static constexpr int warp = 32, widths = 8, groups = 6, classes = groups * widths;
    /// A row gets more lanes until none has more blocks than this.
    static constexpr Index blocks_of_a_lane = 4;

    int dof;
    bool upper;

    HYPERPLANE_HD Index blocks(const RowEntries& row) const { return upper ? row.from - 1 : row.below; }
    /// The number of groups of lanes of a row, a power of two, by its exponent.
    HYPERPLANE_HD int lanes_exponent(const RowEntries& row) const {
        int exponent = 0;
        while ((2 << exponent) * dof <= warp && blocks(row) > blocks_of_a_lane << exponent) ++exponent;
        return exponent;
    }
    HYPERPLANE_HD int class_of(const RowEntries& row) const {
        const int exponent = lanes_exponent(row), width = width_of(row, 1 << exponent);
        return classes - 1 - exponent * widths - (width < widths ? width : widths - 1);
    }
    /// What a row's class tells of it: its lanes, and its width, which is the least one of the widest.
    HYPERPLANE_HD static int lanes_of_class(int of_class) { return 1 << (groups - 1 - group_of(of_class)); }
    HYPERPLANE_HD static int least_width(int of_class) { return widths - 1 - of_class % widths; }
    /// Blocks of a lane.
    HYPERPLANE_HD int width_of(const RowEntries& row, int lanes) const {
        return int((blocks(row) + lanes - 1) / lanes);
    }
    HYPERPLANE_HD static int group_of(int of_class) { return of_class / widths; }
    HYPERPLANE_HD int most_rows(int group) const { return warp / (dof << (groups - 1 - group)); }
};

/// Long rows first, then those with the most lanes, of these those with the most steps: so few places stay empty.
struct TableRule {
    using Slice = TableSlice;
    static constexpr int warp = 32, least_lanes = 4, most_steps = 64;  // of a short row
    static constexpr int groups = 5, classes = 1 + (groups - 1) * (most_steps + 1);

    bool symmetric;

    /// The lanes of a row, 0 if it is long. A row with many steps has more, because each loads the pivot of one.
    HYPERPLANE_HD int lanes_of(const RowEntries& row) const {
        const Index entries = symmetric ? row.from : row.all();
        if (entries > warp || row.below > most_steps) return 0;
        int lanes = least_lanes;
        while (lanes < entries || lanes < (row.below + 1) / 2) lanes *= 2;
        return lanes;
    }
    HYPERPLANE_HD int class_of(const RowEntries& row) const {
        const int lanes = lanes_of(row);
        if (lanes == 0) return 0;
        int group = 0;
        while (lanes << group < warp) ++group;
        return 1 + group * (most_steps + 1) + most_steps - row.below;
    }
    HYPERPLANE_HD static int group_of(int of_class) {
        return of_class == 0 ? 0 : 1 + (of_class - 1) / (most_steps + 1);
    }
    /// What the class of a short row tells of it; those of a long row are 0.
    HYPERPLANE_HD static int lanes_of_class(int of_class) {
        return of_class == 0 ? 0 : warp >> (group_of(of_class) - 1);
    }
    HYPERPLANE_HD static int steps_of_class(int of_class) {
        return of_class == 0 ? 0 : most_steps - (of_class - 1) % (most_steps + 1);
    }
    HYPERPLANE_HD static int most_rows(int group) { return group == 0 ? 1 : 1 << (group - 1); }
};

}  // namespace hyperplane
