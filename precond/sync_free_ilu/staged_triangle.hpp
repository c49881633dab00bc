// SPDX-License-Identifier: BSD-3-Clause
// One triangle of factors in the order in which a rank's solve reads it: stages take a few rows here and a few there,
// and from a copy in their order all is read one after the other.
#pragma once

#include <span>
#include <string>

#include "precond/graph/levels.hpp"
#include "precond/sync_free_ilu/factors.hpp"

namespace hyperplane {

class StagedTriangle {
public:
    StagedTriangle() = default;
    /// `rows`: of the factors, in the order of the solve. They are the caller's.
    StagedTriangle(const Context& context, const GeneralFactors& factors, std::span<const int> rows, Side side,
                   const std::string& label);
    /// Takes over new values of the factors.
    void take(const GeneralFactors& factors);
    /// The rows at the places [first, last) of y = L^-1 r, or of y = U^-1 r, in whose triangle they go downwards; y may
    /// be r.
    void solve(Index first, Index last, const double* r, double* y) const;

    /// For so many rows, and blocks with those on the diagonal of U.
    static Index bytes(Index rows, Index blocks, int dof) {
        return BlockPattern::bytes(rows, blocks) + blocks * dof * dof * Index(sizeof(double));
    }

private:
    /// The blocks of a row of the factors: of the upper triangle the inverse of the diagonal block is the first one.
    std::pair<Index, Index> blocks_of(const GeneralFactors& factors, Index row) const;
    template <int m>
    void solve_known(Index first, Index last, const double* r, double* y) const;

    Side side_ = Side::lower;
    int dof_ = 1;
    std::span<const int> rows_;
    Buffer<Index> begin_;
    Buffer<int> column_;
    Buffer<double> values_;
};

}  // namespace hyperplane
