// SPDX-License-Identifier: BSD-3-Clause
// Products with a structured matrix on a CPU, line by line along x.
#pragma once

#include <memory>

#include "core/function_ref.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The equal lines of a matrix that products with it follow; null where they are not known or too few, or lines are so
/// short that they take longer to begin than equal ones save.
const EqualLines* lines_to_follow(const StructMatrix& a);

/// y = A x in natural layout. Of lines of coefficients that are equal one is read, if `lines` is given. Calls
/// done(block, first slot, number of points) after each block of PlaneSums(space, 1).
///
/// At each point the couplings inside the grid come first, their products fused with the sum. Those around periodic
/// axes follow, each product rounded before it is added, as in StructMatrix::apply for any layout. Both are in the
/// order of the stencil's entries.
void line_product(const StructMatrix& a, const EqualLines* lines, const Vector& x, Vector& y,
                  FunctionRef<void(Index, Index, int)> done);

class LineProduct;

/// r = b - A x plane by plane on one rank, with the bits of StructMatrix::subtract_product, for passes that go on with
/// a plane while it is in the caches. The matrix and both vectors must live as long as this object.
class PlanesOfResidual {
public:
    PlanesOfResidual(const StructMatrix& a, const Vector& b, const Vector& x);
    ~PlanesOfResidual();
    /// Writes plane `plane` of b - A x to plane `to` of r. Several threads may call it for different planes `to`.
    void compute(int plane, int to, Vector& r) const;

private:
    const StructMatrix& a_;
    const Vector& b_;
    std::unique_ptr<const LineProduct> product_;
};

}  // namespace hyperplane
