// SPDX-License-Identifier: BSD-3-Clause
// Step k of the elimination exchanges rows so that the pivot is in row k, divides that row by the pivot, and subtracts
// it, times a factor each, from all others. The columns are eliminated in panels:
//
//     1. the steps of a panel's columns are done on these columns alone; factors and pivots are kept
//     2. on all other columns, some at a time and shared out to threads, first the panel's own rows are taken through
//        these steps, which gives what each step subtracts
//     3. then each further row, whose values stay in registers for all steps
//
// Each value goes through the same operations in the same order as without panels. A factor of zero subtracts nothing:
// with rows in natural order most of those far from the diagonal are.
#include "precond/multigrid/dense_inverse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/vector/quad.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int panel_width = 16, block_width = 32;
const std::string elimination_label = "multigrid: elimination on the coarsest grid";

class Inversion {
public:
    Inversion(const Context& context, double* values, Index n, double least)
        : context_(context),
          values_(values),
          n_(n),
          panel_(context, elimination_label, panel_width * n),
          steps_(context, elimination_label, panel_width * n),
          factors_(context, elimination_label, n) {
        double most = 0.0;
        for (Index at = 0; at < n * n; ++at) most = std::max(most, std::abs(values[at]));
        least_ = least * most;
    }

    Index run() {
        for (first_ = 0; first_ < n_; first_ += panel_width) {
            width_ = int(std::min<Index>(panel_width, n_ - first_));
            if (const Index failed = eliminate_panel(); failed >= 0) return failed;
            const Index blocks = (n_ + block_width - 1) / block_width;
#pragma omp parallel for schedule(static) num_threads(context_.threads_for(n_* n_))
            for (Index block = 0; block < blocks; ++block) {
                const Index begin = block * block_width, end = std::min(n_, begin + block_width);
                // The panel's own columns are done already.
                eliminate(begin, std::min(end, first_));
                eliminate(std::max(begin, first_ + width_), end);
            }
            for (Index i = 0; i < n_; ++i)
                for (int at = 0; at < width_; ++at) row(i)[first_ + at] = column(at)[i];
        }
        for (Index i = 0; i < n_; ++i)
            for (Index k = n_ - 1; k >= 0; --k) std::swap(row(i)[k], row(i)[exchanged_[k]]);
        return -1;
    }

private:
    using PanelRow = std::array<double, panel_width>;
    using Block = std::array<std::array<double, block_width>, panel_width>;

    double* row(Index i) const {
        return values_ + i * n_;
    }

    /// The panel's columns and the factors of its steps lie one after another, so that rows are adjacent.
    double* column(int at) {
        return panel_.data() + at * n_;
    }
    double* factors_of(int step) {
        return steps_.data() + step * n_;
    }

    Index eliminate_panel() {
        for (Index i = 0; i < n_; ++i)
            for (int at = 0; at < width_; ++at) column(at)[i] = row(i)[first_ + at];
        for (int step = 0; step < width_; ++step) {
            const Index k = first_ + step;
            double* const own = column(step);
            Index best = k;
            for (Index i = k + 1; i < n_; ++i)
                if (std::abs(own[i]) > std::abs(own[best])) best = i;
            exchanged_.push_back(best);
            if (!(std::abs(own[best]) > least_)) return k;
            for (int at = 0; at < width_; ++at) std::swap(column(at)[k], column(at)[best]);
            for (int at = 0; at < step; ++at) std::swap(factors_of(at)[k], factors_of(at)[best]);
            inverse_[step] = 1.0 / own[k];
            double* const factors = factors_of(step);
            std::copy_n(own, n_, factors);
            factors[k] = 0.0;
            std::fill_n(own, n_, 0.0);
            own[k] = 1.0;
            for (int at = 0; at < width_; ++at) {
                double* const to = column(at);
                const double pivot = to[k] * inverse_[step];
#pragma omp simd
                for (Index i = 0; i < n_; ++i) to[i] -= factors[i] * pivot;
                to[k] = pivot;
            }
        }
        for (Index i = 0; i < n_; ++i)
            for (int step = 0; step < panel_width; ++step)
                factors_[i][step] = step < width_ ? factors_of(step)[i] : 0.0;
        return -1;
    }

