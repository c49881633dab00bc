// SPDX-License-Identifier: BSD-3-Clause
// Couplings between ranks that a deck drops.
#pragma once

#include <algorithm>
#include <array>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Whether the preconditioner of a deck, or multigrid's smoother, drops the couplings between ranks, so that several
/// ranks have another M than one.
inline bool drops_couplings(const Parameters& parameters) {
    return std::ranges::any_of(std::array{"preconditioner", "smoother"}, [&](const char* section) {
        return parameters.has(section, "scope") && parameters.text(section, "scope") == "rank";
    });
}

}  // namespace hyperplane
