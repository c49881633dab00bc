// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/march_parameters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr Index default_pseudo_steps = 500;

void refuse_all(const Parameters& p, const char* section, const std::vector<const char*>& keys,
                const std::string& why) {
    for (const char* key : keys)
        if (p.is_given(section, key)) throw RefusedKey(p, section, key, fmt::format(": {}; remove the key", why));
}

RefreshRule refresh_rule(const Parameters& p) {
    const std::string& text = p.text("newton", "refresh");
    if (text == "every") return {};
    if (text == "grown") return {.every = 0, .grown = true};
    return {.every = p.integer("newton", "refresh")};
}

/// Whether a nonlinear step is solved by one Newton step.
bool linearised(const Parameters& p, const SystemShape& shape) {
    const std::string& method = p.text("newton", "method");
    return method == "linearised" || (method == "auto" && shape.regime == Regime::pseudo_transient);
}

}  // namespace

ParameterTable newton_parameters() {
    const auto number = [](const char* key, ParameterType type, const char* value, const char* text, Bound least) {
        return ParameterSpec{.section = "newton",
                             .key = key,
                             .type = type,
                             .default_value = value,
                             .description = text,
                             .minimum = least};
    };
    ParameterTable table{
        {.section = "newton",
         .key = "method",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "full: Newton steps until ||F|| <= max(rtol ||F_0||, atol); linearised: one Newton step a time "
                        "step, never judged by ||F||; auto: linearised for pseudo-transient steps, else full",
         .choices = {"auto", "full", "linearised"}},
        number("rtol", ParameterType::real, "1e-6",
               "a nonlinear solve ends when ||F|| <= max(rtol ||F_0||, atol), in the 2-norm, or when ||F|| is at the "
               "level of rounding: no step along Newton's correction lowers it, and that is at most 1e-13 ||u||, or "
               "moving u's values by a few "
               "units in their last place at least doubles ||F||",
               {0.0}),
        number("atol", ParameterType::real, "0", "a nonlinear solve ends when ||F|| <= max(rtol ||F_0||, atol)", {0.0}),
        number("max_iterations", ParameterType::integer, "20", "Newton steps allowed for each nonlinear solve", {1.0}),
        {.section = "newton",
         .key = "forcing",
         .type = ParameterType::choice,
         .default_value = "fixed",
         .description = "how far each linear system is solved; fixed: to solver.rtol; eisenstat_walker: as far as "
                        "Newton's method profits from it (choice 2 of Eisenstat and Walker 1996), never beyond "
                        "solver.rtol, and the default for pseudo-transient steps, whose way to the steady state need "
                        "not be exact",
         .choices = {"fixed", "eisenstat_walker"}},
        number("line_search_halvings", ParameterType::integer, "5",
               "how often a Newton step may be halved until it lowers ||F||; 0: it is taken as it is", {0.0}),
        number("refresh", ParameterType::integer, "every",
               "when the preconditioner is set up anew: for every linear system, for each so many, or when a solve "
               "took more than twice the iterations of the first with this set-up and 5 more (grown). A solve that "
               "fails with an old set-up is repeated with a new one",
               {1.0}),
    };
    table.back().choices = {"every", "grown"};
    return table;
}

ParameterTable march_parameters() {
    return {
        {.section = "time",
         .key = "scheme",
         .type = ParameterType::choice,
         .default_value = "implicit_euler",
         .description = "how a time derivative is taken: implicit_euler, of first order; bdf2, of second order for "
                        "steps of any length, its first step implicit_euler's",
         .choices = {"implicit_euler", "bdf2"}},
        {.section = "time",
         .key = "end_time",
         .type = ParameterType::real,
         .default_value = "",
         .description = "time at which a transient run ends, its last step shortened to meet it; or give steps",
         .unit = "time units",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "tolerance",
         .type = ParameterType::real,
         .default_value = "",
         .description =
             "the estimated error of each step, over ||u||, stays below this: steps grow and shrink, and are "
             "repeated where they were too long. The first step, of bdf2 the first three, is as long as time_step "
             "or cfl says and not repeated, since its error cannot be estimated yet; a run warns where the first was "
             "too long. Unset: steps are what time_step or cfl says",
         .minimum = Bound{0, true},
         .maximum = Bound{1}},
        {.section = "time",
         .key = "largest_step",
         .type = ParameterType::real,
         .default_value = "",
         .description = "the longest step; with tolerance",
         .unit = "time units",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "smallest_step",
         .type = ParameterType::real,
         .default_value = "",
         .description = "the shortest step, except the one that ends at end_time; if it is too long for tolerance, the "
                        "run ends as step_too_small. With tolerance; unset: any step by which time advances",
         .unit = "time units",
         .minimum = Bound{0, true}},
        {.section = "time",
         .key = "steady_rtol",
         .type = ParameterType::real,
         .default_value = "1e-6",
         .description = "pseudo-transient steps end when ||F||, without the time term, is at most "
                        "max(steady_rtol ||F_0||, steady_atol); where both are 0, after time.steps",
         .minimum = Bound{0},
         .maximum = Bound{1}},
        {.section = "time",
         .key = "steady_atol",
         .type = ParameterType::real,
         .default_value = "0",
         .description = "pseudo-transient steps end when ||F|| <= max(steady_rtol ||F_0||, steady_atol)",
         .minimum = Bound{0}},
    };
}

