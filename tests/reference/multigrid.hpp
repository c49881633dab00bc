// SPDX-License-Identifier: BSD-3-Clause
// Coarsening, black-box interpolation and Galerkin products, dense and written directly from their definitions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

using Axes = std::array<bool, 3>;

inline int component(Offset o, int axis) {
    return axis == 0 ? o.x : axis == 1 ? o.y : o.z;
}

inline Box coarse_box(Box box, Axes axes) {
    if (axes[0]) box.nx = (box.nx + 1) / 2;
    if (axes[1]) box.ny = (box.ny + 1) / 2;
    if (axes[2]) box.nz = (box.nz + 1) / 2;
    return box;
}

/// The coefficient of one number a point that stands for a block: its mean diagonal, in (A + A^T) / 2.
inline double scalar(const StencilMatrix& a, int row, Offset o) {
    const auto mean = [&](int i, Offset to) {
        const auto found = a.blocks[i].find(to);
        if (found == a.blocks[i].end()) return 0.0;
        double sum = 0.0;
        for (int c = 0; c < a.dof; ++c) sum += found->second(c, c);
        return sum / a.dof;
    };
    const int neighbour = a.box.row(a.box.wrapped(a.box.point(row) + o));
    return 0.5 * (mean(row, o) + mean(neighbour, -o));
}

/// The mean of c_id / max_e c_ie over coupled points, for the axes that can be coarsened; 0 for the others.
inline std::array<double, 3> coupling_ratios(const StencilMatrix& a, Axes can) {
    std::array<double, 3> sums{};
    int coupled = 0;
    for (int row = 0; row < a.box.points(); ++row) {
        std::array<double, 3> c{};
        for (int axis = 0; axis < 3; ++axis) {
            Dense sum(a.dof, a.dof);
            for (const auto& [offset, block] : a.blocks[row])
                if (component(offset, axis) != 0)
                    for (std::size_t at = 0; at < sum.values.size(); ++at) sum.values[at] += block.values[at];
            double square = 0.0;
            for (double value : sum.values) square += value * value;
            if (can[axis]) c[axis] = std::sqrt(square);
        }
        const double most = *std::max_element(c.begin(), c.end());
        if (most == 0.0) continue;
        ++coupled;
        for (int axis = 0; axis < 3; ++axis) sums[axis] += c[axis] / most;
    }
    for (double& sum : sums) sum /= std::max(1, coupled);
    return sums;
}

/// P, points x coarse points.
class BlackBox {
public:
    BlackBox(const StencilMatrix& a, Axes axes) : a_(a), axes_(axes), coarse_(coarse_box(a.box, axes)) {}

    Dense weights() {
        Dense p(a_.box.points(), coarse_.points());
        for (int i = 0; i < p.rows; ++i)
            for (const auto& [j, weight] : row(i)) p(i, j) = weight;
        return p;
    }

private:
    const std::map<int, double>& row(int i) {
        const auto known = rows_.find(i);
        if (known != rows_.end()) return known->second;
        return rows_[i] = computed(i);
    }

    std::map<int, double> computed(int i) {
        const Offset p = a_.box.point(i);
        const auto is_odd = [&](int axis) { return axes_[axis] && component(p, axis) % 2 == 1; };
        if (!is_odd(0) && !is_odd(1) && !is_odd(2)) {
            const auto half = [&](int axis) { return axes_[axis] ? component(p, axis) / 2 : component(p, axis); };
            return {{coarse_.row({half(0), half(1), half(2)}), 1.0}};
        }
        std::map<Offset, double> b;
        double magnitude = 0.0;
        for (const auto& entry : a_.blocks[i]) {
            const Offset offset = entry.first;
            const auto sign = [&](int axis) {
                const int o = component(offset, axis);
                return !is_odd(axis) ? 0 : (o > 0) - (o < 0);
            };
            b[{sign(0), sign(1), sign(2)}] += scalar(a_, i, offset);
            magnitude += std::abs(scalar(a_, i, offset));
        }
        double delta = b[Offset{}], sigma = 0.0;
        for (const auto& [t, value] : b)
            if (!(t == Offset{})) sigma -= value;
        if (std::abs(delta - sigma) <= 1e-10 * magnitude && sigma > 0.0) delta = sigma;
        std::map<int, double> result;
        if (delta == 0.0) return result;
        for (const auto& [t, value] : b) {
            if (t == Offset{}) continue;
            for (const auto& [j, weight] : row(a_.box.row(a_.box.wrapped(p + t)))) result[j] += -value / delta * weight;
        }
        return result;
    }

    const StencilMatrix& a_;
    Axes axes_;
    Box coarse_;
    std::map<int, std::map<int, double>> rows_;
};

/// P for all unknowns.
inline Dense for_unknowns(const Dense& p, int dof) {
    Dense all(p.rows * dof, p.cols * dof);
    for (int i = 0; i < p.rows; ++i)
        for (int j = 0; j < p.cols; ++j)
            for (int c = 0; c < dof; ++c) all(i * dof + c, j * dof + c) = p(i, j);
    return all;
}

/// A B of finite numbers where most of A is zero: these zeros are left out.
inline Dense product_without_zeros(const Dense& a, const Dense& b) {
    Dense result(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int m = 0; m < a.cols; ++m)
            if (a(i, m) != 0.0)
                for (int j = 0; j < b.cols; ++j) result(i, j) += a(i, m) * b(m, j);
    return result;
}

/// P^T A P, with ones for zeros on the diagonal.
inline Dense galerkin(const Dense& a, const Dense& p) {
    Dense coarse = product_without_zeros(transpose(p), product_without_zeros(a, p));
    for (int i = 0; i < coarse.rows; ++i)
        if (coarse(i, i) == 0.0) coarse(i, i) = 1.0;
    return coarse;
}

}  // namespace hyperplane::reference
