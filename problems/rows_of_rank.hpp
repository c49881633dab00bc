// SPDX-License-Identifier: BSD-3-Clause
// A problem whose matrix is general, on one of several ranks: matrix and vectors of a solve have the rank's rows alone.
#pragma once

#include <memory>

#include "core/interfaces/problem.hpp"

namespace hyperplane {

/// `whole` has been made without ranks, by each rank for itself, and has all rows; `context` is that of the rank. If
/// the problem cannot be divided (Problem::of_rank), every rank gathers the states, computes residuals and matrices of
/// all rows, and takes its own.
std::shared_ptr<const Problem> rows_of_rank(std::shared_ptr<const Problem> whole, const Context& context);

}  // namespace hyperplane
