// SPDX-License-Identifier: BSD-3-Clause
// MatchedRows: the rows of a SparseMatrix where ordering.rows = matching has put them. They are matched by the first
// values of the matrix, and stay there for later ones, so that what follows from the pattern is kept.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane {

class MatchedRows {
public:
    /// `a`: in the order that the program gives it, on any backend. Throws SetupError if rows are left.
    explicit MatchedRows(const BsrMatrix& a);

    /// With the rows exchanged, readable by the host.
    const std::shared_ptr<const BlockPattern>& pattern() const { return matched_.pattern; }
    /// A matrix of the given pattern with its rows exchanged, in the host's memory.
    std::unique_ptr<BsrMatrix> with_rows_of(const BsrMatrix& a, bool symmetric) const;
    /// The same for a vector of equations, such as b. Unknowns keep their places.
    std::vector<double> with_rows_of(std::span<const double> b, int dof) const;

private:
    ReorderedPattern matched_;
};

}  // namespace hyperplane
