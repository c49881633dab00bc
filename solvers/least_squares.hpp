// SPDX-License-Identifier: BSD-3-Clause
// min over y of || beta e_0 - H y || for the Hessenberg matrix H of an Arnoldi process, updated column
// by column with Givens rotations (Saad, Iterative Methods, section 6.5.3): Q H = R, Q (beta e_0) = g.
#pragma once

#include <span>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

class HessenbergLeastSquares {
public:
    explicit HessenbergLeastSquares(double beta = 0.0) : g_{beta} {}

    Index columns() const { return Index(rotations_.size()); }
    /// Adds column j = columns(): h holds H(0..j, j), `below` is H(j+1, j). Returns false and adds nothing
    /// if R would become singular.
    bool add_column(std::span<const double> h, double below);
    /// The minimum of || beta e_0 - H y ||, which is the 2-norm of the method's residual.
    double residual_norm() const;
    /// y = R^-1 g
    std::vector<double> solve() const;

    /// The whole state as numbers, and an object made from them.
    std::vector<double> state() const;
    static HessenbergLeastSquares from_state(std::span<const double> state);

private:
    struct Rotation {
        double c, s;
    };

    std::vector<Rotation> rotations_;
    std::vector<double> r_;  ///< columns of the upper triangle, one after the other
    std::vector<double> g_;
};

}  // namespace hyperplane
