// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/iteration.hpp"

namespace hyperplane {

void Iteration::run(Index first, const Method& method) {
    if (graphs_) return run_ahead(first, method);
    for (Index slot = first;; slot = (slot + 1) % slots_) {
        method.step(slot);
        const bool more = method.more(slot);
        if (!method.look(slot, scalars(slot)) || !more) return;
    }
}

}  // namespace hyperplane
