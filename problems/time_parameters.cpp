// SPDX-License-Identifier: BSD-3-Clause
#include "problems/time_parameters.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {
namespace {

std::string regime_name(Regime regime) {
    return regime == Regime::steady ? "steady" : regime == Regime::transient ? "transient" : "pseudo_transient";
}

}  // namespace

ParameterTable time_parameters() {
    return {
        {.section = "time",
         .key = "steps",
         .type = ParameterType::integer,
         .default_value = "",
         .description = "time steps of a transient problem, 1 unless given, or give end_time; of pseudo-transient ones "
                        "the most that may be taken, 500 unless given",
         .minimum = Bound{1}},
        {.section = "time",
         .key = "time_step",
         .type = ParameterType::real,
         .default_value = "",
         .description = "length of a time step; or give cfl",
         .unit = "time units",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "cfl",
         .type = ParameterType::real,
         .default_value = "",
         .description = "Courant number, time_step times the largest velocity component over the mean spacing; or give "
                        "time_step. Pseudo-transient steps begin with it",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "cfl_max",
         .type = ParameterType::real,
         .default_value = "",
         .description = "Courant number that pseudo-transient steps may grow to, as ||F|| falls; unset: the problem's",
         .minimum = Bound{0, true}},
    };
}

void refuse_time_keys(const Parameters& parameters, const std::string& why) {
    for (const char* key : {"steps", "time_step", "cfl", "cfl_max"})
        if (parameters.is_given("time", key))
            throw RefusedKey(parameters, "time", key, fmt::format(": {}; remove the key", why));
}

ParameterSpec regime_parameter(const std::vector<Regime>& offered, const std::string& description) {
    ParameterSpec spec{.section = "problem",
                       .key = "regime",
                       .type = ParameterType::choice,
                       .default_value = regime_name(offered.at(0)),
                       .description = description};
    for (Regime regime : offered) spec.choices.push_back(regime_name(regime));
    return spec;
}

Regime read_regime(const Parameters& parameters) {
    const std::string& name = parameters.text("problem", "regime");
    for (Regime regime : {Regime::steady, Regime::transient})
        if (name == regime_name(regime)) return regime;
    return Regime::pseudo_transient;
}

CflRange cfl_range(const Parameters& parameters, double default_cfl, double default_cfl_max) {
    CflRange range{parameters.is_given("time", "cfl") ? parameters.real("time", "cfl") : default_cfl, default_cfl_max};
    if (parameters.is_given("time", "cfl_max")) range.last = parameters.real("time", "cfl_max");
    if (range.last >= range.first) return range;
    if (!parameters.is_given("time", "cfl_max")) return {range.first, range.first};
    throw RefusedKey(parameters, "time", "cfl_max",
                     fmt::format(": is below time.cfl = {:g}, the Courant number to begin with", range.first));
}

StepRule step_rule(const Parameters& parameters, double default_cfl) {
    const bool step = parameters.is_given("time", "time_step"), cfl = parameters.is_given("time", "cfl");
    if (step && cfl)
        throw RefusedKey(parameters, "time", "cfl",
                         fmt::format(": contradicts {}; give one of them", parameters.where("time", "time_step")));
    if (step) return {.time_step = parameters.real("time", "time_step")};
    return {.cfl = cfl ? parameters.real("time", "cfl") : default_cfl};
}

double chosen_time_step(const Parameters& parameters, double default_cfl, double velocity, double spacing) {
    const StepRule rule = step_rule(parameters, default_cfl);
    if (rule.time_step == 0.0 && velocity == 0.0)
        throw UsageError(fmt::format("{}: a Courant number needs a velocity, and the wind is zero; give time.time_step",
                                     parameters.where("time", "cfl")));
    return rule.time_step > 0.0 ? rule.time_step : rule.cfl * spacing / velocity;
}

}  // namespace hyperplane
