// SPDX-License-Identifier: BSD-3-Clause
// Reads SolverSettings::keys by the tables of solvers and preconditioners.
#pragma once

#include "core/matrix/matrix_shape.hpp"
#include "core/parameters/parameters.hpp"
#include "hyperplane/linear_solver.hpp"

namespace hyperplane {

/// All keys that apply to a kind of matrix, with defaults where none is given; aliases of components are replaced by
/// their names. Throws one UsageError that names every wrong key, and a wrong number of threads.
Parameters parameters_of(const SolverSettings& settings, MatrixKind kind);

}  // namespace hyperplane
