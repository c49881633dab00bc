// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/hpcg_reference.hpp"

#include <algorithm>
#include <cmath>

namespace hyperplane {
namespace {

constexpr double diagonal = 26.0;

/// The sums of nine lines, or of eight without the one in the middle, from point -1 to point n.
template <class Line>
void add_lines(int n, const Line& line, bool with_own, double* sums) {
    std::fill_n(sums, n + 2, 0.0);
    for (int k = -1; k <= 1; ++k)
        for (int j = -1; j <= 1; ++j) {
            if (j == 0 && k == 0 && !with_own) continue;
            const double* const from = line(j, k) - 1;
#pragma omp simd
            for (int i = 0; i < n + 2; ++i) sums[i] += from[i];
        }
}

}  // namespace

HpcgReference::Values::Values(std::array<int, 3> extents)
    : n(extents), of(std::size_t(n[0] + 2) * (n[1] + 2) * (n[2] + 2), 0.0) {}

HpcgReference::HpcgReference(std::array<int, 3> extents, int threads)
    : threads_(threads), x_(extents), p_(extents), ap_(extents) {
    for (int level = 0; level < 4; ++level) {
        levels_.emplace_back(extents);
        for (int& n : extents) n /= 2;
    }
}

/// ax = 27 x - the sum over all 27 points
void HpcgReference::multiply(const Values& x, Values& ax) const {
    const int n = x.n[0];
#pragma omp parallel for collapse(2) num_threads(threads_)
    for (int k = 0; k < x.n[2]; ++k)
        for (int j = 0; j < x.n[1]; ++j) {
            std::vector<double> sums(n + 2);
            add_lines(
                n, [&](int dj, int dk) { return x.line(j + dj, k + dk); }, true, sums.data());
            const double* const own = x.line(j, k);
            double* const out = ax.line(j, k);
            for (int i = 0; i < n; ++i) out[i] = (diagonal + 1.0) * own[i] - (sums[i] + sums[i + 1] + sums[i + 2]);
        }
}

void HpcgReference::relax_line(const Values& b, Values& x, int j, int k, bool forward) const {
    const int n = x.n[0];
    thread_local std::vector<double> sums;
    sums.resize(n + 2);
    add_lines(
        n, [&](int dj, int dk) { return x.line(j + dj, k + dk); }, false, sums.data());
    const double* const rhs = b.line(j, k);
    double* const own = x.line(j, k);
    for (int at = 0; at < n; ++at) {
        const int i = forward ? at : n - 1 - at;
        own[i] = (rhs[i] + (sums[i] + sums[i + 1] + sums[i + 2]) + own[i - 1] + own[i + 1]) / diagonal;
    }
}

/// Lines with the same j + 2 k do not depend on one another, and those with less come before them in natural order.
void HpcgReference::gauss_seidel(const Values& b, Values& x) const {
    const int lines = x.n[1], planes = x.n[2], last = lines - 1 + 2 * (planes - 1);
#pragma omp parallel num_threads(threads_)
    for (const bool forward : {true, false})
        for (int step = 0; step <= last; ++step) {
            const int front = forward ? step : last - step;
            const int begin = std::max(0, (front - (lines - 1) + 1) / 2), end = std::min(planes - 1, front / 2);
#pragma omp for schedule(static)
            for (int k = begin; k <= end; ++k) relax_line(b, x, front - 2 * k, k, forward);
        }
}

void HpcgReference::cycle(std::size_t level) {
    Level& own = levels_[level];
    std::fill(own.x.of.begin(), own.x.of.end(), 0.0);
    gauss_seidel(own.b, own.x);
    if (level + 1 == levels_.size()) return;
    Level& next = levels_[level + 1];
    multiply(own.x, own.ax);
    const auto for_coarse = [&](const auto& act) {
#pragma omp parallel for num_threads(threads_)
        for (int k = 0; k < next.x.n[2]; ++k)
            for (int j = 0; j < next.x.n[1]; ++j)
                for (int i = 0; i < next.x.n[0]; ++i) act(own.x.at(2 * i, 2 * j, 2 * k), next.x.at(i, j, k));
    };
    for_coarse([&](std::size_t fine, std::size_t coarse) { next.b.of[coarse] = own.b.of[fine] - own.ax.of[fine]; });
    cycle(level + 1);
    for_coarse([&](std::size_t fine, std::size_t coarse) { own.x.of[fine] += next.x.of[coarse]; });
    gauss_seidel(own.b, own.x);
}

double HpcgReference::dot(const Values& x, const Values& y) const {
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads_)
    for (std::size_t at = 0; at < x.of.size(); ++at) sum += x.of[at] * y.of[at];
    return sum;
}

void HpcgReference::combine(double a, const Values& x, double b, Values& y) const {
#pragma omp parallel for num_threads(threads_)
    for (std::size_t at = 0; at < x.of.size(); ++at) y.of[at] = a * x.of[at] + b * y.of[at];
}

std::vector<double> HpcgReference::residuals(int iterations) {
    Values &r = levels_[0].b, &z = levels_[0].x;
    for (int k = 0; k < x_.n[2]; ++k)
        for (int j = 0; j < x_.n[1]; ++j) std::fill_n(p_.line(j, k), x_.n[0], 1.0);
    multiply(p_, r);
    std::fill(x_.of.begin(), x_.of.end(), 0.0);
    const double first = std::sqrt(dot(r, r));
    std::vector<double> found;
    double product = 0.0;
    for (int at = 0; at < iterations; ++at) {
        cycle(0);
        const double before = product;
        product = dot(r, z);
        combine(1.0, z, at > 0 ? product / before : 0.0, p_);
        multiply(p_, ap_);
        const double alpha = product / dot(p_, ap_);
        combine(alpha, p_, 1.0, x_);
        combine(-alpha, ap_, 1.0, r);
        found.push_back(std::sqrt(dot(r, r)) / first);
    }
    return found;
}

}  // namespace hyperplane
