// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/gram_schmidt.hpp"

#include <cmath>

namespace hyperplane {

void orthogonalise_twice(Columns v, Vector& w, const GramSchmidtScalars& scalars) {
    dots(v, w, scalars.first);                                        // h_1 = V^T w
    add_combination_dots(-1.0, scalars.first, v, w, scalars.second);  // w -= V h_1, h_2 = V^T w
    add_combination(-1.0, scalars.second, v, w, scalars.square);      // w -= V h_2, w^T w
}

double orthogonalised(const double* first, const double* second, double square, std::span<double> h) {
    double hh = square;  // ||V h + w||^2, by Pythagoras
    for (std::size_t m = 0; m < h.size(); ++m) {
        h[m] = first[m] + second[m];
        hh += h[m] * h[m];
    }
    const double norm = std::sqrt(square);
    return norm <= rounding_tolerance * std::sqrt(hh) ? 0.0 : norm;
}

}  // namespace hyperplane