void set_regime_defaults(Parameters& p, const SystemShape& shape) {
    if (shape.linear || shape.regime != Regime::pseudo_transient) return;
    if (linearised(p, shape)) {
        if (!p.is_given("solver", "rtol")) p.set("solver", "rtol", "1e-2");
    } else if (!p.is_given("newton", "forcing")) {
        p.set("newton", "forcing", "eisenstat_walker");
    }
}

bool has_regime_default(const std::string& name) {
    return name == "solver.rtol" || name == "newton.forcing";
}

NewtonOptions newton_options(const Parameters& p, const SystemShape& shape) {
    const std::vector<const char*> of_judged = {"rtol", "atol", "max_iterations", "forcing", "line_search_halvings"};
    NewtonOptions options;
    options.linear_rtol = p.real("solver", "rtol");
    options.refresh = refresh_rule(p);
    options.reaches_back_twice = p.text("time", "scheme") == "bdf2";
    const std::string problem = p.text("problem", "name");
    if (shape.linear) {
        options.judged = false;
        refuse_all(p, "newton", {"method"}, problem + " is linear, one Newton step solves it");
        refuse_all(p, "newton", of_judged, problem + " is linear, one Newton step solves it");
        if (shape.regime == Regime::steady)
            refuse_all(p, "newton", {"refresh"}, problem + " is one linear system, set up for once");
        return options;
    }
    if (linearised(p, shape)) {
        options.judged = false;
        refuse_all(p, "newton", of_judged,
                   "one Newton step is taken and not judged (newton.method = " + p.text("newton", "method") + ")");
        return options;
    }
    options.rtol = p.real("newton", "rtol");
    options.atol = p.real("newton", "atol");
    if (options.rtol == 0.0 && options.atol == 0.0)
        throw UsageError(p.where("newton", "rtol") +
                         ": is 0, and so is newton.atol: no solve would ever end; raise one of them");
    options.max_iterations = p.integer("newton", "max_iterations");
    if (p.text("newton", "forcing") == "eisenstat_walker") options.forcing = Forcing::eisenstat_walker;
    options.line_search_halvings = int(p.integer("newton", "line_search_halvings"));
    return options;
}

TimeOptions time_options(const Parameters& p, const SystemShape& shape) {
    TimeOptions options{.regime = shape.regime, .keeps_old = !shape.linear};
    const std::string problem = p.text("problem", "name");
    if (shape.regime == Regime::steady) {
        refuse_all(p, "time",
                   {"scheme", "end_time", "tolerance", "largest_step", "smallest_step", "steady_rtol", "steady_atol"},
                   problem + " takes no time steps here");
        return options;
    }
    if (p.text("time", "scheme") == "bdf2") options.scheme = TimeScheme::bdf2;
    if (options.pseudo()) {
        refuse_all(p, "time", {"time_step"},
                   "pseudo-transient steps are as long as time.cfl says, and grow to cfl_max");
        refuse_all(p, "time", {"scheme", "end_time", "tolerance", "largest_step", "smallest_step"},
                   "pseudo-transient steps lead to a steady state, and have no time");
        options.steps = p.is_given("time", "steps") ? p.integer("time", "steps") : default_pseudo_steps;
        options.steady_rtol = p.real("time", "steady_rtol");
        options.steady_atol = p.real("time", "steady_atol");
        return options;
    }
    refuse_all(p, "time", {"steady_rtol", "steady_atol", "cfl_max"},
               "only pseudo-transient steps look for a steady state");
    if (p.is_given("time", "steps") && p.is_given("time", "end_time"))
        throw RefusedKey(p, "time", "end_time",
                         fmt::format(": contradicts {}; give one of them", p.where("time", "steps")));
    if (p.is_given("time", "end_time")) {
        options.end_time = p.real("time", "end_time");
        options.steps = 0;
    } else if (p.is_given("time", "steps")) {
        options.steps = p.integer("time", "steps");
    }
    if (p.is_given("time", "tolerance")) options.tolerance = p.real("time", "tolerance");
    if (!options.controlled())
        refuse_all(p, "time", {"largest_step", "smallest_step"},
                   "only steps that time.tolerance controls have a limit");
    if (p.is_given("time", "largest_step")) options.largest_step = p.real("time", "largest_step");
    if (p.is_given("time", "smallest_step")) options.smallest_step = p.real("time", "smallest_step");
    if (!options.controlled() && p.is_given("time", "time_step"))
        if (const double step = p.real("time", "time_step"); std::isinf(double(options.steps) * step))
            throw UsageError(
                fmt::format("{}: {} steps of {:g} end beyond 1.8e308, the largest time that double precision "
                            "holds; give shorter steps, or fewer (time.steps)",
                            p.where("time", "time_step"), options.steps, step));
    if (options.smallest_step > options.largest_step)
        throw RefusedKey(p, "time", "smallest_step", ": is above " + p.where("time", "largest_step"));
    return options;
}

}  // namespace hyperplane
