// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "precond/registry.hpp"

namespace hyperplane {

bool has_general_matrix(const Parameters& parameters) {
    return parameters.text("problem", "name") == "matrix" || parameters.text("matrix", "format") == "general";
}

void check_ranks(const Parameters& parameters) {
    std::string text;
    const auto refuse = [&](const char* section, const char* key, const std::string& what) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", parameters.where(section, key), what);
    };
    const bool general = has_general_matrix(parameters);
    const PreconditionerRow& row = find_preconditioner(parameters.text("preconditioner", "name"));
    // A preconditioner that takes no such matrix is refused elsewhere, with that reason, whatever the ranks
    // (check_matrix).
    if (!row.takes(general ? MatrixKind::general : MatrixKind::structured)) return;
    const auto works = [&](const PreconditionerRow& one) { return general ? one.on_general_ranks : one.on_ranks; };
    if (!works(row)) {
        std::vector<std::string> names;
        for (const PreconditionerRow& other : preconditioners())
            if (works(other)) names.push_back(other.name);
        refuse("preconditioner", "name",
               fmt::format("{} does not work on several ranks{}; take {}, or one rank", row.name,
                           general ? " that share the rows of a general matrix" : "", fmt::join(names, ", ")));
    }
    for (const auto& [key, value] : row.only_on_ranks)
        if (parameters.has("preconditioner", key) && parameters.text("preconditioner", key) != value)
            refuse("preconditioner", key.c_str(),
                   fmt::format("{} does not work on several ranks; set preconditioner.{} = {}, or take one rank",
                               parameters.text("preconditioner", key), key, value));
    if (!text.empty()) throw UsageError(text);
}

}  // namespace hyperplane
