// SPDX-License-Identifier: BSD-3-Clause
// Products of a BsrMatrix on a CPU.
#include <algorithm>
#include <array>

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane::bsr {
namespace {

void multiply_single(const BlockPattern& pattern, const double* values, const double* x, double* y, Index first,
                     Index last) {
    const Index* const begin = pattern.row_begin();
    const int* const column = pattern.column();
    for (Index row = first; row < last; ++row) {
        // Four sums, so that one addition need not wait for the one before. What is left of a row is written out: a
        // loop over it would choose among the sums by a number, and so keep them in memory in place of registers.
        double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
        Index at = begin[row];
        const Index end = begin[row + 1];
        for (; at + 4 <= end; at += 4) {
            sum0 += values[at] * x[column[at]];
            sum1 += values[at + 1] * x[column[at + 1]];
            sum2 += values[at + 2] * x[column[at + 2]];
            sum3 += values[at + 3] * x[column[at + 3]];
        }
        const Index left = end - at;
        if (left > 0) sum0 += values[at] * x[column[at]];
        if (left > 1) sum1 += values[at + 1] * x[column[at + 1]];
        if (left > 2) sum2 += values[at + 2] * x[column[at + 2]];
        y[row] = (sum0 + sum1) + (sum2 + sum3);
    }
}

/// Sums element by element of the blocks, and over columns once a row.
template <int m>
void multiply_small(const BlockPattern& pattern, const double* values, const double* x, double* y, Index first,
                    Index last) {
    for (Index row = first; row < last; ++row) {
        double sum[m][m] = {};
        for (Index at = pattern.row_begin()[row]; at < pattern.row_begin()[row + 1]; ++at) {
            const double *block = values + at * m * m, *v = x + Index(pattern.column()[at]) * m;
            for (int r = 0; r < m; ++r)
#pragma omp simd
                for (int c = 0; c < m; ++c) sum[r][c] += block[r * m + c] * v[c];
        }
        for (int r = 0; r < m; ++r) {
            double total = 0.0;
            for (int c = 0; c < m; ++c) total += sum[r][c];
            y[row * m + r] = total;
        }
    }
}

void multiply_large(const BlockPattern& pattern, int m, const double* values, const double* x, double* y, Index first,
                    Index last) {
    std::array<double, max_dof> sum;
    for (Index row = first; row < last; ++row)
        for (int r = 0; r < m; ++r) {
            std::fill_n(sum.begin(), m, 0.0);
            for (Index at = pattern.row_begin()[row]; at < pattern.row_begin()[row + 1]; ++at) {
                const double *line = values + (at * m + r) * m, *v = x + Index(pattern.column()[at]) * m;
#pragma omp simd
                for (int c = 0; c < m; ++c) sum[c] += line[c] * v[c];
            }
            double total = 0.0;
            for (int c = 0; c < m; ++c) total += sum[c];
            y[row * m + r] = total;
        }
}

}  // namespace

void multiply(const BlockPattern& pattern, int dof, const double* values, const double* x, double* y, Index first,
              Index last) {
    switch (dof) {
        case 1: return multiply_single(pattern, values, x, y, first, last);
        case 2: return multiply_small<2>(pattern, values, x, y, first, last);
        case 3: return multiply_small<3>(pattern, values, x, y, first, last);
        case 4: return multiply_small<4>(pattern, values, x, y, first, last);
        case 5: return multiply_small<5>(pattern, values, x, y, first, last);
        case 6: return multiply_small<6>(pattern, values, x, y, first, last);
        case 8: return multiply_small<8>(pattern, values, x, y, first, last);
        default: return multiply_large(pattern, dof, values, x, y, first, last);
    }
}

}  // namespace hyperplane::bsr
