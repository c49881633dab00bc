// SPDX-License-Identifier: BSD-3-Clause
// Coefficients along lines of the natural layout on a CPU, across periodic boundaries, too.
#pragma once

#include "precond/multigrid/coarsening.hpp"

namespace hyperplane::multigrid {

/// values[t] = coefficient (row, col) of an entry, stored or not, at position t of a run; 0 where the neighbour does
/// not exist.
void line_values(const StructMatrix& a, const Run& run, int entry, int row, int col, double* values);

/// Adds c_id / max_e c_ie of the points (x, y, k), y in [begin, end), to sums[d][x] for the candidates d, y by y.
void add_coupling_ratios(const StructMatrix& a, Axes candidates, int k, int begin, int end,
                         const std::array<double*, 3>& sums);

}  // namespace hyperplane::multigrid
