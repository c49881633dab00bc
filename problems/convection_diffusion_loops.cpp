// SPDX-License-Identifier: BSD-3-Clause
#include "problems/convection_diffusion_rows.hpp"
#include "problems/linear_rows_loops.hpp"

namespace hyperplane {

template void assemble_rows(const TransportRows&, StructMatrix&);
template void residual_rows(const TransportStep&, const Vector&, Vector&);
template void set_points(const TransportStart&, Vector&);

}  // namespace hyperplane
