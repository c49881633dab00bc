// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/vector/scalars.hpp"

namespace hyperplane {

bool HessenbergLeastSquares::add_column(std::span<const double> h, double below) {
    std::vector<double> column(h.begin(), h.end());
    double largest = std::abs(below);
    for (double value : column) largest = std::max(largest, std::abs(value));

    for (Index at = 0; at < columns(); ++at) {
        const auto [c, s] = rotations_[at];
        const double upper = column[at], lower = column[at + 1];
        column[at] = c * upper + s * lower;
        column[at + 1] = -s * upper + c * lower;
    }
    const double diagonal = std::hypot(column.back(), below);
    if (!(diagonal > rounding_tolerance * largest)) return false;

    const Rotation last{column.back() / diagonal, below / diagonal};
    column.back() = diagonal;
    r_.insert(r_.end(), column.begin(), column.end());
    const double g = g_.back();
    g_.back() = last.c * g;
    g_.push_back(-last.s * g);
    rotations_.push_back(last);
    return true;
}

double HessenbergLeastSquares::residual_norm() const {
    return std::abs(g_.back());
}

std::vector<double> HessenbergLeastSquares::solve() const {
    std::vector<double> y(g_.begin(), g_.end() - 1);
    for (Index col = columns() - 1; col >= 0; --col) {
        const double* r = r_.data() + col * (col + 1) / 2;
        y[col] /= r[col];
        for (Index row = 0; row < col; ++row) y[row] -= r[row] * y[col];
    }
    return y;
}

std::vector<double> HessenbergLeastSquares::state() const {
    std::vector<double> values{double(columns())};
    for (const Rotation& rotation : rotations_) values.insert(values.end(), {rotation.c, rotation.s});
    values.insert(values.end(), r_.begin(), r_.end());
    values.insert(values.end(), g_.begin(), g_.end());
    return values;
}

HessenbergLeastSquares HessenbergLeastSquares::from_state(std::span<const double> state) {
    const std::size_t k = state.empty() ? 0 : std::size_t(state[0]);
    if (state.size() != 1 + 2 * k + k * (k + 1) / 2 + k + 1)
        throw FileError("the saved state of a Hessenberg matrix is incomplete");
    HessenbergLeastSquares problem;
    const std::span rotations = state.subspan(1, 2 * k), rest = state.subspan(1 + 2 * k);
    for (std::size_t at = 0; at < k; ++at) problem.rotations_.push_back({rotations[2 * at], rotations[2 * at + 1]});
    problem.r_.assign(rest.begin(), rest.end() - std::ptrdiff_t(k + 1));
    problem.g_.assign(rest.end() - std::ptrdiff_t(k + 1), rest.end());
    return problem;
}

}  // namespace hyperplane
