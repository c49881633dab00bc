// SPDX-License-Identifier: BSD-3-Clause
// The factors of a general matrix for other programs.
#pragma once

#include "precond/factors/ldu.hpp"
#include "precond/general/factors/factors.hpp"

namespace hyperplane {

/// `diagonals`: the places of the diagonal blocks, in the memory of the host or of a GPU. L is as it is held; D is the
/// inverse of the inverses that are held, and U = D^-1 times what is held, so both are rounded once more. Throws
/// SetupError if a block has no inverse.
LduFactors ldu_of(const GeneralFactors& factors, const Buffer<Index>& diagonals);

}  // namespace hyperplane
