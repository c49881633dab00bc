// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/advice_if_indefinite.hpp"

#include <fmt/format.h>

namespace hyperplane {

std::string advice_if_indefinite(bool symmetric, const PivotRules& rules, const std::string& name) {
    if (!symmetric || rules.indefinite) return "";
    const char* const indefinite =
        name == "sync_free_ilu" ? "preconditioner.indefinite" : "preconditioner.name = sync_free_ilu, indefinite";
    return fmt::format(
        " A symmetric matrix whose pivots may be negative, but not zero, is factored as L D L^T with {} = true and "
        "solver.name = gmres.",
        indefinite);
}

}  // namespace hyperplane
