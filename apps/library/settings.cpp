// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

const Provenance given_by_program{Provenance::Source::command_line, "SolverSettings::keys"};

/// "solver.rtol" as section and key.
std::pair<std::string, std::string> split(const std::string& name) {
    const std::size_t dot = name.find('.');
    return {name.substr(0, dot), name.substr(dot + 1)};
}

/// Adds the keys of the component that `settings` names, or of the default one, and returns its name.
template <class Row>
std::string add_component(const SolverSettings& settings, const std::string& section, const std::vector<Row>& rows,
                          Parameters& parameters) {
    const auto given = settings.keys.find(section + ".name");
    const std::string name = given == settings.keys.end() ? parameters.text(section, "name") : given->second;
    const Row& row = find_row(rows, section, name);
    parameters.add(row.parameters);
    return row.name;
}

/// The full names "section.key" of the keys that `name` may mean: a full name, or a key without its section.
std::vector<std::string> meant_by(const std::string& name, const Parameters& parameters) {
    std::vector<std::string> names;
    for (const Parameters::Value& value : parameters.all())
        if (name == value.spec.name() || name == value.spec.key) names.push_back(value.spec.name());
    return names;
}

std::string known_keys(const Parameters& parameters) {
    std::vector<std::string> names;
    for (const Parameters::Value& value : parameters.all()) names.push_back(value.spec.name());
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Parameters parameters_of(const SolverSettings& settings, MatrixKind kind) {
    Parameters parameters(common_solver_parameters());
    parameters.add(common_preconditioner_parameters(kind));
    const std::string solver = add_component(settings, "solver", solvers(), parameters);
    const std::string preconditioner = add_component(settings, "preconditioner", preconditioners(), parameters);
    parameters.add(common_scaling_parameters());

    std::vector<std::string> errors, given;
    for (const auto& [name, value] : settings.keys) {
        const std::vector<std::string> meant = meant_by(name, parameters);
        if (meant.empty()) {
            errors.push_back(fmt::format("{}: unknown key '{}'; solver {} and preconditioner {} have {}",
                                         given_by_program.text(), name, solver, preconditioner,
                                         known_keys(parameters)));
            continue;
        }
        if (meant.size() > 1 || std::find(given.begin(), given.end(), meant[0]) != given.end()) {
            errors.push_back(fmt::format("{}: the key '{}' {}", given_by_program.text(), name,
                                         meant.size() > 1 ? fmt::format("is one of {}", fmt::join(meant, " and "))
                                                          : "is given twice, as " + meant[0]));
            continue;
        }
        given.push_back(meant[0]);
        const auto [section, key] = split(meant[0]);
        try {
            parameters.set(section, key, value, given_by_program);
        } catch (const UsageError& error) {
            errors.emplace_back(error.what());
        }
    }
    if (errors.empty())
        for (const std::string& name : given) {
            const auto [section, key] = split(name);
            if (const Condition* unmet = parameters.unmet(section, key))
                errors.push_back(fmt::format("{}: means nothing unless {}.{}; leave it out or set that",
                                             parameters.where(section, key), section, unmet->text()));
        }
    if (!errors.empty()) throw UsageError(fmt::format("{}", fmt::join(errors, "\n")));
    parameters.set("solver", "name", find_row(solvers(), "solver", parameters.text("solver", "name")).name,
                   given_by_program);
    parameters.set("preconditioner", "name", find_preconditioner(parameters.text("preconditioner", "name")).name,
                   given_by_program);
    return parameters;
}

}  // namespace hyperplane
