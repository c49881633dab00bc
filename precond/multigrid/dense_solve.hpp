// SPDX-License-Identifier: BSD-3-Clause
// The solve on the coarsest grid: the inverse of its matrix, stored densely.
//
// Unknowns for which A times their constants is zero, as with walls that nothing flows through, have a constant of
// their own in the null space. Then the inverse is that of A on vectors without means: with Q the projection that
// removes the means of those unknowns, Q (A + s c c^T)^-1 Q, where c c^T are the constants that A lacks. For a
// symmetric A, unit vectors of a row each take the place of c, which leaves the band as it is: (A + s e e^T) x = b has
// x = 0 in that row where b has no mean, so A x = b.
//
// Whether A lacks a constant shows in the sums of its rows, which are then as small as rounding leaves them. Where
// coefficients of the finest grid jump, products with large ones round more than a row of small ones that is left here:
// with jumps of 1e6 the sums are 1e-10 of their rows, with 1e8 1e-7. The finest matrix tells, since the interpolation
// keeps constants: each of its rows is rounded by itself (constants.hpp).
//
// Where elimination meets a pivot that is too small, rows and columns may be in different units. Then the matrix is
// computed once more and eliminated as R A C, with powers of two R and C that make the largest value of each row and
// column about 1 (equilibrate()). A constant c in the null space of A is then C^-1 c, and s r (C^-1 c)^T is added, with
// r the sum of the unit vectors of that unknown's rows: b in the range of A gets A x = b whatever r is.
#pragma once

#include <optional>
#include <vector>

#include "core/matrix/struct_matrix.hpp"
#include "core/vector/single_vector.hpp"
#include "precond/multigrid/positive_inverse.hpp"

namespace hyperplane::multigrid {

/// Most unknowns of a coarsest grid: a matrix of 128 MiB.
inline constexpr Index most_dense_unknowns = 4096;

class DenseSolve {
public:
    /// A symmetric positive definite matrix in the form in which the host factors it.
    struct Factors {
        PositiveInverse inverse;
        std::vector<int> lacking;  ///< the unknowns whose constants the matrix lacks
    };
    /// Factors of `a`, which lies in the host's memory, for an inverse in the memory of a backend. Any thread may
    /// compute them. Nothing if `a` is not symmetric, or a pivot is not positive enough. `known`: unknowns whose
    /// constants `a` lacks, besides those that the sums of its rows show.
    static std::optional<Factors> factor(const StructMatrix& a, Backend backend, const std::vector<int>& known = {});
    /// The unknowns whose constants `a` may lack: the sums of its rows are small, but too large to tell.
    static std::vector<int> doubtful(const StructMatrix& a);

    /// Inverts `a` for vectors of `context`: within its band where there are factors (positive_inverse.hpp), else by
    /// Gauss-Jordan elimination with partial pivoting, of the matrix as it is or else scaled. Throws SetupError if it
    /// is singular in another way than by constants, or holds a value that is not finite. `known`: as in factor().
    DenseSolve(const Context& context, const StructMatrix& a, const std::optional<Factors>& factors,
               const std::vector<int>& known = {});
    DenseSolve(const Context& context, const StructMatrix& a) : DenseSolve(context, a, factor(a, context.backend())) {}

    /// x = A^-1 b, as above.
    void apply(const Vector& b, Vector& x) const;
    void apply(const SingleVector& b, SingleVector& x) const;

    /// The inverse, by rows of unknowns in natural order; for checks.
    std::vector<double> natural_inverse() const;
    Index bytes() const { return bytes(places_.size()); }
    static Index bytes(Index unknowns) { return unknowns * (unknowns * Index(sizeof(double)) + Index(sizeof(int))); }
    /// The bytes that a set-up for a matrix of this shape allocates meanwhile on this backend, besides bytes(), and
    /// releases at its end. The inverse of an earlier set-up is released before it.
    static Index setup_bytes(const MatrixShape& a, Backend backend);
    /// The bytes that a set-up for a GPU holds at most in the host's memory meanwhile, besides the matrix.
    static Index host_bytes(const MatrixShape& a);

private:
    void invert_positive(const Context& context, const StructMatrix& a, const Factors& factors);
    void invert_any(const Context& context, const StructMatrix& a, const std::vector<int>& known);
    /// Writes the inverse of R A C, with what it lacks, after which R and C are undone, in place of `made`.
    static void invert_scaled(const StructMatrix& a, const std::vector<int>& lacking, Buffer<double>& made);

    Buffer<double> inverse_;  ///< by rows of unknowns in natural order
    Buffer<int> places_;      ///< of these unknowns in a vector
};

}  // namespace hyperplane::multigrid
