// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients as in Saad, Iterative Methods, algorithm 9.1, with sums in long double.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

struct CgResult {
    std::vector<double> x;
    std::vector<double> residuals;  ///< ||r|| of the recurrence, from that of the given x on
};

/// From x = 0, until ||r|| <= rtol ||b||, or for `most` iterations.
inline CgResult conjugate_gradients(const BlockMatrix& a,
                                    const std::function<std::vector<double>(const std::vector<double>&)>& m_inverse,
                                    const std::vector<double>& b, double rtol, int most) {
    const auto product = [](const std::vector<double>& x, const std::vector<double>& y) {
        long double sum = 0.0L;
        for (std::size_t i = 0; i < x.size(); ++i) sum += (long double)x[i] * y[i];
        return double(sum);
    };
    CgResult result{std::vector<double>(b.size()), {std::sqrt(product(b, b))}};
    std::vector<double> r = b, p;
    double before = 0.0;
    for (int iteration = 0; iteration < most && result.residuals.back() > rtol * result.residuals.front();
         ++iteration) {
        const std::vector<double> z = m_inverse(r);
        const double rho = product(r, z);
        if (p.empty()) p.assign(b.size(), 0.0);
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + (iteration == 0 ? 0.0 : rho / before) * p[i];
        const std::vector<double> q = multiply(a, p).value;
        const double alpha = rho / product(p, q);
        for (std::size_t i = 0; i < p.size(); ++i) {
            result.x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        result.residuals.push_back(std::sqrt(product(r, r)));
        before = rho;
    }
    return result;
}

}  // namespace hyperplane::reference
