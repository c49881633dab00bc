// SPDX-License-Identifier: BSD-3-Clause
// The inverse Z of a symmetric positive definite matrix of half bandwidth b from its factors L D L':
//
//     1. L and D, column by column, within the band: n b^2 / 2 multiplications
//     2. rows of Z from the last one up: Z = D^-1 L^-1 + (I - L') Z, of which D^-1 L^-1 is zero above its diagonal, so
//        that z_ij = [i = j] / d_i - sum over k = i + 1 ... i + b of l_ki z_kj for j >= i, and z_ji = z_ij: n^2 b / 2
//
// Four rows at a time are computed in 2, so that a value of the rows below is loaded once for all of them: first the
// columns beyond these rows, some at a time and shared out to threads, and then the rows' own columns. Each value goes
// through the same operations in the same order whatever the number of threads.
//
// Source: Takahashi, Fagan and Chin, Formation of a sparse bus impedance matrix and its application to short circuit
// study, 8th PICA conference, 1973.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "precond/multigrid/dense_inverse.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int rows_together = 4, columns_together = 8;

typedef double FourColumns __attribute__((vector_size(4 * sizeof(double))));

class PositiveInverse {
public:
    PositiveInverse(const Context& context, double* values, Index n) : context_(context), values_(values), n_(n) {
        for (Index i = 0; i < n; ++i) {
            Index first = 0;
            while (first < i && values[i * n + first] == 0.0) ++first;
            band_ = std::max(band_, i - first);
        }
    }

    bool run() {
        if (!factor()) return false;
        // Columns past the last one are computed, too; an odd number of cache lines lets rows be in different sets.
        // Only rows that others are computed from are held so: pages that are touched for the first time cost more than
        // sums.
        stride_ = ((n_ + columns_together + 7) / 8 | 1) * 8;
        held_ = std::min(n_, band_ + rows_together);
        inverse_.resize(std::size_t(held_ * stride_));
        for (Index end = n_; end > 0; end -= std::min<Index>(end, rows_together)) {
            const Index begin = std::max<Index>(0, end - rows_together);
            compute_beyond(begin, end);
            compute_own(begin, end);
            for (Index i = begin; i < end; ++i) {
                std::copy(row(i) + i, row(i) + n_, values_ + i * n_ + i);
                for (Index j = begin; j < i; ++j) values_[i * n_ + j] = row(i)[j];
            }
        }
        return true;
    }

private:
    /// Row i of the inverse, which must be one of the last band_ + rows_together rows that were computed.
    double* row(Index i) { return inverse_.data() + i % held_ * stride_; }
    /// l_ki for k = i + 1 ... i + b; beyond the last row zero.
    double* lower(Index i) { return lower_.data() + i * band_; }

    bool factor() {
        const Index width = band_ + 1;
        std::vector<double> left(std::size_t(n_ * width)), column(std::size_t(n_ + width));
        for (Index i = 0; i < n_; ++i)
            for (Index j = std::max<Index>(0, i - band_); j <= i; ++j)
                left[i * width + j - i + band_] = values_[i * n_ + j];
        lower_.assign(std::size_t(n_ * band_), 0.0);
        inverse_pivots_.resize(std::size_t(n_));
        for (Index k = 0; k < n_; ++k) {
            const double pivot = left[k * width + band_];
            if (!(pivot > 1e-12 * std::abs(values_[k * n_ + k])) || !std::isfinite(pivot)) return false;
            inverse_pivots_[k] = 1.0 / pivot;
            const Index end = std::min(n_, k + width);
            for (Index i = k + 1; i < end; ++i) column[i] = left[i * width + k - i + band_];
            for (Index i = k + 1; i < end; ++i) {
                const double factor = column[i] * inverse_pivots_[k];
                lower(k)[i - k - 1] = factor;
                if (factor == 0.0) continue;
                double* const to = left.data() + i * width - i + band_;
                const double* const from = column.data();
#pragma omp simd
                for (Index j = k + 1; j <= i; ++j) to[j] -= factor * from[j];
            }
        }
        return true;
    }

    /// The columns from `end` on of rows [begin, end), and their mirror images.
    void compute_beyond(Index begin, Index end) {
        const Index count = std::min(n_, end - 1 + band_ + 1) - end;  // rows below that these couple to
        factors_.resize(std::size_t(count + 1));
        for (Index k = 0; k < count; ++k)
            for (Index r = 0; r < rows_together; ++r) {
                const Index at = end + k - (begin + r) - 1;
                factors_[k][r] = begin + r < end && at < band_ ? lower(begin + r)[at] : 0.0;
            }
        from_.clear();
        for (Index k = 0; k < count; ++k) from_.push_back(row(end + k));
        const Index blocks = (n_ - end + columns_together - 1) / columns_together;
#pragma omp parallel for schedule(static) num_threads(context_.threads_for(blocks* count))
        for (Index block = 0; block < blocks; ++block) {
            const Index first = end + block * columns_together;
            compute_columns(begin, end, first, count);
            for (Index j = first; j < std::min(n_, first + columns_together); ++j)
                for (Index i = begin; i < end; ++i) {
                    values_[j * n_ + i] = row(i)[j];
                    if (j < begin + held_) row(j)[i] = row(i)[j];
                }
        }
    }
    void compute_columns(Index begin, Index end, Index first, Index count) {
        std::array<std::array<FourColumns, 2>, rows_together> sum{};
        for (Index k = 0; k < count; ++k) {
            const double* const from = from_[k] + first;
            FourColumns one, other;
            std::memcpy(&one, from, sizeof one);
            std::memcpy(&other, from + 4, sizeof other);
#pragma GCC unroll 4
            for (int r = 0; r < rows_together; ++r) {
                sum[r][0] -= factors_[k][r] * one;
                sum[r][1] -= factors_[k][r] * other;
            }
        }
        for (Index i = end - 1; i >= begin; --i) {
            std::array<FourColumns, 2>& own = sum[i - begin];
            for (Index k = i + 1; k < std::min(end, i + band_ + 1); ++k)
                for (int half = 0; half < 2; ++half) own[half] -= lower(i)[k - i - 1] * sum[k - begin][half];
            std::memcpy(row(i) + first, own.data(), sizeof own);
        }
    }

    /// The columns [begin, end) of rows [begin, end).
    void compute_own(Index begin, Index end) {
        for (Index i = end - 1; i >= begin; --i)
            for (Index j = end - 1; j >= i; --j) {
                double sum = i == j ? inverse_pivots_[i] : 0.0;
                for (Index k = i + 1; k < std::min(n_, i + band_ + 1); ++k) sum -= lower(i)[k - i - 1] * row(j)[k];
                row(i)[j] = row(j)[i] = sum;
            }
    }

    const Context& context_;
    double* values_;
    Index n_, band_ = 0, stride_ = 0, held_ = 0;
    std::vector<double> lower_, inverse_pivots_, inverse_;
    std::vector<const double*> from_;                         ///< the rows below
    std::vector<std::array<double, rows_together>> factors_;  ///< [row below][row]
};

}  // namespace

bool invert_positive(const Context& context, double* values, Index n) {
    return PositiveInverse(context, values, n).run();
}

}  // namespace hyperplane::multigrid
