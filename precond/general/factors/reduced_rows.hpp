// SPDX-License-Identifier: BSD-3-Clause
// The factors of precond/general/factors/factors.hpp in reduced precision (reduced_blocks.hpp), on a CPU: W = L below
// the diagonal, D^-1 and G = D^-1 U in the places that the pattern has for their blocks. Exponents are [W, D^-1 or
// G][row][component].
//
// `shape` are factors with this pattern that may be without values.
#pragma once

#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/reduced_blocks.hpp"

namespace hyperplane::general_cpu {

StoredValues reduced_rows(const Context& context, FactorStorage storage, const GeneralFactors& shape,
                          const std::string& label);
/// Memory held for so many block rows and blocks, in any storage.
inline Index bytes_of_rows(FactorStorage storage, Index rows, Index blocks, int dof) {
    return StoredValues::bytes(storage, blocks * dof * dof, 3 * rows * dof);
}
/// The place of the first exponent of a block row.
inline Index place_of_scales(const GeneralFactors& shape, UnitPart part, Index row) {
    return (Index(part) * shape.pattern().rows() + row) * shape.dof;
}

/// Rounds the factors of `a`; returns the events of all ranks that share its rows.
Rounding round(const GeneralFactors& factors, const BsrMatrix& a, StoredValues& reduced);
/// The numbers that solves compute with, as factors with unit triangles.
GeneralFactors widened(const GeneralFactors& shape, const StoredValues& reduced);

}  // namespace hyperplane::general_cpu
