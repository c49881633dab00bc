// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps on the factors of a sequential block ILU: Anzt, Chow, Dongarra, Euro-Par 2015, equations (1) and (2).
#pragma once

#include <algorithm>

#include "reference/rounded.hpp"

namespace hyperplane::reference {

/// x <- T_D^-1 (b - (T - T_D) x) from x = 0, `sweeps` times, in place: blocks of `size` consecutive rows follow each
/// other, from the first to the last or back, and a block is computed before it is written. T is L (unit diagonal) or
/// U.
inline std::vector<double> block_sweeps(const BlockIlu& ilu, bool lower, int sweeps, const std::vector<double>& b,
                                        int size, bool forward) {
    const int dof = ilu.factors.dof, points = int(ilu.factors.rows.size()), blocks = (points + size - 1) / size;
    std::vector<double> x(b.size(), 0.0);
    for (int turn = 0; turn < sweeps * blocks; ++turn) {
        const int block = forward ? turn % blocks : blocks - 1 - turn % blocks;
        const int first = block * size, last = std::min(first + size, points);
        std::vector<double> next = b;
        for (int i = first; i < last; ++i) {
            for (const auto& [j, values] : ilu.factors.rows[i])
                if (lower ? j < i : j > i) add_product(values, &x[j * dof], -1.0, &next[i * dof]);
            if (lower) continue;
            std::vector<double> scaled(dof, 0.0);
            add_product(ilu.diagonal_inverse[i], &next[i * dof], 1.0, scaled.data());
            std::copy(scaled.begin(), scaled.end(), next.begin() + i * dof);
        }
        std::copy(next.begin() + first * dof, next.begin() + last * dof, x.begin() + first * dof);
    }
    return x;
}

/// The same with one block: Jacobi's iteration.
inline std::vector<double> jacobi_sweeps(const BlockIlu& ilu, bool lower, int sweeps, const std::vector<double>& b) {
    return block_sweeps(ilu, lower, sweeps, b, std::max(int(ilu.factors.rows.size()), 1), true);
}

/// M = (I + W) D (I + G), where both solves are replaced by sweeps from zero: v <- b - W v, then z <- D^-1 v - G z.
struct SweptFactors {
    UnitFactors factors;
    int lower, upper;
};

inline std::vector<double> swept(const BlockMatrix& triangle, int sweeps, const std::vector<double>& b) {
    std::vector<double> x(b.size(), 0.0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        std::vector<double> next = b;
        for (int i = 0; i < int(triangle.rows.size()); ++i)
            for (const auto& [j, block] : triangle.rows[i])
                add_product(block, &x[j * triangle.dof], -1.0, &next[i * triangle.dof]);
        x = next;
    }
    return x;
}

inline std::vector<double> apply_inverse(const SweptFactors& m, const std::vector<double>& b) {
    const UnitFactors& f = m.factors;
    const std::vector<double> v = swept(f.lower, m.lower, b);
    std::vector<double> scaled(b.size(), 0.0);
    for (int i = 0; i < int(f.inverse.size()); ++i)
        add_product(f.inverse[i], &v[i * f.lower.dof], 1.0, &scaled[i * f.lower.dof]);
    return swept(f.upper, m.upper, scaled);
}

}  // namespace hyperplane::reference
