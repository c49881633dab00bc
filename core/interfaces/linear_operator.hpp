// SPDX-License-Identifier: BSD-3-Clause
// A linear operator: what a Krylov method needs from a matrix, and the application of a preconditioner.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane {

class EisenstatForm;

/// y = A x.
class LinearOperator {
public:
    virtual ~LinearOperator() = default;
    /// x and y are distinct and have the operator's index space and dof.
    virtual void apply(const Vector& x, Vector& y) const = 0;
    /// y = A x and *product = x^T y; `product` lies in the memory of the vectors' backend. Some operators compute the
    /// product without another pass over x and y.
    virtual void apply_dot(const Vector& x, Vector& y, double* product) const;
    /// Number of vectors that apply_dot reads in addition to what apply moves.
    virtual int vectors_of_dot() const { return 2; }
    /// r = b - A x, the true residual that decides convergence.
    virtual void residual(const Vector& b, const Vector& x, Vector& r) const;
    /// The least bytes that one apply must move: each input is read once, each output written once.
    virtual Index bytes_per_apply() const = 0;
    /// The steps of conjugate gradients in Eisenstat's form (core/interfaces/eisenstat.hpp), which a preconditioner
    /// that has been set up may offer: they need no products with the matrix that it was built from. Null if it has
    /// none.
    virtual const EisenstatForm* eisenstat() const { return nullptr; }
};

}  // namespace hyperplane
