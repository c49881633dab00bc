// SPDX-License-Identifier: BSD-3-Clause
// Loops over the cells of a grid for artificial_compressibility.hpp, on the backend that holds the vectors.
#pragma once

#include "problems/artificial_compressibility_rows.hpp"

namespace hyperplane {

/// out = sum_v factors[v] from[v], and then out = H out if the flow is coupled. Vectors other than the first may be
/// null; one whose factor is 0 is not read.
void cavity_combine(const CavityFlow& flow, const double (&factors)[3], const Vector* const (&from)[3],
                    const VectorView& out);
/// x = H x.
void cavity_reflect(const CavityFlow& flow, Vector& x);
/// On entry f holds the time derivative of Q for a common step; on return f = F(q) in uncoupled unknowns.
void cavity_residual(const CavityFlow& flow, const ConstVectorView& q, Vector& f);
/// The matrix at the uncoupled state q, coupled if the flow is. `rate` is the coefficient of u in the time derivative.
void cavity_jacobian(const CavityFlow& flow, const ConstVectorView& q, double rate, StructMatrix& a);
/// The kinetic energy |u|^2 / 2 of the first set, times the cell's volume.
void cavity_kinetic_energy(const CavityFlow& flow, const Context& context, const ConstVectorView& q,
                           const VectorView& energy);

}  // namespace hyperplane
