// SPDX-License-Identifier: BSD-3-Clause
// The pattern of ILU(k) on a general matrix (Saad, Iterative Methods, section 10.3.3).
//
// Block (i, j) has the level p - 1, where p is the length of the shortest path from i to j in the graph of A whose
// inner vertices are all smaller than i and j (Hysom and Pothen, Level-based incomplete LU factorization: graph model
// and algorithms, 2002). So each row of U follows from a breadth-first search of its own, in A, and each column of L
// from one in the transpose of A; the threads share the rows.
#pragma once

#include <memory>

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

/// The pattern of L + U and how A's blocks lie in it, in the host's memory.
struct FilledPattern {
    std::shared_ptr<const BlockPattern> pattern;  ///< A's own if there is no fill and no diagonal block is missing
    Buffer<Index> diagonal;  ///< [row]: the place of the diagonal block, which is always there; empty if a GPU has it
    Buffer<int> place;       ///< [block of A]: its place within its row, -1 if it has none; empty if the pattern is A's
    Index lower = 0;         ///< blocks below the diagonal
    Index first = 0;         ///< the row of the pattern that A's first row is

    /// The place in the pattern of block `at` of A, which lies in `row` of A; -1 if the pattern does not have it.
    Index place_of(Index row, Index at) const {
        if (place.size() == 0) return at;
        return place[at] < 0 ? -1 : pattern->row_begin()[first + row] + place[at];
    }
    Index bytes() const {
        return (pattern ? pattern->rows() : 0) * Index(sizeof(Index)) + place.size() * Index(sizeof(int)) +
               (place.size() > 0 ? pattern->bytes() : 0);
    }
};

/// A lower bound for the blocks above the diagonal in the pattern of ILU(k), for every k >= 1, from one pass over the
/// blocks of A, whose pattern the host can read. Row i has its own blocks (i, j), j > i. It also has those of each row
/// m < i for which (i, m) is stored, as far as they lie beyond column i: on the path i, m, j the only inner vertex is
/// smaller than i and j, so the level of (i, j) is at most 1. These rows may share columns, so what is certain is the
/// largest of their numbers; the bound is its sum over all i.
Index least_fill_above(const BlockPattern& a);

/// The pattern of A with the fill of levels up to k, and all diagonal blocks. `a` is one that the host can read. Throws
/// OutOfMemory where no memory could hold the factors: before the search if least_fill_above says so, of A and of its
/// transpose together, else as soon as so many blocks are found.
FilledPattern filled_pattern(const Context& host, const std::shared_ptr<const BlockPattern>& a, int k,
                             const std::string& label);

/// How the blocks of A lie in a pattern that has all diagonal blocks. The host must be able to read both patterns.
FilledPattern filled_as(const BlockPattern& a, std::shared_ptr<const BlockPattern> pattern, const std::string& label);

}  // namespace hyperplane
