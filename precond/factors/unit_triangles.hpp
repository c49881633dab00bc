// SPDX-License-Identifier: BSD-3-Clause
// The triangles of M = (I + W) D (I + G) of a matrix on a grid as compressed rows, for those who examine them
// (hyperplane bench sweeps).
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/reduced.hpp"

namespace hyperplane {

/// I + W and I + G. Rows are in the order of the vectors that the preconditioner takes, on a grid in natural order, in
/// which those of multicolor are not triangular: they are in the order of its colours.
struct UnitTriangles {
    CsrMatrix lower, upper;
};

/// Interface of a preconditioner on a grid that reads such factors.
class HasUnitTriangles {
public:
    virtual ~HasUnitTriangles() = default;
    /// Copies of those of the last set-up, in the host's memory. The preconditioner must be on one rank.
    virtual UnitTriangles unit_triangles() const = 0;
};

/// Copies both triangles of factors on the whole grid, in either backend's memory. Blocks without a coefficient other
/// than zero are left out.
UnitTriangles unit_triangles_of(const Context& context, const TriangleFactors& factors, int dof);

}  // namespace hyperplane