    /// The panel's steps on columns [begin, end), at most block_width.
    void eliminate(Index begin, Index end) const {
        if (begin >= end) return;
        const int count = int(end - begin);
        for (int step = 0; step < width_; ++step)
            if (const Index k = first_ + step, best = exchanged_[k]; best != k)
                std::swap_ranges(row(k) + begin, row(k) + end, row(best) + begin);
        Block subtracted{}, own{};
        for (int step = 0; step < width_; ++step) std::copy_n(row(first_ + step) + begin, count, own[step].begin());
        bool any = false;
        for (int step = 0; step < width_; ++step) {
            for (double& value : own[step]) value *= inverse_[step];
            subtracted[step] = own[step];
            for (int other = 0; other < width_; ++other) {
                const double factor = factors_[first_ + other][step];
                if (other == step || factor == 0.0) continue;
                for (int j = 0; j < block_width; ++j) own[other][j] -= factor * subtracted[step][j];
            }
            for (const double value : subtracted[step]) any = any || value != 0.0;
        }
        for (int step = 0; step < width_; ++step) std::copy_n(own[step].begin(), count, row(first_ + step) + begin);
        if (!any) return;
        for (Index i = 0; i < n_; ++i) {
            const PanelRow& factors = factors_[i];
            const bool is_own = i >= first_ && i < first_ + width_;
            if (is_own || std::all_of(factors.begin(), factors.end(), [](double f) { return f == 0.0; })) continue;
            double* const to = row(i) + begin;
            count == block_width ? subtract(factors, subtracted, to) : subtract_some(factors, subtracted, to, count);
        }
    }

    void subtract(const PanelRow& factors, const Block& subtracted, double* to) const {
        constexpr int quads = block_width / 4;
        std::array<Quad, quads> sum;
        for (int at = 0; at < quads; ++at) sum[at] = load<Quad>(to + 4 * at);
        for (int step = 0; step < width_; ++step)
#pragma GCC unroll 8
            for (int at = 0; at < quads; ++at) sum[at] -= factors[step] * load<Quad>(&subtracted[step][4 * at]);
        for (int at = 0; at < quads; ++at) store(sum[at], to + 4 * at);
    }
    void subtract_some(const PanelRow& factors, const Block& subtracted, double* to, int count) const {
        for (int step = 0; step < width_; ++step)
            for (int j = 0; j < count; ++j) to[j] -= factors[step] * subtracted[step][j];
    }

    const Context& context_;
    double* values_;
    Index n_;
    double least_ = 0.0;
    Index first_ = 0;               ///< column of the panel
    int width_ = 0;                 ///< of the panel
    Buffer<double> panel_, steps_;  ///< column() and factors_of()
    Buffer<PanelRow> factors_;      ///< [row][step of the panel]
    PanelRow inverse_{};            ///< of the pivots
    std::vector<Index> exchanged_;  ///< the row with which row k was exchanged
};

/// The exponents of two of the largest values of rows or columns; zero for zeros.
std::vector<int> exponents(const double* values, std::size_t n, bool rows) {
    std::vector<double> most(n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            most[rows ? i : j] = std::max(most[rows ? i : j], std::abs(values[i * n + j]));
    std::vector<int> list(n, 0);
    for (std::size_t i = 0; i < n; ++i)
        if (most[i] > 0.0) list[i] = std::ilogb(most[i]);
    return list;
}

}  // namespace

Index invert(const Context& context, double* values, Index n, double least) {
    return Inversion(context, values, n, least).run();
}

Index bytes_to_invert(Index n) {
    return 3 * panel_width * n * Index(sizeof(double));
}

Scales equilibrate(double* values, Index n, bool symmetric) {
    Scales all{std::vector<int>(std::size_t(n), 0), std::vector<int>(std::size_t(n), 0)};
    const auto scale = [&](bool rows, bool columns, const std::vector<int>& change) {
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < n; ++j)
                values[i * n + j] = std::ldexp(values[i * n + j], (rows ? change[i] : 0) + (columns ? change[j] : 0));
            if (rows) all.row[i] += change[i];
            if (columns) all.column[i] += change[i];
        }
    };
    if (symmetric) {
        // Half of what a row needs, since its columns are scaled as well: the rest halves each time.
        for (int round = 0; round < 16; ++round) {
            std::vector<int> change = exponents(values, std::size_t(n), true);
            for (int& exponent : change) exponent = -exponent / 2;
            scale(true, true, change);
        }
        return all;
    }
    // Columns that are scaled change what is largest in a row, so both are scaled once more.
    for (int round = 0; round < 2; ++round)
        for (const bool rows : {true, false}) {
            std::vector<int> change = exponents(values, std::size_t(n), rows);
            for (int& exponent : change) exponent = -exponent;
            scale(rows, !rows, change);
        }
    return all;
}

void undo(const Scales& scales, double* inverse, Index n) {
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            inverse[i * n + j] = std::ldexp(inverse[i * n + j], scales.column[i] + scales.row[j]);
}

}  // namespace hyperplane::multigrid
