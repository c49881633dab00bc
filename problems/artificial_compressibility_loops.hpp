// SPDX-License-Identifier: BSD-3-Clause
// The loops of artificial_compressibility.hpp over the cells of a grid, on the backend that holds the vectors.
#pragma once

#include "problems/artificial_compressibility_rows.hpp"

namespace hyperplane {

/// out = the sum of factors times vectors, then H of it where the flow is coupled. A vector may be null, but for the
/// first; one whose factor is 0 is not read.
void cavity_combine(const CavityFlow& flow, const double (&factors)[3], const Vector* const (&from)[3],
                    const VectorView& out);
/// x = H x.
void cavity_reflect(const CavityFlow& flow, Vector& x);
/// f, which holds the rates of Q by a common step, becomes F(q): uncoupled.
void cavity_residual(const CavityFlow& flow, const ConstVectorView& q, Vector& f);
/// The matrix at the uncoupled state q, coupled where the flow is; `rate` of the time derivative.
void cavity_jacobian(const CavityFlow& flow, const ConstVectorView& q, double rate, StructMatrix& a);
/// |u|^2 / 2 of the first set, times the cell's volume.
void cavity_kinetic_energy(const CavityFlow& flow, Backend backend, const ConstVectorView& q, const VectorView& energy);

}  // namespace hyperplane
