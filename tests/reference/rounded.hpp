// SPDX-License-Identifier: BSD-3-Clause
// Factors in reduced precision: M = (I + W) D (I + G) from an incomplete factorisation, each coefficient rounded once.
#pragma once

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

struct UnitFactors {
    BlockMatrix lower, upper;  ///< W and G
    std::vector<Dense> inverse;
};

inline UnitFactors unit_factors(const BlockIlu& ilu) {
    const int n = int(ilu.factors.rows.size()), dof = ilu.factors.dof;
    UnitFactors f{
        {dof, std::vector<std::map<int, Dense>>(n)}, {dof, std::vector<std::map<int, Dense>>(n)}, ilu.diagonal_inverse};
    for (int i = 0; i < n; ++i)
        for (const auto& [j, block] : ilu.factors.rows[i]) {
            if (j < i) f.lower.rows[i][j] = block;
            if (j > i) f.upper.rows[i][j] = product(ilu.diagonal_inverse[i], block);
        }
    return f;
}

/// x rounded to nearest, ties to even, with `bits` significant bits and to a multiple of `least`.
inline double rounded(double x, int bits, double least) {
    if (x == 0.0) return x;
    int exponent;
    std::frexp(x, &exponent);
    const double unit = std::max(std::ldexp(1.0, exponent - bits), least);
    return std::nearbyint(x / unit) * unit;
}

/// Rounds one row of some blocks: to single precision, or to half precision after scaling by the power of two with
/// which the row's largest magnitude lies in [2^14, 2^15).
inline void round_row(const std::vector<Dense*>& blocks, int row, bool half) {
    double largest = 0.0;
    for (const Dense* block : blocks)
        for (int c = 0; c < block->cols; ++c) largest = std::max(largest, std::abs((*block)(row, c)));
    const double scale = half && largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest) - 14) : 1.0;
    for (Dense* block : blocks)
        for (int c = 0; c < block->cols; ++c) {
            double& x = (*block)(row, c);
            x = half ? rounded(x / scale, 11, 0x1p-24) * scale : rounded(x, 24, 0x1p-149);
        }
}

/// All factors rounded; the rows of W, of D^-1 and of G are scaled separately.
inline UnitFactors rounded(UnitFactors f, bool half) {
    for (int i = 0; i < int(f.inverse.size()); ++i)
        for (int r = 0; r < f.lower.dof; ++r) {
            for (BlockMatrix* triangle : {&f.lower, &f.upper}) {
                std::vector<Dense*> blocks;
                for (auto& [j, block] : triangle->rows[i]) blocks.push_back(&block);
                round_row(blocks, r, half);
            }
            round_row({&f.inverse[i]}, r, half);
        }
    return f;
}

/// M^-1 b
inline std::vector<double> apply_inverse(const UnitFactors& f, std::vector<double> b) {
    const int n = int(f.inverse.size()), dof = f.lower.dof;
    for (int i = 0; i < n; ++i)
        for (const auto& [j, block] : f.lower.rows[i]) add_product(block, &b[j * dof], -1.0, &b[i * dof]);
    for (int i = n - 1; i >= 0; --i) {
        std::vector<double> z(dof, 0.0);
        add_product(f.inverse[i], &b[i * dof], 1.0, z.data());
        for (const auto& [j, block] : f.upper.rows[i]) add_product(block, &b[j * dof], -1.0, z.data());
        std::copy(z.begin(), z.end(), b.begin() + i * dof);
    }
    return b;
}

}  // namespace hyperplane::reference
