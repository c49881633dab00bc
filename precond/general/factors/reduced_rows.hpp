// SPDX-License-Identifier: BSD-3-Clause
// The factors of precond/general/factors/factors.hpp in reduced precision (reduced_blocks.hpp), on a CPU: W = L below
// the diagonal, D^-1 and G = D^-1 U in the places that the pattern has for their blocks.
#pragma once

#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/reduced_blocks.hpp"
#include "precond/general/solves/row_walk.hpp"

namespace hyperplane {

class ReducedRows {
public:
    /// `shape`: factors that may be without values. All functions that take it expect one with the same pattern.
    ReducedRows(const Context& context, FactorStorage storage, const GeneralFactors& shape, const std::string& label);

    /// Rounds the factors of `a`; returns the events of all ranks that share its rows.
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a);
    /// y = (I + W)^-1 r; y may be r.
    void lower_solve(const GeneralFactors& shape, const RowWalk& walk, const double* r, double* y) const;
    /// z = (I + G)^-1 D^-1 z
    void upper_solve(const GeneralFactors& shape, const RowWalk& walk, double* z) const;
    /// The numbers that solves compute with, as factors with unit triangles.
    GeneralFactors widened(const GeneralFactors& shape) const;

    Index bytes() const { return numbers_.bytes(); }
    /// Memory held for so many block rows and blocks.
    static Index bytes(FactorStorage storage, Index rows, Index blocks, int dof) {
        return StoredValues::bytes(storage, blocks * dof * dof, 3 * rows * dof);
    }

private:
    Index rows_;
    int dof_;
    StoredValues numbers_;
};

}  // namespace hyperplane
