// SPDX-License-Identifier: BSD-3-Clause
// A matching of block rows and columns that maximises the product of the diagonal's absolute values.
//
// Source: Duff and Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, 2001 (job 5 of
// MC64). With the costs c(i, j) = log max_k |a(k, j)| - log |a(i, j)| >= 0 it is a matching of all rows with the least
// sum of costs. Dual variables u and v, with c(i, j) - u(i) - v(j) >= 0 and = 0 where i and j are matched, prove that.
// They are scales, too: with r(i) = exp u(i) and c(j) = exp v(j) / max_k |a(k, j)| no |a(i, j)| r(i) c(j) is larger
// than 1, and those of matched entries are 1.
//
//   1. u(i) is the least cost of row i, and then v(j) the least c(i, j) - u(i) of column j.
//   2. Rows are matched by entries with c = u + v, first of all on the diagonal, and then along augmenting paths of
//      such entries, which a search in depth finds.
//   3. From all rows that are left trees of shortest paths grow together, by Dijkstra's algorithm with a heap, where
//      c - u - v are the lengths. u and v follow the distances, so that the paths consist of entries with c = u + v,
//      and each row whose tree has reached a free column is matched along the path to it. This is repeated until no row
//      is left, or none of the trees reaches a free column: the matrix is structurally singular.
//
// One thread does it, so that the result is the same for any number of threads. The absolute value of a block is that
// of its determinant if an elimination without row exchanges, which is how preconditioners invert it, meets no zero,
// and otherwise 0.
#pragma once

#include <span>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane {

struct RowMatching {
    Buffer<int> row;        ///< [block column]: the row whose block there is matched; -1: none is left for it
    Index unmatched = 0;    ///< rows for which no column is left
    Index first = -1;       ///< the first of them
    Index rows_around = 0;  ///< rows, with `first`, whose usable blocks lie in only rows_around - 1 columns
    double seconds = 0.0;   ///< that finding it took
};

/// The matching for a matrix that the host can read; of a rank's rows, that of all ranks' rows, which each of them
/// finds. Throws SetupError if a value is not finite.
RowMatching match_rows(const BsrMatrix& given);
/// Matches by `logarithm`, which has for each block the logarithm of its absolute value, and -infinity for 0.
RowMatching match_rows(const BlockPattern& pattern, std::span<const double> logarithm);

/// The scales of the single rows and columns of a matrix, of those of all ranks.
struct MatchingScales {
    RowMatching matching;             ///< of single rows, not of block rows
    std::vector<double> row, column;  ///< the logarithms of r and c; empty if rows are left
};
/// Matches single rows in the same way, and finds the scales. Throws SetupError if a value is not finite.
MatchingScales matching_scales(const BsrMatrix& given);

/// What match_rows and matching_scales hold at most. Of ranks: the rows and blocks are those of all.
Index bytes_of_matching(Index rows, Index blocks);
Index bytes_of_matching_scales(Index rows, Index blocks, int dof, bool on_ranks);

/// Says which rows are left and why, and what to do, `instead` of matching rows among it. `dof`: of the matrix.
std::string unmatched_text(const RowMatching& matching, int dof, const std::string& instead);
/// Throws FileError, which begins with `where`, if rows are left.
void require_all_matched(const RowMatching& matching, int dof, const std::string& where);

/// The pattern whose row j is row `matching`.row[j] of `a`.
BlockPattern with_rows_matched(const BlockPattern& a, const RowMatching& matching);

}  // namespace hyperplane
