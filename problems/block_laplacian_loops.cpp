// SPDX-License-Identifier: BSD-3-Clause
#include "problems/block_laplacian_rows.hpp"
#include "problems/linear_rows_loops.hpp"

namespace hyperplane {

template void assemble_rows(const BlockRows&, StructMatrix&);
template void residual_rows(const BlockRows&, const Vector&, Vector&);

}  // namespace hyperplane
