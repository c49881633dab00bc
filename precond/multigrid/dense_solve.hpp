// SPDX-License-Identifier: BSD-3-Clause
// The solve on the coarsest grid: the inverse of its matrix, stored densely.
//
// Unknowns for which A times their constants is zero, as with walls that nothing flows through, have a constant of
// their own in the null space. Then the inverse is that of A on vectors without means: with Q the projection that
// removes the means of those unknowns, Q (A + s c c^T)^-1 Q, where c c^T are the constants that A lacks. For a
// symmetric A, unit vectors of a row each take the place of c, which leaves the band as it is: (A + s e e^T) x = b has
// x = 0 in that row where b has no mean, so A x = b.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "core/vector/single_vector.hpp"

namespace hyperplane::multigrid {

/// Most unknowns of a coarsest grid: a matrix of 128 MiB.
inline constexpr Index most_dense_unknowns = 4096;

class DenseSolve {
public:
    /// Inverts `a`, which lies in the host's memory, for vectors of `context`: within its band if it is symmetric and
    /// positive definite (positive_inverse.hpp), else by Gauss-Jordan elimination with partial pivoting. Throws
    /// SetupError if it is singular in another way than by constants, or holds a value that is not finite.
    DenseSolve(const Context& context, const StructMatrix& a);

    /// x = A^-1 b, as above.
    void apply(const Vector& b, Vector& x) const;
    void apply(const SingleVector& b, SingleVector& x) const;

    /// The inverse, by rows of unknowns in natural order; for checks.
    std::vector<double> natural_inverse() const;
    Index bytes() const { return bytes(places_.size()); }
    static Index bytes(Index unknowns) { return unknowns * (unknowns * Index(sizeof(double)) + Index(sizeof(int))); }
    /// What a set-up for a matrix of this shape allocates on this backend meanwhile, and releases.
    static Index setup_bytes(const MatrixShape& a, Backend backend);

private:
    /// Returns false where a pivot is not positive enough.
    bool invert_positive(const Context& context, const StructMatrix& a);
    void invert_any(const Context& context, const StructMatrix& a);

    Buffer<double> inverse_;  ///< by rows of unknowns in natural order
    Buffer<int> places_;      ///< of these unknowns in a vector
};

}  // namespace hyperplane::multigrid
