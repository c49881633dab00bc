// SPDX-License-Identifier: BSD-3-Clause
// Loops over the points of a grid for navier_stokes.hpp, on the backend that holds the vectors.
#pragma once

#include "problems/navier_stokes_rows.hpp"

namespace hyperplane {

void flow_initial_state(const Flow& flow, Vector& u);
/// f = F(u).
void flow_residual(const FlowStep& step, Vector& f);
/// a = dF/du. The derivative is exact, since tau depends on the state at the beginning of the step only.
void flow_jacobian(const FlowStep& step, StructMatrix& a);
/// The same two for vectors and matrix in the host's memory.
void flow_residual_on_host(const FlowStep& step, Vector& f);
void flow_jacobian_on_host(const FlowStep& step, StructMatrix& a);
/// energy = |u|^2 / 2 times the volume that belongs to the node.
void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy);

}  // namespace hyperplane
