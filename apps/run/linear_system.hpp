// SPDX-License-Identifier: BSD-3-Clause
// The first linear system of a deck.
#pragma once

#include "apps/run/case.hpp"
#include "core/interfaces/linear_system.hpp"

namespace hyperplane {

/// A system in the case's index space, all zero.
LinearSystem make_system(const Case& a_case);

/// The time level of the first time step, which begins at u and refers to it.
TimeLevel first_level(const Case& a_case, const Vector& u);

/// Assembles the system of the first Newton step, in the first time step if there are any, and sets u to the initial
/// state.
void assemble_first(const Case& a_case, Vector& u, LinearSystem& system);

/// Number of coefficients held in memory; where ranks share the grid, the number that a single rank would hold for the
/// whole grid.
Index stored_of_all_ranks(const SystemMatrix& a, const MatrixShape& shape);

/// A and M of the case as the solver takes them. The result refers to both.
SolverOperators operators_of(const Case& a_case, const LinearOperator& a);

}  // namespace hyperplane
