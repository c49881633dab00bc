// SPDX-License-Identifier: BSD-3-Clause
// HPCG's reference for `bench hpcg`: the same method with Gauss-Seidel in natural order, from its definition, without a
// matrix. It shares no code with what is timed.
#pragma once

#include <array>
#include <vector>

namespace hyperplane {

/// On a CPU, with several threads: planes and lines are taken such that each Gauss-Seidel pass has the values of
/// natural order.
class HpcgReference {
public:
    /// The extents are multiples of eight.
    HpcgReference(std::array<int, 3> extents, int threads);

    /// ||b - A x|| / ||b|| by the recurrence of conjugate gradients, after each of some iterations from x = 0. The
    /// solution is 1 at all points.
    std::vector<double> residuals(int iterations);

private:
    /// The values at the points of a grid, and zeros around them.
    struct Values {
        std::array<int, 3> n;
        std::vector<double> of;

        explicit Values(std::array<int, 3> extents);
        std::size_t at(int i, int j, int k) const {
            return (std::size_t(k + 1) * (n[1] + 2) + (j + 1)) * (n[0] + 2) + (i + 1);
        }
        double* line(int j, int k) { return &of[at(0, j, k)]; }
        const double* line(int j, int k) const { return &of[at(0, j, k)]; }
    };
    struct Level {
        Values b, x, ax;
        explicit Level(std::array<int, 3> n) : b(n), x(n), ax(n) {}
    };

    void multiply(const Values& x, Values& ax) const;
    void gauss_seidel(const Values& b, Values& x) const;
    void relax_line(const Values& b, Values& x, int j, int k, bool forward) const;
    void cycle(std::size_t level);
    double dot(const Values& x, const Values& y) const;
    /// y = a x + b y
    void combine(double a, const Values& x, double b, Values& y) const;

    int threads_;
    std::vector<Level> levels_;  ///< b and x of level 0 are r and z
    Values x_, p_, ap_;
};

}  // namespace hyperplane
