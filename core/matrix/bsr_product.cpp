// SPDX-License-Identifier: BSD-3-Clause
// Products of a BsrMatrix on a CPU.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane::bsr {
namespace {

/// Asks for values and columns that are read a little later and only once, so that they do not take the place of x in
/// the caches. Beyond the end of the matrix that does nothing.
void ask_ahead(const double* values, const int* column) {
    constexpr int ahead = 64;  // entries
    __builtin_prefetch(values + ahead, 0, 0);
    __builtin_prefetch(column + 2 * ahead, 0, 0);
}

/// Adds the entry at `place` if that is before `end`, without a branch: otherwise 0 times 0. There are entries before
/// it.
void add_if_before(double& sum, const int* column, const double* values, const double* x, Index place, Index end) {
    const auto mask = std::uint64_t((place - end) >> 63);
    const auto masked = [mask](double value) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & mask);
    };
    const Index there = std::min(place, end - 1);
    sum += masked(values[there]) * masked(x[column[there]]);
}

/// `irregular`: rows have so many lengths that a processor would often foresee wrongly what is left of the next one.
template <bool irregular>
void multiply_rows(const BlockPattern& pattern, const double* values, const double* x, double* y, Index first,
                   Index last) {
    const Index* const begin = pattern.row_begin();
    const int* const column = pattern.column();
    for (Index row = first; row < last; ++row) {
        // Four sums, so that one addition need not wait for the one before. What is left of a row is written out: a
        // loop over it would choose among the sums by a number, and so keep them in memory in place of registers.
        double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
        Index at = begin[row];
        const Index end = begin[row + 1];
        if (irregular && at == end) {
            y[row] = 0.0;
            continue;
        }
        for (; at + 4 <= end; at += 4) {
            ask_ahead(values + at, column + at);
            sum0 += values[at] * x[column[at]];
            sum1 += values[at + 1] * x[column[at + 1]];
            sum2 += values[at + 2] * x[column[at + 2]];
            sum3 += values[at + 3] * x[column[at + 3]];
        }
        if constexpr (irregular) {
            add_if_before(sum0, column, values, x, at, end);
            add_if_before(sum1, column, values, x, at + 1, end);
            add_if_before(sum2, column, values, x, at + 2, end);
        } else {
            switch (end - at) {
                case 3: sum2 += values[at + 2] * x[column[at + 2]]; [[fallthrough]];
                case 2: sum1 += values[at + 1] * x[column[at + 1]]; [[fallthrough]];
                case 1: sum0 += values[at] * x[column[at]]; break;
                default: break;
            }
        }
        y[row] = (sum0 + sum1) + (sum2 + sum3);
    }
}

void multiply_single(const BlockPattern& pattern, const double* values, const double* x, double* y, Index first,
                     Index last) {
    constexpr Index together = 256;
    const Index* const begin = pattern.row_begin();
    for (Index from = first; from < last; from += together) {
        const Index to = std::min(from + together, last);
        Index changes = 0;  // of lengths, from one row to the next
        for (Index row = from; row + 1 < to; ++row)
            changes += begin[row + 1] - begin[row] != begin[row + 2] - begin[row + 1];
        const bool irregular = 4 * changes > to - from;
        (irregular ? multiply_rows<true> : multiply_rows<false>)(pattern, values, x, y, from, to);
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

/// Multiplies a row of blocks that have more sums than registers hold. Code for a known number of unknowns is no
/// faster, and of 8, 12 and 16 slower.
void multiply_large(const BlockPattern& pattern, int m, const double* values, const double* x, double* y, Index first,
                    Index last) {
    std::array<double, std::size_t(max_dof) * max_dof> sum;
    for (Index row = first; row < last; ++row) {
        std::fill_n(sum.begin(), m * m, 0.0);
        for (Index at = pattern.row_begin()[row]; at < pattern.row_begin()[row + 1]; ++at) {
            const double *block = values + at * m * m, *v = x + Index(pattern.column()[at]) * m;
            for (int r = 0; r < m; ++r)
#pragma omp simd
                for (int c = 0; c < m; ++c) sum[r * m + c] += block[r * m + c] * v[c];
        }
        for (int r = 0; r < m; ++r) {
            double total = 0.0;
            for (int c = 0; c < m; ++c) total += sum[r * m + c];
            y[row * m + r] = total;
        }
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
        case 7: return multiply_small<7>(pattern, values, x, y, first, last);
        default: return multiply_large(pattern, dof, values, x, y, first, last);
    }
}

}  // namespace hyperplane::bsr
