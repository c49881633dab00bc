// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/smoother_plan.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstring>

#include "precond/multigrid/keys.hpp"

namespace hyperplane {
namespace multigrid {

SmootherPlan::SmootherPlan(const PreconditionerRow& of) : row(of) {
    parameters.add({{section, "name", ParameterType::text, row.name, ""}});
    parameters.add(row.parameters);
    for (const ParameterSpec& spec : smoother_parameters(row))
        if (!spec.default_value.empty()) parameters.set(section, spec.key, spec.default_value);
}

SmootherPlan::SmootherPlan(const PreconditionerRow& of, const Parameters& given) : SmootherPlan(of) {
    has_keys = true;
    for (const ParameterSpec& spec : row.parameters)
        if (given.has(smoother_section, spec.key))
            if (const std::string& value = given.text(smoother_section, spec.key); !value.empty())
                parameters.set(section, spec.key, value, given.value(smoother_section, spec.key).provenance);
}

/// In the messages of a preconditioner its keys are those of [preconditioner], where multigrid has keys, too. A storage
/// that [smoother] does not give is that of preconditioner.storage.
std::string SmootherPlan::worded(const std::string& message) const {
    const std::string prefix = std::string(section) + ".";
    std::string text;
    bool other_keys = false;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = message.find(prefix, from)) != std::string::npos;) {
        const std::size_t begin = at + prefix.size();
        std::size_t end = begin;
        while (end < message.size() && (std::isalnum(static_cast<unsigned char>(message[end])) || message[end] == '_'))
            ++end;
        const auto joins = [&](char letter) {
            return std::isalnum(static_cast<unsigned char>(letter)) || std::strchr("_-./", letter);
        };
        const bool placed = message[end] == ':' && std::isdigit(static_cast<unsigned char>(message[end + 1]));
        const bool of_file = placed || (at > 0 && joins(message[at - 1]));  // "preconditioner.ini:3: ..."
        const std::string key = of_file ? "" : message.substr(begin, end - begin);
        const bool own = has_key(row.parameters, section, key) && !(key == "storage" && !gives(key));
        const bool of_multigrid = !own && has_key(multigrid::parameters(), section, key);
        text += message.substr(from, at - from);
        if (key.empty() || of_multigrid) {  // the first is a file's name or the end of a sentence
            text += message.substr(at, end - at);
        } else if (key == "name") {
            text += name_key();
        } else {
            text += fmt::format("{}.{}", smoother_section, key);
            other_keys = true;
        }
        from = end;
    }
    text += message.substr(from);
    if (other_keys && !has_keys)
        text += fmt::format(
            " Coarse grids take the keys of [smoother] with smoother.name = {} and preconditioner.coarse_smoother = "
            "same.",
            row.name);
    return text;
}

std::unique_ptr<Preconditioner> SmootherPlan::make(const StructMatrix& a, double alpha) const {
    const PreconditionerSetting setting{a.context(), {a.grid(), a.stencil(), a.dof(), a.symmetric()}};
    if (alpha == 0.0) return in_words_of_deck([&] { return row.create(parameters, setting); });
    if (!parameters.has(section, "shift") || parameters.text(section, "shift") != "auto") return nullptr;
    Parameters shifted = parameters;
    shifted.set(section, "shift", fmt::format("{}", alpha));
    return row.create(shifted, setting);
}

void SmootherPlan::store(FactorStorage storage, bool asked) {
    if (row.storages.empty() || !is_reduced(storage)) return;
    if (asked && gives("storage")) return;
    parameters.set(section, "storage", to_string(storage));
}

SmootherChoice SmootherPlan::choice(const PreconditionerSetting& setting) const {
    return {.layout =
                [*this, setting](const Context& context, const Grid& grid, const Stencil& stencil) {
                    const MatrixShape& finest = setting.matrix;
                    return plan({context, {grid, stencil, finest.dof(), finest.symmetric()}}).space.layout();
                },
            .make = [*this](const StructMatrix& a, double alpha) { return make(a, alpha); },
            .traits = plan(setting).traits,
            .regular_splitting = row.regular_splitting,
            .worded = [*this](const std::string& message) { return worded(message); }};
}

}  // namespace multigrid

std::string why_no_smoother(const PreconditionerRow& row) {
    if (row.name == "multigrid") return "it cannot smooth its own grids";
    return row.takes(MatrixKind::structured) ? "" : "it takes general matrices alone";
}

std::string refusal_as_smoother(const std::string& name, const std::string& why) {
    return fmt::format(
        "no smoother is called '{}': {}; take another preconditioner that takes matrices on a grid "
        "(hyperplane help smoother)",
        name, why);
}

ParameterTable smoother_parameters(const PreconditionerRow& row) {
    ParameterTable table = row.parameters;
    const bool boosts =
        !row.boosts_general_alone && std::any_of(table.begin(), table.end(), [](const ParameterSpec& spec) {
            return spec.key == "pivot_policy" &&
                   std::find(spec.choices.begin(), spec.choices.end(), "boost") != spec.choices.end();
        });
    for (ParameterSpec& spec : table) {
        spec.section = multigrid::smoother_section;
        if (spec.key == "pivot_policy") spec.default_value = boosts ? "boost" : "shift";
        if (spec.key == "pivot_tolerance" && boosts) spec.default_value = "1e-10";
        if (spec.key == "pivot_boost" && boosts) spec.default_value = "1";
    }
    return table;
}

}  // namespace hyperplane
