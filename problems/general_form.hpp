// SPDX-License-Identifier: BSD-3-Clause
// GeneralForm: a problem on a grid, whose systems are solved as general ones (matrix.format = general).
//
// Block rows are the points, in natural order or in that of [ordering]. Each offset of the stencil whose neighbour
// exists becomes a block, also where it is zero, and also where it wraps around a periodic axis. The problem assembles
// its structured matrix, whose values are then copied; states are copied between the grid's order and that of plain
// rows.
#pragma once

#include <memory>

#include "core/interfaces/problem.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The pattern of a structured matrix, and for each block the stencil's entry that it comes from.
struct GridPattern {
    std::shared_ptr<const BlockPattern> pattern;
    std::vector<unsigned char> entry;
};
GridPattern grid_pattern(const Context& host, const Grid& grid, const Stencil& stencil);

/// The problem in general form. Throws UsageError if the grid has more points than 32-bit columns count.
std::unique_ptr<Problem> general_form(std::shared_ptr<const Problem> problem, const Context& context);

/// Copies the values of a structured matrix in natural layout; `entry` as in GridPattern and `place` as in RowOrder, in
/// the memory of their backend. An empty `place` stands for natural order, here and below.
void copy_values(const StructMatrix& from, const Buffer<unsigned char>& entry, const Buffer<int>& place, BsrMatrix& to);
/// Copies a vector between a grid in any layout and plain rows, in either direction.
void copy_rows(const Vector& from, const Buffer<int>& place, Vector& to);

}  // namespace hyperplane
