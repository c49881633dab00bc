// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/smoother_plan.hpp"

#include <fmt/format.h>

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
    for (const ParameterSpec& spec : row.parameters)
        if (given.has(smoother_section, spec.key))
            if (const std::string& value = given.text(smoother_section, spec.key); !value.empty())
                parameters.set(section, spec.key, value, given.value(smoother_section, spec.key).provenance);
}

std::unique_ptr<Preconditioner> SmootherPlan::make(const StructMatrix& a, double alpha) const {
    const PreconditionerSetting setting{a.context(), {a.grid(), a.stencil(), a.dof(), a.symmetric()}};
    if (alpha == 0.0) return row.create(parameters, setting);
    if (!parameters.has(section, "shift") || parameters.text(section, "shift") != "auto") return nullptr;
    Parameters shifted = parameters;
    shifted.set(section, "shift", fmt::format("{}", alpha));
    return row.create(shifted, setting);
}

void SmootherPlan::store(FactorStorage storage, bool asked) {
    if (row.storages.empty() || !is_reduced(storage)) return;
    if (asked && parameters.value(section, "storage").provenance.source != Provenance::Source::built_in) return;
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
            .regular_splitting = row.regular_splitting};
}

}  // namespace multigrid

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
