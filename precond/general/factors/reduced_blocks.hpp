// SPDX-License-Identifier: BSD-3-Clause
// Blocks of factors in reduced precision, and what both solves of M = (I + W) D (I + G) do with the blocks of a row.
//
// W, D^-1 and G are rounded once each. With half_scaled each row of unknowns has one scale in each of the three, a
// power of two (precond/factors/reduced_values.hpp). Of a symmetric matrix G = D^-1 U is rounded, too: it is W
// transposed, and rounding to nearest commutes with powers of two, so M is as symmetric as it is in double, but for
// values that are 2^-29 times the largest of their rows.
#pragma once

#include <array>
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

/// The blocks of a row in one of W, D^-1 and G; m is the dof if it is known at compile time.
template <int m, class T>
struct ReducedRow {
    int known;
    const T* blocks;
    const int* column;  ///< of D^-1 not used
    Index count;
    const RowExponent* exponents;

    int dof() const { return m > 0 ? m : known; }
    double scale(int r) const {
        if constexpr (RowRounding<T>::scales)
            return scale_of(exponents[r]);
        else
            return 1.0;
    }
    using Sum = std::array<double, m == 0 ? max_dof : m>;
    /// sum += the numbers of block `at` times x, without scales.
    void add(Index at, const double* x, Sum& sum) const {
        const T* const block = blocks + at * dof() * dof();
        for (int r = 0; r < dof(); ++r)
            for (int c = 0; c < dof(); ++c) sum[r] = std::fma(widened(block[r * dof() + c]), x[c], sum[r]);
    }
    Sum sum_of(const double* x) const {
        Sum sum{};
        for (Index at = 0; at < count; ++at) add(at, x + Index(column[at]) * dof(), sum);
        return sum;
    }
};

/// y = r - W y; r and y are those of the row, all_y is the whole vector.
template <int m, class T>
void lower_row(const ReducedRow<m, T>& w, const double* all_y, const double* r, double* y) {
    const auto sum = w.sum_of(all_y);
    for (int c = 0; c < w.dof(); ++c) y[c] = std::fma(-w.scale(c), sum[c], r[c]);
}
/// z = D^-1 v - G z; v and z are those of the row, and may be the same.
template <int m, class T>
void upper_row(const ReducedRow<m, T>& inverse, const ReducedRow<m, T>& g, const double* all_z, const double* v,
               double* z) {
    const auto sum = g.sum_of(all_z);
    typename ReducedRow<m, T>::Sum own{};
    inverse.add(0, v, own);
    for (int c = 0; c < g.dof(); ++c) z[c] = std::fma(-g.scale(c), sum[c], inverse.scale(c) * own[c]);
}

}  // namespace hyperplane
