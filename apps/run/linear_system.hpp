// SPDX-License-Identifier: BSD-3-Clause
// A deck's first linear system.
#pragma once

#include "apps/run/case.hpp"
#include "core/interfaces/linear_system.hpp"

namespace hyperplane {

/// All zero, in the case's layout.
LinearSystem make_system(const Case& a_case);

/// The level of the first time step, from u; refers to it.
TimeLevel first_level(const Case& a_case, const Vector& u);

/// The first Newton step's system in the first time step, or of a steady problem; u becomes the initial state.
void assemble_first(const Case& a_case, Vector& u, LinearSystem& system);

/// A and M of the case as its solver sees them. Refers to both.
SolverOperators operators_of(const Case& a_case, const LinearOperator& a);

}  // namespace hyperplane
