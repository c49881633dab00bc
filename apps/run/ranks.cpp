// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "precond/registry.hpp"

namespace hyperplane {
namespace {

int number_in(const char* variable) {
    const char* const value = std::getenv(variable);
    return value ? std::max(1, std::atoi(value)) : 1;
}

}  // namespace

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

int launched_processes() {
    const int by_srun = std::getenv("PMIX_RANK") ? number_in("SLURM_STEP_NUM_TASKS") : 1;
    return std::max({number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"), by_srun});
}

int launched_number() {
    if (launched_processes() == 1) return 0;
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
        if (const char* number = std::getenv(name)) return std::atoi(number);
    return 0;
}

std::string about_srun_without_mpi() {
    const int tasks = number_in("SLURM_STEP_NUM_TASKS");
    if (tasks == 1 || launched_processes() > 1) return "";
    return fmt::format(
        "; srun has started {} processes that do not know of each other: with --mpi=pmix they are the "
        "ranks of one run",
        tasks);
}

}  // namespace hyperplane
