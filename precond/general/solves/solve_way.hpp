// SPDX-License-Identifier: BSD-3-Clause
// The key of the deck that says how the triangular solves with a general matrix's factors work.
#pragma once

#include "core/device/context.hpp"
#include "core/parameters/registry.hpp"
#include "precond/general/orders/level_steps.hpp"

namespace hyperplane {

/// The word of the deck.
const char* name_of(SolveWay way);
/// Key `solve` of [preconditioner].
ParameterSpec solve_key();
/// The way that the deck asks for. Throws UsageError if it does not exist: sync_free on a CPU, and all but one where
/// rows depend on those of other ranks (`couples_ranks`).
SolveWay read_solve_way(const Parameters& parameters, Backend backend, bool couples_ranks);

}  // namespace hyperplane
