// SPDX-License-Identifier: BSD-3-Clause
// Classical Gram-Schmidt, twice: as orthogonal as Householder's method (Giraud, Langou, Rozloznik and
// van den Eshof 2005: "twice is enough"), with two reductions where the modified form needs one a vector.
#pragma once

#include <span>

#include "core/vector/blas1.hpp"

namespace hyperplane {

/// Scalars of orthogonalise_twice for k columns.
struct GramSchmidtScalars {
    double* first;   ///< k: V^T w
    double* second;  ///< k: what rounding left along V
    double* square;  ///< ||w||^2 of the rest
};

/// w -= V h, done twice for h = V^T w. For k vectors it moves 3 k + 5 numbers an unknown where the caches hold
/// a block of V, 4 k + 5 elsewhere.
void orthogonalise_twice(Columns v, Vector& w, const GramSchmidtScalars& scalars);

/// From those scalars, where the host can read them: h, both rounds summed, and ||w||, or 0 where w lay in the
/// span of the orthonormal V to rounding.
double orthogonalised(const double* first, const double* second, double square, std::span<double> h);

}  // namespace hyperplane
