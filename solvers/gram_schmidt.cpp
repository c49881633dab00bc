#include "solvers/gram_schmidt.hpp"

#include <cmath>
#include <vector>

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"

namespace hyperplane {

double orthogonalise_twice(std::span<const Vector* const> v, Vector& w, std::span<double> h) {
    const std::size_t k = v.size();
    std::vector<double> minus(k), again(k);

    dots(v, w, h);  // h = V^T w
    for (std::size_t m = 0; m < k; ++m) minus[m] = -h[m];
    add_combination(minus, v, w);  // w -= V h
    dots(v, w, again);             // what rounding left along V
    for (std::size_t m = 0; m < k; ++m) {
        minus[m] = -again[m];
        h[m] += again[m];
    }
    const double ww = add_combination(minus, v, w);

    double hh = ww;  // ||V h + w||^2, by Pythagoras
    for (double value : h) hh += value * value;
    const double norm = std::sqrt(ww);
    return norm <= rounding_tolerance * std::sqrt(hh) ? 0.0 : norm;
}

}  // namespace hyperplane
