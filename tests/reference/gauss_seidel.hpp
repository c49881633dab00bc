// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Gauss-Seidel as it is taught: each row in turn is solved for its own unknowns, forward and then backward.
#pragma once

#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

/// One forward and one backward sweep over the points in a given order, from x; by default from zero.
inline std::vector<double> symmetric_gauss_seidel(const BlockMatrix& a, const std::vector<int>& order,
                                                  const std::vector<double>& b, std::vector<double> x = {}) {
    const int dof = a.dof;
    x.resize(b.size(), 0.0);
    const auto relax = [&](int i) {
        std::vector<double> rest(b.begin() + i * dof, b.begin() + (i + 1) * dof), own(dof, 0.0);
        for (const auto& [j, block] : a.rows[i])
            if (j != i) add_product(block, &x[j * dof], -1.0, rest.data());
        add_product(pivoted_inverse(a.rows[i].at(i)), rest.data(), 1.0, own.data());
        for (int c = 0; c < dof; ++c) x[i * dof + c] = own[c];
    };
    for (auto at = order.begin(); at != order.end(); ++at) relax(*at);
    for (auto at = order.rbegin(); at != order.rend(); ++at) relax(*at);
    return x;
}

}  // namespace hyperplane::reference
