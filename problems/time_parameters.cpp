#include "problems/time_parameters.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

ParameterTable time_parameters() {
    return {
        {.section = "time",
         .key = "steps",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "implicit time steps, for transient problems",
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
                        "time_step",
         .minimum = Bound{0, true}},
    };
}

void refuse_time_keys(const Parameters& parameters, const std::string& why) {
    for (const char* key : {"steps", "time_step", "cfl"})
        if (parameters.is_given("time", key))
            throw UsageError(fmt::format("{}: {}; remove the key", parameters.where("time", key), why));
}

double chosen_time_step(const Parameters& parameters, double default_cfl, double velocity, double spacing) {
    const bool step = parameters.is_given("time", "time_step"), cfl = parameters.is_given("time", "cfl");
    if (step && cfl)
        throw UsageError(fmt::format("{}: contradicts {}; give one of them", parameters.where("time", "cfl"),
                                     parameters.where("time", "time_step")));
    if (step) return parameters.real("time", "time_step");
    if (velocity == 0.0)
        throw UsageError(fmt::format("{}: a Courant number needs a velocity, and the wind is zero; give time.time_step",
                                     parameters.where("time", "cfl")));
    return (cfl ? parameters.real("time", "cfl") : default_cfl) * spacing / velocity;
}

}  // namespace hyperplane
