// SPDX-License-Identifier: BSD-3-Clause
// Eight columns of Z are computed together, four rows of them at a time, so that a value of another row is loaded once
// for all of these: first the terms of rows that are complete, then those of the four rows themselves.
#include "precond/multigrid/positive_inverse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/vector/lanes.hpp"

namespace hyperplane::multigrid {

using detail::all_of;
using detail::fused;
using detail::Lanes;
using detail::lanes;
using detail::load;
using detail::store;

namespace {

const std::string factors_label = "multigrid: factors of the coarsest grid";

}  // namespace

PositiveInverse::PositiveInverse(const Context& host, Index rows, Index band)
    : host_(host), n_(rows), band_(band), stride_(stride_of(band)), values_(host, factors_label, rows * (band + 1)) {}

bool PositiveInverse::factor(Backend backend) {
    const Index width = band_ + 1;
    Buffer<double> left = std::move(values_);
    std::vector<double> column(std::size_t(n_ + width)), diagonal(std::size_t(n_), 0.0);
    for (Index k = 0; k < n_; ++k) diagonal[k] = left[k * width + band_];
    lower_ = Buffer<double>(host_, factors_label, n_ * stride_);
    inverse_pivots_ = Buffer<double>(host_, factors_label, n_);
    for (Index k = 0; k < n_; ++k) {
        const double pivot = left[k * width + band_];
        if (!(pivot > 1e-12 * std::abs(diagonal[k])) || !std::isfinite(pivot)) return false;
        inverse_pivots_[k] = 1.0 / pivot;
        const Index end = std::min(n_, k + width);
        for (Index i = k + 1; i < end; ++i) column[i] = left[i * width + k - i + band_];
        for (Index i = k + 1; i < end; ++i) {
            const double factor = column[i] * inverse_pivots_[k];
            lower_[k * stride_ + i - k - 1] = factor;
            if (factor == 0.0) continue;
            double* const to = left.data() + i * width - i + band_;
            const double* const from = column.data();
#pragma omp simd
            for (Index j = k + 1; j <= i; ++j) to[j] -= factor * from[j];
        }
    }
    left = {};
    if (backend == Backend::cuda) pack();
    return true;
}

void PositiveInverse::pack() {
    const Index n = n_, band = std::max<Index>(band_, 1);
    packed_.assign(std::size_t(gpu_bytes(n_, band_)) / sizeof(double), 0.0);
    double *const by_column = packed_.data(), *const by_row = by_column + n * band, *const pivots = by_row + n * band;
    for (Index i = 0; i < n; ++i)
        for (Index at = 0; at < band_ && i + at + 1 < n; ++at)
            by_column[i * band + at] = by_row[(i + at + 1) * band + at] = lower(i)[at];
    std::copy(inverse_pivots_.begin(), inverse_pivots_.end(), pivots);
}

Index PositiveInverse::gpu_bytes(Index rows, Index band) {
    return rows * (2 * std::max<Index>(band, 1) + 1) * Index(sizeof(double));
}

void PositiveInverse::invert(const Context& context, double* inverse) const {
    const Index blocks = (n_ + lanes - 1) / lanes;
#pragma omp parallel for schedule(static, 1) num_threads(context.threads_for(n_* n_* band_ / 8))
    for (Index block = 0; block < blocks; ++block) {
        thread_local std::vector<double> column;
        column.resize(std::size_t((n_ + rows_together) * lanes));
        invert_columns(block * lanes, column.data(), inverse);
    }
}

void PositiveInverse::invert_columns(Index first, double* column, double* inverse) const {
    const auto row = [&](Index i) { return column + (i - first) * lanes; };
    std::array<Lanes, rows_together> sum;
    for (Index begin = first; begin < n_; begin += rows_together) {
        const Index count = std::min(rows_together, n_ - begin);
        for (Index r = 0; r < rows_together; ++r) {
            std::array<double, lanes> unit{};
            if (begin + r < first + lanes) unit[begin + r - first] = 1.0;
            sum[r] = load(unit.data());
        }
        for (Index i = std::max(first, begin - band_); i < begin; ++i) {
            const double* const factors = lower(i) + begin - i - 1;
            const Lanes values = load(row(i));
#pragma GCC unroll 4
            for (int r = 0; r < rows_together; ++r) sum[r] = fused(all_of(-factors[r]), values, sum[r]);
        }
        for (Index r = 0; r < count; ++r) {
            for (Index above = 0; above < r; ++above)
                sum[r] = fused(all_of(-lower(begin + above)[r - above - 1]), sum[above], sum[r]);
            store(sum[r], row(begin + r));
        }
    }
    for (Index end = n_; end > first; end -= std::min(rows_together, end - first)) {
        const Index begin = std::max(first, end - rows_together);
        std::array<const double*, rows_together> factors{};
        for (Index r = 0; r < rows_together; ++r) {
            const Index i = std::min(begin + r, end - 1);
            factors[r] = lower(i) - i - 1;
            sum[r] = inverse_pivots_[i] * load(row(i));
        }
        for (Index k = std::min(n_, end + band_) - 1; k >= end; --k) {
            const Lanes values = load(row(k));
#pragma GCC unroll 4
            for (int r = 0; r < rows_together; ++r) sum[r] = fused(all_of(-factors[r][k]), values, sum[r]);
        }
        for (Index r = end - begin - 1; r >= 0; --r) {
            for (Index below = end - begin - 1; below > r; --below)
                sum[r] = fused(all_of(-lower(begin + r)[below - r - 1]), sum[below], sum[r]);
            store(sum[r], row(begin + r));
        }
    }
    for (Index c = 0; c < std::min<Index>(lanes, n_ - first); ++c)
        for (Index i = first + c; i < n_; ++i) inverse[(first + c) * n_ + i] = inverse[i * n_ + first + c] = row(i)[c];
}

}  // namespace hyperplane::multigrid
