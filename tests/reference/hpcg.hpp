// SPDX-License-Identifier: BSD-3-Clause
// HPCG's problem, its multigrid cycle and its conjugate gradients, with points swept in an order of choice.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "reference/gauss_seidel.hpp"

namespace hyperplane::reference {

class Hpcg {
public:
    /// The points of a grid are swept by ascending key; those with the same one in natural order.
    using Key = std::function<int(const Box& box, const Offset& point)>;

    Hpcg(Box box, const Key& key) {
        for (int level = 0; level < 4; ++level) {
            boxes_.push_back(box);
            BlockMatrix a{1, std::vector<std::map<int, Dense>>(box.points())};
            for (int row = 0; row < box.points(); ++row)
                for (int z = -1; z <= 1; ++z)
                    for (int y = -1; y <= 1; ++y)
                        for (int x = -1; x <= 1; ++x) {
                            const Offset q = box.point(row) + Offset{x, y, z};
                            if (!box.contains(q)) continue;
                            Dense one(1, 1);
                            one(0, 0) = box.row(q) == row ? 26.0 : -1.0;
                            a.rows[row][box.row(q)] = one;
                        }
            matrices_.push_back(a);
            std::vector<int> order(box.points());
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(),
                             [&](int m, int n) { return key(box, box.point(m)) < key(box, box.point(n)); });
            orders_.push_back(order);
            box.nx /= 2, box.ny /= 2, box.nz /= 2;
        }
    }

    std::vector<double> product(const std::vector<double>& x, int level = 0) const {
        std::vector<double> y(x.size(), 0.0);
        for (std::size_t row = 0; row < x.size(); ++row)
            for (const auto& [col, value] : matrices_[level].rows[row]) y[row] += value(0, 0) * x[col];
        return y;
    }

    std::vector<double> cycle(const std::vector<double>& b, int level = 0) const {
        std::vector<double> x = symmetric_gauss_seidel(matrices_[level], orders_[level], b);
        if (level == 3) return x;
        const Box &fine = boxes_[level], &coarse = boxes_[level + 1];
        const auto on_fine = [&](int row) {
            const Offset p = coarse.point(row);
            return fine.row(p + p);
        };
        const std::vector<double> ax = product(x, level);
        std::vector<double> next(coarse.points());
        for (int row = 0; row < coarse.points(); ++row) next[row] = b[on_fine(row)] - ax[on_fine(row)];
        next = cycle(next, level + 1);
        for (int row = 0; row < coarse.points(); ++row) x[on_fine(row)] += next[row];
        return symmetric_gauss_seidel(matrices_[level], orders_[level], b, x);
    }

    /// ||r|| / ||b|| after each iteration from zero, for the solution 1.
    std::vector<double> residuals(int iterations) const {
        const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
            return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
        };
        std::vector<double> r = product(std::vector<double>(boxes_[0].points(), 1.0)), p(r.size(), 0.0), list;
        const double first = std::sqrt(dot(r, r));
        double before = 1.0;
        for (int at = 0; at < iterations; ++at) {
            const std::vector<double> z = cycle(r);
            const double now = dot(r, z);
            for (std::size_t n = 0; n < p.size(); ++n) p[n] = z[n] + now / before * p[n];
            before = now;
            const std::vector<double> q = product(p);
            const double alpha = now / dot(p, q);
            for (std::size_t n = 0; n < p.size(); ++n) r[n] -= alpha * q[n];
            list.push_back(std::sqrt(dot(r, r)) / first);
        }
        return list;
    }

private:
    std::vector<Box> boxes_;
    std::vector<BlockMatrix> matrices_;
    std::vector<std::vector<int>> orders_;
};

}  // namespace hyperplane::reference
