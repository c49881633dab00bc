// SPDX-License-Identifier: BSD-3-Clause
// ParIC(0) as in its paper, on the entries of L, for Poisson's equation on star7: the number of iterations of conjugate
// gradients for each number of sweeps. It shares no code with the program; docs/results/orderings.md says why it is
// needed.
//
// Chow, Patel, SIAM J. Sci. Comput. 37, 2015, for A = L L^T on the pattern of A, with synchronous sweeps. No two
// neighbours of a point are neighbours of each other, so no product is subtracted from an off-diagonal entry:
//
//     l_jj <- sqrt(a_jj - sum over k of l_jk^2)      l_ij <- a_ij / l_jj
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace {

using Values = std::vector<double>;

double dot(const Values& x, const Values& y) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

/// The matrix 6 u(p) - sum of neighbours on n^3 points, and L L^T on its pattern.
struct Poisson {
    int n;
    Values diagonal;
    std::array<Values, 3> lower;  ///< couplings to the previous neighbour along x, y, z; zero if there is none

    /// The initial L: the lower triangle of A after scaling A to a unit diagonal, scaled back.
    explicit Poisson(int points_a_side) : n(points_a_side), diagonal(size(), std::sqrt(6.0)) {
        for (int axis = 0; axis < 3; ++axis) {
            lower[axis].assign(size(), 0.0);
            for (std::size_t p = 0; p < size(); ++p)
                if (place(p, axis) > 0) lower[axis][p] = -1.0 / std::sqrt(6.0);
        }
    }
    std::size_t size() const { return std::size_t(n) * n * n; }
    std::size_t step(int axis) const { return axis == 0 ? 1 : axis == 1 ? n : std::size_t(n) * n; }
    int place(std::size_t p, int axis) const { return int(p / step(axis) % n); }

    void sweep() {
        const Poisson before = *this;
        for (std::size_t p = 0; p < size(); ++p) {
            double rest = 6.0;
            for (int axis = 0; axis < 3; ++axis)
                if (place(p, axis) > 0) {
                    rest -= before.lower[axis][p] * before.lower[axis][p];
                    lower[axis][p] = -1.0 / before.diagonal[p - step(axis)];
                }
            diagonal[p] = std::sqrt(rest);
        }
    }
    Values product(const Values& x) const {
        Values y(size());
        for (std::size_t p = 0; p < size(); ++p) {
            y[p] = 6.0 * x[p];
            for (int axis = 0; axis < 3; ++axis) {
                if (place(p, axis) > 0) y[p] -= x[p - step(axis)];
                if (place(p, axis) < n - 1) y[p] -= x[p + step(axis)];
            }
        }
        return y;
    }
    Values solve(Values z) const {
        for (std::size_t p = 0; p < size(); ++p) {
            for (int axis = 0; axis < 3; ++axis)
                if (place(p, axis) > 0) z[p] -= lower[axis][p] * z[p - step(axis)];
            z[p] /= diagonal[p];
        }
        for (std::size_t p = size(); p-- > 0;) {
            z[p] /= diagonal[p];
            for (int axis = 0; axis < 3; ++axis)
                if (place(p, axis) > 0) z[p - step(axis)] -= lower[axis][p] * z[p];
        }
        return z;
    }
    /// The number of iterations to 1e-5 for the solution u = -x e^(y+z), which also gives the boundary values.
    int iterations() const {
        const double h = 1.0 / (n + 1);
        Values r(size());
        for (std::size_t p = 0; p < size(); ++p) {
            const double x = h * (place(p, 0) + 1), y = h * (place(p, 1) + 1), z = h * (place(p, 2) + 1);
            const auto u = [](double a, double b, double c) { return -a * std::exp(b + c); };
            r[p] = -2.0 * h * h * u(x, y, z);
            const double at[3] = {x, y, z};
            for (int axis = 0; axis < 3; ++axis)
                for (const double side : {at[axis] - h, at[axis] + h})
                    if (side < 0.5 * h || side > 1.0 - 0.5 * h)
                        r[p] += u(axis == 0 ? side : x, axis == 1 ? side : y, axis == 2 ? side : z);
        }
        const double enough = 1e-5 * std::sqrt(dot(r, r));
        Values z = solve(r), p = z;
        double rz = dot(r, z);
        for (int count = 1; count < 1000; ++count) {
            const Values q = product(p);
            const double alpha = rz / dot(p, q);
            for (std::size_t i = 0; i < size(); ++i) r[i] -= alpha * q[i];
            if (std::sqrt(dot(r, r)) <= enough) return count;
            z = solve(r);
            const double before = rz;
            rz = dot(r, z);
            for (std::size_t i = 0; i < size(); ++i) p[i] = z[i] + rz / before * p[i];
        }
        return 1000;
    }
};

TEST(ParIcOfEntries, NeedsATenthMoreIterationsWithoutSweepsAndNoneMoreAfterThree) {
    Poisson guess(48), swept = guess;
    for (int sweep = 0; sweep < 3; ++sweep) swept.sweep();
    const int after_three = swept.iterations();
    for (int sweep = 0; sweep < 2; ++sweep) swept.sweep();
    const int after_five = swept.iterations();
    for (int sweep = 0; sweep < 40; ++sweep) swept.sweep();
    const int exact = swept.iterations();
    EXPECT_NEAR(double(guess.iterations()) / exact, 1.10, 0.025);
    EXPECT_LE(after_three, exact + 1);
    EXPECT_EQ(after_five, exact);
}

}  // namespace
