// SPDX-License-Identifier: BSD-3-Clause
// The candidates, which may be added to incomplete factors: the blocks of
//
//     R = A - M,   M = (D + E) D^-1 (D + F),   X = E + D + F
//
// that X does not have. For such a block (i, j), R_ij = A_ij - sum over k < min(i, j) of X_ik X_kk^-1 X_kj, which is
// the value that a fixed-point sweep would give the block.
#pragma once

#include <string>

#include "precond/general/factors/cpu.hpp"

namespace hyperplane::par_ilut {

/// Blocks that a pattern does not have, by row.
struct Candidates {
    Buffer<Index> begin;    ///< [row], one value more than there are rows
    Buffer<int> column;     ///< ascending within a row
    Buffer<double> values;  ///< [candidate][row][col]
    double residual = 0.0;  ///< the Frobenius norm of R, if it was asked for
};

/// The candidates of row i are the blocks with the largest Frobenius norm, at most `most` times as many as A has in
/// that row; among equal ones the first. For a symmetric matrix the blocks above the diagonal are chosen in this way
/// and mirrored. `inverse` has the inverses of the diagonal blocks of X, [row][row][col]. A stands for A + alpha
/// diag(A).
Candidates candidates_of(const BsrMatrix& a, double alpha, const GeneralFactors& x, const double* inverse, int most,
                         bool with_residual);

/// X with the candidates `more` added.
GeneralFactors with_candidates(const BsrMatrix& a, const GeneralFactors& x, const Candidates& more);

/// What a user should know before a long search: where rows with many blocks, on which many others depend, give a round
/// more than 50 products for each block of the matrix, and so many that it takes a while; else empty. It advises
/// another order unless the rows have the order of rcm.
std::string about_long_rows(const BlockPattern& a, bool symmetric, bool in_rcm);
/// What a plan says of rows without a block on the diagonal or beyond it, to which a round adds nothing if the matrix
/// is symmetric; empty if there are none.
std::string about_bare_rows(const BlockPattern& a, bool symmetric);

/// The most candidates that a matrix with the pattern can have.
Index most_candidates(const BlockPattern& a, bool symmetric, int most);
/// Bytes of this number of candidates, and all bytes that are held while threads search for them.
Index list_bytes(Index rows, Index candidates, int dof);
Index search_bytes(Index rows, Index candidates, int dof, bool symmetric, int threads, bool with_residual);

}  // namespace hyperplane::par_ilut
