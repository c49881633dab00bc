// SPDX-License-Identifier: BSD-3-Clause
// Classical Gram-Schmidt, twice: as orthogonal as Householder's method (Giraud, Langou, Rozloznik and
// van den Eshof 2005: "twice is enough"), with two reductions, whereas the modified form needs one for each vector.
#pragma once

#include <span>

#include "core/vector/blas1.hpp"

namespace hyperplane {

/// Results of orthogonalise_twice for k columns, in the vectors' memory.
struct GramSchmidtScalars {
    double* first;   ///< k values, V^T w
    double* second;  ///< k values, V^T w after the first pass, when it is rounding error
    double* square;  ///< ||w||^2 after both passes
};

/// w -= V h with h = V^T w, done twice. For k columns it moves 3 k + 5 numbers an unknown if the caches hold a block of
/// V, otherwise 4 k + 5.
void orthogonalise_twice(Columns v, Vector& w, const GramSchmidtScalars& scalars);

/// Evaluates these results on the host: h, the sum of both passes, and the returned ||w||, which is 0 if w lay in the
/// span of the orthonormal V up to rounding.
double orthogonalised(const double* first, const double* second, double square, std::span<double> h);

}  // namespace hyperplane
