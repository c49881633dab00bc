// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps towards ILU on a pattern: Chow and Patel, SIAM J. Sci. Comput. 37, 2015, section 2.
#pragma once

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

/// Sweeps X_ij <- A_ij - sum over k < min(i, j) of X_ik X_kk^-1 X_kj, starting with X = A. A sweep reads the values of
/// the sweep before; with `in_turn`, it updates rows one after the other and reads new values of the rows above.
/// M is (D + E) D^-1 (D + F) with the lower, diagonal and upper parts of X.
inline BlockIlu par_ilu(const BlockMatrix& a, const Pattern& pattern, int sweeps, bool in_turn = false) {
    const int n = int(a.rows.size());
    BlockMatrix x{a.dof, std::vector<std::map<int, Dense>>(n)};
    const auto entry = [&](int i, int j) {
        const auto held = a.rows[i].find(j);
        return held == a.rows[i].end() ? Dense(a.dof, a.dof) : held->second;
    };
    for (int i = 0; i < n; ++i)
        for (int j : pattern[i]) x.rows[i][j] = entry(i, j);
    std::vector<Dense> inverse(n);
    const auto invert = [&](int i) { inverse[i] = gauss_jordan_inverse(x.rows[i].at(i)); };
    for (int i = 0; i < n; ++i) invert(i);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        BlockMatrix next = x;
        for (int i = 0; i < n; ++i) {
            for (auto& [j, block] : next.rows[i]) {
                block = entry(i, j);
                for (const auto& [k, left] : x.rows[i]) {
                    if (k >= i || k >= j) break;
                    const auto right = x.rows[k].find(j);
                    if (right == x.rows[k].end()) continue;
                    block = difference(block, product(product(left, inverse[k]), right->second));
                }
            }
            if (in_turn) x.rows[i] = next.rows[i], invert(i);
        }
        x = next;
        for (int i = 0; i < n; ++i) invert(i);
    }
    for (int i = 0; i < n; ++i)
        for (auto& [j, block] : x.rows[i])
            if (j < i) block = product(block, inverse[j]);
    return {x, inverse};
}

}  // namespace hyperplane::reference
