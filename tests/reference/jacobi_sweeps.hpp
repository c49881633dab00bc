// Jacobi sweeps on the factors of a sequential block ILU: Anzt, Chow, Dongarra, Euro-Par 2015, equations (1) and (2).
#pragma once

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

/// x <- T_D^-1 (b - (T - T_D) x) from x = 0, `sweeps` times; T is L (unit diagonal) or U.
inline std::vector<double> jacobi_sweeps(const BlockIlu& ilu, bool lower, int sweeps, const std::vector<double>& b) {
    const int dof = ilu.factors.dof, points = int(ilu.factors.rows.size());
    std::vector<double> x(b.size(), 0.0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        std::vector<double> next = b;
        for (int i = 0; i < points; ++i)
            for (const auto& [j, block] : ilu.factors.rows[i])
                if (lower ? j < i : j > i) add_product(block, &x[j * dof], -1.0, &next[i * dof]);
        if (!lower)
            for (int i = 0; i < points; ++i) {
                std::vector<double> scaled(dof, 0.0);
                add_product(ilu.diagonal_inverse[i], &next[i * dof], 1.0, scaled.data());
                std::copy(scaled.begin(), scaled.end(), next.begin() + i * dof);
            }
        x = next;
    }
    return x;
}

}  // namespace hyperplane::reference
