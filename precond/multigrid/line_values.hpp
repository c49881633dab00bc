// SPDX-License-Identifier: BSD-3-Clause
// Coefficients along lines of the natural layout on a CPU, across periodic boundaries, too.
#pragma once

#include "core/vector/vector.hpp"
#include "precond/multigrid/coarsening.hpp"

namespace hyperplane::multigrid {

/// values[t] = coefficient (row, col) of an entry, stored or not, at position t of a run; 0 where the neighbour does
/// not exist.
void line_values(const StructMatrix& a, const Run& run, int entry, int row, int col, double* values);

/// Sums of c_id / max_e c_ie over the points (x, y, k) of parts of [0, ny), y by y, for the candidates d, and zeros for
/// the other axes: sums({x, k, part}, d). Zeros if plane k is another rank's.
void add_coupling_ratios(const StructMatrix& a, Axes candidates, int k, Vector& sums);

}  // namespace hyperplane::multigrid
