// SPDX-License-Identifier: BSD-3-Clause
// Iterations in a program built without CUDA.
#include "solvers/iteration.hpp"

namespace hyperplane {

class Iteration::Graphs {};

Iteration::Iteration(const Context& context, Index slots, Index scalars)
    : slots_(slots), count_(scalars), scalars_(context, "krylov: scalars", held(scalars)) {}

Iteration::~Iteration() = default;

void Iteration::run_ahead(Index, const Method&) {}

}  // namespace hyperplane
