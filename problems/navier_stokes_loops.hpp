// SPDX-License-Identifier: BSD-3-Clause
// The loops of navier_stokes.hpp over the points of a grid, on the backend that holds the vectors.
#pragma once

#include "problems/navier_stokes_rows.hpp"

namespace hyperplane {

void flow_initial_state(const Flow& flow, Vector& u);
/// f = F(u).
void flow_residual(const FlowStep& step, Vector& f);
/// a = dF/du, an exact derivative as tau belongs to the beginning of the step.
void flow_jacobian(const FlowStep& step, StructMatrix& a);
/// The same in the host's memory.
void flow_residual_on_host(const FlowStep& step, const VectorView& f);
void flow_jacobian_on_host(const FlowStep& step, const MatrixView& a);
/// |u|^2 / 2 times the volume that belongs to each node.
void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy);

}  // namespace hyperplane
