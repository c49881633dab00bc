// SPDX-License-Identifier: BSD-3-Clause
// One triangle of factors in the order in which a rank's solve reads it: stages take a few rows here and a few there,
// and from a copy in their order all is read one after the other. In reduced precision the copy is W, or D^-1 and G,
// and what is computed for a row is that of one rank (stored_row.hpp).
#pragma once

#include <span>
#include <string>

#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/reduced_blocks.hpp"
#include "precond/general/orders/levels.hpp"

namespace hyperplane {

class StagedTriangle {
public:
    StagedTriangle() = default;
    /// `rows`: of the factors, in the order of the solve. They are the caller's.
    StagedTriangle(const Context& context, const GeneralFactors& factors, std::span<const int> rows, Side side,
                   FactorStorage storage, const std::string& label);
    /// Takes over new values of the factors, in double.
    void take(const GeneralFactors& factors);
    /// The same in reduced precision. `first`: the number that the factors' first row has in the log.
    void round(const GeneralFactors& factors, Index first, RoundingLog& log);
    /// The rows at the places [first, last) of y = L^-1 r, or of y = U^-1 r, in whose triangle they go downwards; y may
    /// be r.
    void solve(Index first, Index last, const double* r, double* y) const;

    /// The bytes of both triangles, for so many rows; `blocks` counts those on the diagonal of U, too.
    static Index bytes(Index rows, Index blocks, int dof, FactorStorage storage = FactorStorage::double_precision) {
        return BlockPattern::bytes(rows, blocks) + StoredValues::bytes(storage, blocks * dof * dof, 3 * rows * dof);
    }

private:
    /// The blocks of a row of the factors: of the upper triangle the inverse of the diagonal block is the first one.
    std::pair<Index, Index> blocks_of(const GeneralFactors& factors, Index row) const;
    bool upper() const { return side_ == Side::upper; }
    /// The scales of the row at a place: those of W, or of D^-1 and then of G.
    Index place_of_scales(Index at) const { return at * dof_ * (upper() ? 2 : 1); }
    template <int m, class T>
    void solve_known(const T* values, Index first, Index last, const double* r, double* y) const;

    Side side_ = Side::lower;
    int dof_ = 1;
    std::span<const int> rows_;
    Buffer<Index> begin_;
    Buffer<int> column_;
    StoredValues values_;
};

}  // namespace hyperplane
