// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/vector/pipelined_step.hpp"

namespace hyperplane {
namespace {

constexpr double e = std::numeric_limits<double>::epsilon();

}  // namespace

void Drift::begin(const double* scalars) {
    p_ = 0.0;
    renewed(scalars);
}

void Drift::renewed(const double* scalars) {
    l_ = std::max(l_, scalars[sum_wu] / scalars[sum_ru]);
    beta_ = PipelinedCoefficients(scalars).beta;
    f_ = 0.0;
    g_ = e * l_ * p_;
    h_ = e * l_ * std::sqrt(scalars[sum_ru]);
    j_ = e * l_ * l_ * p_;
    too_large_ = false;
}

void Drift::step(const double* scalars) {
    const double r = std::sqrt(scalars[used_ru]), r_new = std::sqrt(scalars[sum_ru]), alpha = scalars[used_alpha];
    p_ = std::sqrt(r * r + beta_ * beta_ * p_ * p_);
    x_ += alpha * p_;
    j_ = beta_ * j_ + e * l_ * l_ * (r + p_);
    g_ = h_ + beta_ * g_ + e * l_ * (r + p_);
    f_ = f_ + alpha * g_;
    h_ = h_ + alpha * j_ + e * l_ * (r_new + alpha * l_ * p_);
    l_ = std::max(l_, scalars[sum_wu] / scalars[sum_ru]);
    beta_ = PipelinedCoefficients(scalars).beta;
    const double lost = std::abs(0.5 * scalars[sum_us_wp] + beta_ * scalars[sum_ps]);
    too_large_ = f_ > std::max(10.0 * e * l_ * x_, 1e-10 * r_new) || lost > 0.01 * beta_ * scalars[sum_ps];
}

void Drift::set_state(const std::vector<double>& state) {
    double* const members[] = {&l_, &x_, &p_, &beta_, &f_, &g_, &h_, &j_};
    for (std::size_t at = 0; at < std::size(members); ++at) *members[at] = state.at(at);
    too_large_ = state.at(std::size(members)) != 0.0;
}

}  // namespace hyperplane
