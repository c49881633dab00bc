// SPDX-License-Identifier: BSD-3-Clause
// Colourings of multicolor that serve only for comparison: slots are looked up in tables, and factors are in double
// precision. The solves are loops over points on either backend (precond/multicolor/coloured_points.hpp).
//
// `greedy_colours` is the classical rule: points in natural order take the smallest colour that none of their
// neighbours has.
//
// `hashed_colours` is the method of cuSPARSE's csrcolor (Naumov, Castonguay, Cohen, Parallel graph coloring with
// applications to the incomplete-LU factorization on the GPU, NVIDIA Technical Report NVR-2015-001): in each round the
// uncoloured points whose random number is above those of all uncoloured neighbours get a new colour, and those whose
// number is below all of them get another one. It needs far more colours than necessary, about 12 for star7.
#pragma once

#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane {

class ColouredPoints;

/// The colours of the points in natural order; from 0 on, and below most_greedy_colours.
std::vector<int> greedy_colours(const Grid& grid, const std::vector<Int3>& offsets);
inline int most_greedy_colours(const std::vector<Int3>& offsets) {
    return int(offsets.size()) + 1;
}

/// The same for hashed colours, which are below most_hashed_colours. Points that have no colour after 2 (offsets + 1)
/// rounds are coloured greedily.
std::vector<int> hashed_colours(const Context& context, const Grid& grid, const std::vector<Int3>& offsets);
inline int most_hashed_colours(const std::vector<Int3>& offsets) {
    return 5 * most_greedy_colours(offsets);
}

/// z = M^-1 r with the factors `values` in coloured order; v and w are vectors in that order.
void solve_by_tables(const ColouredPoints& points, const double* values, const Vector& r, Vector& z, double* v,
                     double* w);

}  // namespace hyperplane
