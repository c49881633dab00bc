// SPDX-License-Identifier: BSD-3-Clause
// What both solves on a CPU do with the blocks of a row, whoever holds them and in whatever storage:
//
//     in double               y = r - L y      z = D^-1 (v - U z)
//     in reduced precision    y = r - W y      z = D^-1 v - G z
//
// Sums have the order of the columns. In reduced precision they are formed without scales, which multiply them at the
// end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "precond/factors/reduced_values.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane {

/// The blocks of a row in one of L, D^-1 and U, where T is double, or else in one of W, D^-1 and G; m is the dof if it
/// is known at compile time.
template <int m, class T>
struct StoredRow {
    static constexpr bool in_double = std::is_same_v<T, double>;

    int known;
    const T* blocks;
    const int* column;  ///< of D^-1 not used
    Index count;
    const RowExponent* exponents;

    int dof() const { return m > 0 ? m : known; }
    const T* block(Index at) const { return blocks + at * dof() * dof(); }
    double scale(int r) const {
        if constexpr (!in_double && RowRounding<T>::scales)
            return scale_of(exponents[r]);
        else
            return 1.0;
    }
    using Sum = std::array<double, m == 0 ? max_dof : m>;
    /// sum += the numbers of block `at` times x, without scales.
    void add(Index at, const double* x, Sum& sum) const {
        const T* const own = block(at);
        for (int r = 0; r < dof(); ++r)
            for (int c = 0; c < dof(); ++c) sum[r] = std::fma(widened(own[r * dof() + c]), x[c], sum[r]);
    }
    Sum sum_of(const double* x) const {
        Sum sum{};
        for (Index at = 0; at < count; ++at) add(at, x + Index(column[at]) * dof(), sum);
        return sum;
    }
    /// v - the blocks times x; in double.
    Sum rest(const double* v, const double* x) const {
        Sum sum;
        std::copy_n(v, dof(), sum.begin());
        for (Index at = 0; at < count; ++at)
            general_cpu::subtract_block<m>(dof(), block(at), x + Index(column[at]) * dof(), sum.data());
        return sum;
    }
};

/// The row of y; r and y are those of the row, all_y is the whole vector. y may be r.
template <int m, class T>
void lower_row(const StoredRow<m, T>& l, const double* all_y, const double* r, double* y) {
    if constexpr (StoredRow<m, T>::in_double) {
        const auto rest = l.rest(r, all_y);
        std::copy_n(rest.begin(), l.dof(), y);
    } else {
        const auto sum = l.sum_of(all_y);
        for (int c = 0; c < l.dof(); ++c) y[c] = std::fma(-l.scale(c), sum[c], r[c]);
    }
}
/// The row of z; v and z are those of the row, and may be the same.
template <int m, class T>
void upper_row(const StoredRow<m, T>& inverse, const StoredRow<m, T>& u, const double* all_z, const double* v,
               double* z) {
    if constexpr (StoredRow<m, T>::in_double) {
        const auto rest = u.rest(v, all_z);
        general_cpu::apply_inverse<m>(u.dof(), inverse.blocks, rest.data(), z);
    } else {
        const auto sum = u.sum_of(all_z);
        typename StoredRow<m, T>::Sum own{};
        inverse.add(0, v, own);
        for (int c = 0; c < u.dof(); ++c) z[c] = std::fma(-u.scale(c), sum[c], inverse.scale(c) * own[c]);
    }
}

}  // namespace hyperplane
