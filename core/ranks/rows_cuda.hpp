// SPDX-License-Identifier: BSD-3-Clause
// How ranks on GPUs exchange the halos of plain rows (core/grid/row_slab.hpp). What another rank reads lies scattered
// among a rank's rows, and together in the other one's halo. In a graph a kernel stores it there; of what is queued
// once, a rank offers a copy, from which the others take it (core/ranks/links_cuda.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/row_slab.hpp"

namespace hyperplane::cuda {

/// The memory that a rank's GPU needs to send rows to the ranks beside it.
struct RowsOnGpu {
    Buffer<int> sent;            ///< the slots that each neighbour reads, neighbour after neighbour
    std::vector<Index> begin;    ///< [neighbour]: the place of its first one; one value more than there are neighbours
    mutable Buffer<double> out;  ///< a copy of the values at these slots
};

/// Makes that memory, for vectors of up to `dof` values a row.
std::shared_ptr<const RowsOnGpu> rows_on_gpu(const Context& context, const RowSlab& slab, int dof,
                                             const std::string& label);

/// Exchanges rows as hyperplane::exchange_rows does, in the memory of the context's GPU. What is sent is read from
/// `from`, what is received is written to `to`, which may be the same; both are given at slot 0.
void exchange_rows(const Context& context, const RowSlab& slab, int dof, const double* from, double* to);

/// Copies blocks of `size` values, given by their places, behind one another.
void collect(const Context& context, const Buffer<Index>& places, Index size, const double* values, double* out);

}  // namespace hyperplane::cuda
