// SPDX-License-Identifier: BSD-3-Clause
// How blocks of factors are rounded to a reduced precision, for M = (I + W) D (I + G).
//
// W, D^-1 and G are rounded once each. With half_scaled each row of unknowns has one scale in each of the three, a
// power of two (precond/factors/reduced_values.hpp). Of a symmetric matrix G = D^-1 U is rounded, too: it is W
// transposed, and rounding to nearest commutes with powers of two, so M is as symmetric as it is in double, but for
// values that are 2^-29 times the largest of their rows.
#pragma once

#include <cmath>
#include <vector>

#include "core/types.hpp"
#include "precond/factors/stored_values.hpp"

namespace hyperplane {

/// The three that are rounded, as a log of roundings numbers them.
enum class UnitPart { w, inverse, g };

/// Rounds `count` blocks, row by row. `unknown`: the number of the first row in the log.
template <class T>
void round_blocks(int dof, UnitPart part, Index unknown, const double* from, Index count, T* to, RowExponent* exponents,
                  RoundingLog& log) {
    const Index size = Index(dof) * dof;
    for (Index r = 0; r < dof; ++r) {
        const auto for_each = [&](const auto& body) {
            for (Index at = 0; at < count; ++at)
                for (Index c = 0; c < dof; ++c) body(at * size + r * dof + c);
        };
        RowRounding<T> row;
        if constexpr (RowRounding<T>::scales) {
            for_each([&](Index at) { row.see(from[at]); });
            exponents[r] = row.settle();
        }
        for_each([&](Index at) { to[at] = row.rounded(from[at]); });
        row.tell(log, 3 * (unsigned long long)(unknown + r) + (unsigned long long)(part));
    }
}

/// Rounds `count` blocks of G = D^-1 U, which are computed from those of U.
template <class T>
void round_product(int dof, Index unknown, const double* inverse, const double* u, Index count, T* to,
                   RowExponent* exponents, RoundingLog& log, std::vector<double>& scratch) {
    const Index size = Index(dof) * dof;
    scratch.assign(std::size_t(count * size), 0.0);
    for (Index at = 0; at < count; ++at)
        for (Index r = 0; r < dof; ++r)
            for (Index q = 0; q < dof; ++q)
                for (Index c = 0; c < dof; ++c) {
                    double& g = scratch[std::size_t(at * size + r * dof + c)];
                    g = std::fma(inverse[r * dof + q], u[at * size + q * dof + c], g);
                }
    round_blocks(dof, UnitPart::g, unknown, scratch.data(), count, to, exponents, log);
}

}  // namespace hyperplane
