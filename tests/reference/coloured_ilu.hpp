// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) of a matrix whose points are renumbered by colour: permuted, factored row by row, solved, permuted back.
#pragma once

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

/// The points sorted by colour, and by natural order within a colour: the n-th point is order[n].
inline std::vector<int> sorted_by_colour(const std::vector<int>& colours) {
    std::vector<int> order(colours.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return colours[a] < colours[b]; });
    return order;
}

/// The matrix whose row and column n are row and column order[n] of `a`.
inline BlockMatrix permuted(const BlockMatrix& a, const std::vector<int>& order) {
    std::vector<int> place(order.size());
    for (int n = 0; n < int(order.size()); ++n) place[order[n]] = n;
    BlockMatrix result{a.dof, std::vector<std::map<int, Dense>>(order.size())};
    for (int n = 0; n < int(order.size()); ++n)
        for (const auto& [j, block] : a.rows[order[n]]) result.rows[n][place[j]] = block;
    return result;
}

/// ILU(0), or IC(0), of the renumbered matrix without the couplings that wrap.
inline BlockIlu coloured_ilu(const StencilMatrix& a, const std::vector<int>& order, bool symmetric) {
    const BlockMatrix matrix = permuted(assembled(a, false), order);
    Pattern pattern(order.size());
    for (std::size_t n = 0; n < order.size(); ++n)
        for (const auto& [j, block] : matrix.rows[n]) pattern[n].insert(j);
    return symmetric ? block_ic(matrix, pattern) : block_ilu(matrix, pattern);
}

/// M^-1 r in natural order, from factors of a renumbered matrix.
template <class Factors>
std::vector<double> apply_in_order(const Factors& m, const std::vector<int>& order, const std::vector<double>& r) {
    const int dof = int(r.size() / order.size());
    std::vector<double> sorted(r.size()), z(r.size());
    for (int n = 0; n < int(order.size()); ++n)
        for (int c = 0; c < dof; ++c) sorted[n * dof + c] = r[order[n] * dof + c];
    const std::vector<double> solved = apply_inverse(m, sorted);
    for (int n = 0; n < int(order.size()); ++n)
        for (int c = 0; c < dof; ++c) z[order[n] * dof + c] = solved[n * dof + c];
    return z;
}

inline std::vector<double> apply_coloured_ilu(const StencilMatrix& a, const std::vector<int>& order, bool symmetric,
                                              const std::vector<double>& r) {
    return apply_in_order(coloured_ilu(a, order, symmetric), order, r);
}

}  // namespace hyperplane::reference
