// SPDX-License-Identifier: BSD-3-Clause
// Sequential block ILU on a given pattern, its solves, and related factorisations.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

using Inverse = std::function<Dense(const Dense&)>;

/// `factors` contains L (with unit diagonal blocks) strictly below the diagonal, U on and above it.
struct BlockIlu {
    BlockMatrix factors;
    std::vector<Dense> diagonal_inverse;
};

/// Inverts the diagonal blocks of one row after the other, for block_ilu or block_ic. Each pivot of a zero block is
/// replaced by `boost` times the largest coefficient of the row of A, and counted in `replaced`.
inline Inverse inverse_boosted_by_row(const BlockMatrix& a, double boost, int& replaced) {
    return [&a, boost, &replaced, row = 0](const Dense& block) mutable {
        double largest = 0.0;
        for (const auto& [column, other] : a.rows[row])
            for (const double value : other.values) largest = std::max(largest, std::abs(value));
        ++row;
        for (const double value : block.values)
            if (value != 0.0) return gauss_jordan_inverse(block);
        Dense inverse = identity(a.dof);
        for (double& value : inverse.values) value /= boost * largest;
        replaced += a.dof;
        return inverse;
    };
}

/// StructILU paper, Algorithm 1: in place, row by row; updates outside the pattern are dropped.
inline BlockIlu block_ilu(const BlockMatrix& a, const Pattern& pattern, const Inverse& inverse = gauss_jordan_inverse) {
    const int n = int(a.rows.size());
    BlockIlu ilu{{a.dof, std::vector<std::map<int, Dense>>(n)}, std::vector<Dense>(n)};
    auto& rows = ilu.factors.rows;
    for (int i = 0; i < n; ++i) {
        for (int j : pattern[i]) {
            const auto held = a.rows[i].find(j);
            rows[i][j] = held == a.rows[i].end() ? Dense(a.dof, a.dof) : held->second;
        }
        for (int l : pattern[i]) {
            if (l >= i) break;
            rows[i][l] = product(rows[i][l], ilu.diagonal_inverse[l]);
            for (const auto& [u, block] : rows[l])
                if (u > l && pattern[i].count(u)) rows[i][u] = difference(rows[i][u], product(rows[i][l], block));
        }
        ilu.diagonal_inverse[i] = inverse(rows[i][i]);
    }
    return ilu;
}

/// The symmetric case, which computes the lower factor only: A ~ (D + L) D^-1 (D + L)^T, where
/// (D + L)_ij = A_ij - sum over m < j of L_im D_m^-1 L_jm^T. L and U of BlockIlu follow from U = (D + L)^T.
inline BlockIlu block_ic(const BlockMatrix& a, const Pattern& pattern, const Inverse& inverse = gauss_jordan_inverse) {
    const int n = int(a.rows.size());
    std::vector<std::map<int, Dense>> lower(n);
    BlockIlu ic{{a.dof, std::vector<std::map<int, Dense>>(n)}, std::vector<Dense>(n)};
    for (int i = 0; i < n; ++i) {
        for (int j : pattern[i]) {
            if (j > i) break;
            const auto held = a.rows[i].find(j);
            Dense block = held == a.rows[i].end() ? Dense(a.dof, a.dof) : held->second;
            for (const auto& [m, left] : lower[i]) {
                const auto right = lower[j].find(m);
                if (m >= j || right == lower[j].end()) continue;
                block = difference(block, product(product(left, ic.diagonal_inverse[m]), transpose(right->second)));
            }
            lower[i][j] = block;
        }
        ic.diagonal_inverse[i] = inverse(lower[i][i]);
        for (const auto& [j, block] : lower[i]) {
            ic.factors.rows[j][i] = transpose(block);
            if (j < i) ic.factors.rows[i][j] = product(block, ic.diagonal_inverse[j]);
        }
    }
    return ic;
}

/// The solution y of L y = b (StructILU paper, Algorithm 2).
inline std::vector<double> lower_solve(const BlockIlu& ilu, std::vector<double> b) {
    const int dof = ilu.factors.dof;
    for (int i = 0; i < int(ilu.factors.rows.size()); ++i)
        for (const auto& [j, block] : ilu.factors.rows[i])
            if (j < i) add_product(block, &b[j * dof], -1.0, &b[i * dof]);
    return b;
}

/// The solution x of U x = b.
inline std::vector<double> upper_solve(const BlockIlu& ilu, std::vector<double> b) {
    const int dof = ilu.factors.dof;
    for (int i = int(ilu.factors.rows.size()) - 1; i >= 0; --i) {
        for (const auto& [j, block] : ilu.factors.rows[i])
            if (j > i) add_product(block, &b[j * dof], -1.0, &b[i * dof]);
        std::vector<double> x(dof, 0.0);
        add_product(ilu.diagonal_inverse[i], &b[i * dof], 1.0, x.data());
        std::copy(x.begin(), x.end(), b.begin() + i * dof);
    }
    return b;
}

/// M^-1 b = U^-1 L^-1 b
inline std::vector<double> apply_inverse(const BlockIlu& ilu, const std::vector<double>& b) {
    return upper_solve(ilu, lower_solve(ilu, b));
}

/// Block Jacobi: b multiplied by the inverse of every diagonal block.
inline std::vector<double> apply_block_jacobi(const BlockMatrix& a, const std::vector<double>& b) {
    std::vector<double> x(b.size(), 0.0);
    for (int i = 0; i < int(a.rows.size()); ++i)
        add_product(pivoted_inverse(a.rows[i].at(i)), &b[i * a.dof], 1.0, &x[i * a.dof]);
    return x;
}

/// The matrix of l1 Jacobi: the sum of the magnitudes of a row's coefficients in other blocks is added to its diagonal,
/// with the diagonal's sign. The other blocks stay.
inline BlockMatrix with_l1_diagonal(BlockMatrix a) {
    for (int i = 0; i < int(a.rows.size()); ++i)
        for (int r = 0; r < a.dof; ++r) {
            double sum = 0.0;
            for (const auto& [j, block] : a.rows[i])
                for (int c = 0; c < a.dof && j != i; ++c) sum += std::abs(block(r, c));
            double& diagonal = a.rows[i].at(i)(r, r);
            diagonal += diagonal < 0.0 ? -sum : sum;
        }
    return a;
}

/// ILU(k) of a grid matrix on the pattern derived on the stencil; couplings that wrap are left out.
inline BlockIlu stencil_ilu(const StencilMatrix& a, int k, const Inverse& inverse = gauss_jordan_inverse) {
    return block_ilu(assembled(a, false), stencil_pattern(a.box, filled_offsets(a.offsets, k)), inverse);
}

/// A + alpha diag(A), where diag is the scalar diagonal.
inline StencilMatrix shifted(StencilMatrix a, double alpha) {
    for (auto& row : a.blocks)
        for (int r = 0; r < a.dof; ++r) row.at(Offset{})(r, r) *= 1.0 + alpha;
    return a;
}

}  // namespace hyperplane::reference
