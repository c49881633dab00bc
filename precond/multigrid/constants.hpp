// SPDX-License-Identifier: BSD-3-Clause
// Constants in the null space of a matrix.
#pragma once

#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane::multigrid {

/// Those of `unknowns` whose constants A takes to zero: in each row the coefficients of such an unknown add up to at
/// most 1e-14 of their magnitudes, as the rounding of a row leaves them. The same on all ranks that have parts of A.
std::vector<int> without_constants(const StructMatrix& a, const std::vector<int>& unknowns);

}  // namespace hyperplane::multigrid
