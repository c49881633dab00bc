// SPDX-License-Identifier: BSD-3-Clause
// RowOrder: the order in which the block rows of a general matrix are solved, where it is not the given one.
//
// The given order is that of the file, or of a grid's points. Matrices, vectors and everything within a solve are in
// the order of solution: place p holds the given row given[p]. What a user gives or gets is in the given order.
//
// Where [ordering] rows = matching has moved rows, a place has two numbers: its unknown, and so its column, is
// given[p], and its equation, the row of the matrix and of b, is equation[p].
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/device/context.hpp"
#include "core/matrix/pattern_statistics.hpp"

namespace hyperplane {

struct RowOrder {
    std::string name;               ///< "rcm"
    Buffer<int> given;              ///< [place]: the number of the row in the given order; in the host's memory
    Buffer<int> place;              ///< [given row]: its place
    double seconds = 0.0;           ///< that finding it took
    PatternStatistics before;       ///< of the pattern in the given order
    Buffer<int> equation;           ///< [place]: the given number of its equation; empty where that is given[place]
    double matching_seconds = 0.0;  ///< that finding the equations took

    Index rows() const { return given.size(); }
    /// Whether equations may have other numbers than the unknowns whose columns they share a place with.
    bool matches_rows() const { return equation.size() > 0; }
    /// [place]: the given number of its equation.
    const int* equations() const { return matches_rows() ? equation.data() : given.data(); }
    /// How many block rows the matching has moved.
    Index moved() const;
    /// `dof` values a block row, dof fastest, from places to the given order, and back: of a vector of unknowns.
    std::vector<double> to_given(std::span<const double> by_place, int dof) const;
    std::vector<double> to_places(std::span<const double> by_given_row, int dof) const;
    /// These do the same for a vector of equations, such as b.
    std::vector<double> equations_to_given(std::span<const double> by_place, int dof) const;
    std::vector<double> equations_to_places(std::span<const double> by_given_row, int dof) const;
    /// A hash by which a run that continues knows that its rows have the same places.
    std::uint64_t fingerprint() const;
};

/// The order that places given[p] at p. Throws Error (internal) if that is no permutation.
RowOrder make_row_order(const Context& host, std::string name, Buffer<int> given);

}  // namespace hyperplane
