// SPDX-License-Identifier: BSD-3-Clause
// The interface of preconditioners that say in which way their triangular solves go.
#pragma once

#include <string>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane {

/// A preconditioner whose triangular solves go one of several ways (precond/general/solves/solve_way.hpp).
class HasSolveWay {
public:
    virtual ~HasSolveWay() = default;
    /// The way that the last set-up has taken: "sync_free", "levels", or on a CPU "natural_order", in which one thread
    /// has all rows; empty where there are no such solves.
    virtual std::string solve_way() const = 0;
};

/// That way; empty where there is one way alone.
inline std::string solve_way_of(const Preconditioner* preconditioner) {
    const auto* const one = dynamic_cast<const HasSolveWay*>(preconditioner);
    return one ? one->solve_way() : "";
}

}  // namespace hyperplane
