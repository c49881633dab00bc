// SPDX-License-Identifier: BSD-3-Clause
#include "problems/linear_rows_loops.hpp"
#include "problems/poisson_rows.hpp"

namespace hyperplane {

template void assemble_rows(const NodeRows<7>&, StructMatrix&);
template void residual_rows(const NodeRows<7>&, const Vector&, Vector&);
template void set_points(const BoundaryState<NodeRows<7>>&, Vector&);

template void assemble_rows(const NodeRows<27>&, StructMatrix&);
template void residual_rows(const NodeRows<27>&, const Vector&, Vector&);
template void set_points(const BoundaryState<NodeRows<27>>&, Vector&);

template void assemble_rows(const FluxRows&, StructMatrix&);
template void residual_rows(const FluxRows&, const Vector&, Vector&);

}  // namespace hyperplane
