// SPDX-License-Identifier: BSD-3-Clause
// The hyperplanes of FGBILU, and its factors as they are computed (precond/fgbilu/fgbilu.hpp).
#pragma once

#include "precond/factors/copy.hpp"

namespace hyperplane {

/// The largest number of columns of any level.
int most_columns(const Layout& layout);

/// Views of factors and matrix.
struct FgBiluFactors {
    FactorView view;               ///< of the factors; its offsets are in the context's memory
    BlockView triangles, inverse;  ///< written; `triangles` is null if E and F are the matrix's
    ConstBlockView diagonal;       ///< of A
    int dof;
};

/// Sets X = A + alpha diag(A) in the memory of the factors.
void fgbilu_copy(const Context& context, const StructMatrix& a, const FgBiluFactors& factors, double alpha);
/// Copies the factors in the form (I + W) D (I + G). Plane k of the copy is plane k - planes_before of the factors.
void fgbilu_export(const FgBiluFactors& from, const TriangleCopy& to, int planes_before);

}  // namespace hyperplane
