// SPDX-License-Identifier: BSD-3-Clause
// Small dense matrices, written in the slow and obvious way.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace hyperplane::reference {

/// A matrix of rows x cols values, stored row by row.
struct Dense {
    int rows = 0, cols = 0;
    std::vector<double> values;

    Dense() = default;
    Dense(int r, int c) : rows(r), cols(c), values(std::size_t(r) * c) {}
    double& operator()(int i, int j) { return values[std::size_t(i) * cols + j]; }
    double operator()(int i, int j) const { return values[std::size_t(i) * cols + j]; }
};

inline Dense identity(int n) {
    Dense result(n, n);
    for (int i = 0; i < n; ++i) result(i, i) = 1.0;
    return result;
}

inline Dense transpose(const Dense& a) {
    Dense result(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) result(j, i) = a(i, j);
    return result;
}

inline Dense product(const Dense& a, const Dense& b) {
    Dense result(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int m = 0; m < a.cols; ++m)
            for (int j = 0; j < b.cols; ++j) result(i, j) += a(i, m) * b(m, j);
    return result;
}

inline Dense difference(const Dense& a, const Dense& b) {
    Dense result = a;
    for (std::size_t at = 0; at < result.values.size(); ++at) result.values[at] -= b.values[at];
    return result;
}

inline double max_abs(const Dense& a) {
    double largest = 0.0;
    for (double value : a.values) largest = std::max(largest, std::abs(value));
    return largest;
}

/// The inverse by Gauss-Jordan elimination of [A | I] without row exchanges; throws std::domain_error at a zero pivot.
inline Dense gauss_jordan_inverse(Dense a) {
    const int n = a.rows;
    Dense inverse = identity(n);
    for (int p = 0; p < n; ++p) {
        const double pivot = a(p, p);
        if (pivot == 0.0) throw std::domain_error("zero pivot");
        for (int j = 0; j < n; ++j) {
            a(p, j) /= pivot;
            inverse(p, j) /= pivot;
        }
        for (int i = 0; i < n; ++i) {
            if (i == p) continue;
            const double factor = a(i, p);
            for (int j = 0; j < n; ++j) {
                a(i, j) -= factor * a(p, j);
                inverse(i, j) -= factor * inverse(p, j);
            }
        }
    }
    return inverse;
}

/// The solution of A X = B by Gaussian elimination with partial pivoting; throws std::domain_error if A is singular.
inline Dense solve(Dense a, Dense b) {
    const int n = a.rows;
    for (int p = 0; p < n; ++p) {
        int best = p;
        for (int i = p + 1; i < n; ++i)
            if (std::abs(a(i, p)) > std::abs(a(best, p))) best = i;
        if (a(best, p) == 0.0) throw std::domain_error("singular matrix");
        for (int j = 0; j < n; ++j) std::swap(a(p, j), a(best, j));
        for (int j = 0; j < b.cols; ++j) std::swap(b(p, j), b(best, j));
        for (int i = p + 1; i < n; ++i) {
            const double factor = a(i, p) / a(p, p);
            for (int j = p; j < n; ++j) a(i, j) -= factor * a(p, j);
            for (int j = 0; j < b.cols; ++j) b(i, j) -= factor * b(p, j);
        }
    }
    for (int p = n - 1; p >= 0; --p)
        for (int j = 0; j < b.cols; ++j) {
            for (int i = p + 1; i < n; ++i) b(p, j) -= a(p, i) * b(i, j);
            b(p, j) /= a(p, p);
        }
    return b;
}

inline std::vector<double> solve(const Dense& a, const std::vector<double>& b) {
    Dense column(int(b.size()), 1);
    column.values = b;
    return solve(a, column).values;
}

/// The inverse by Gaussian elimination with partial pivoting.
inline Dense pivoted_inverse(const Dense& a) {
    return solve(a, identity(a.rows));
}

}  // namespace hyperplane::reference
