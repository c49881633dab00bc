// SPDX-License-Identifier: BSD-3-Clause
#include "problems/cahn_hilliard_keys.hpp"

#include <fmt/format.h>

#include "problems/cahn_hilliard.hpp"
#include "problems/refusal.hpp"

namespace hyperplane {
namespace {

ParameterSpec real(const char* key, const char* value, const char* description, std::optional<Bound> minimum = {},
                   const char* unit = "") {
    return {.section = "problem",
            .key = key,
            .type = ParameterType::real,
            .default_value = value,
            .description = description,
            .unit = unit,
            .minimum = minimum};
}

ParameterTable mixture_parameters() {
    const Bound positive{0, true}, not_negative{0};
    return {
        {.section = "problem",
         .key = "fields",
         .type = ParameterType::choice,
         .default_value = "two",
         .description =
             "two: u tells polymer from solvent, v the two blocks of the copolymer; one: u alone, two phases",
         .choices = {"two", "one"}},
        real("epsilon_u", "0.05", "eps_u; a wall of u is about 4 eps_u thick and should span 3 cells or more", positive,
             "length"),
        real("epsilon_v", "0.05", "eps_v, likewise of v", positive, "length"),
        real("relaxation_u", "1", "tau_u; the larger it is, the more slowly u changes", positive, "time/length^2"),
        real("relaxation_v", "1", "tau_v; the larger it is, the more slowly v changes", positive, "time/length^2"),
        real("coupling_b1", "0", "b1 of the energy b1 u v"),
        real("coupling_b2", "1", "b2 of the energy -b2 u v^2 / 2: v separates where u is high"),
        real("sigma", "",
             "strength of the long-range term on the last field, which keeps its domains small: with it a copolymer "
             "forms lamellae; 20 for two fields and 0 for one unless given",
             not_negative, "1/length^2"),
        real("spacing", "0.016", "edge of a cell where grid.lengths is not given", positive, "length"),
    };
}

ParameterTable run_parameters() {
    return {
        {.section = "problem",
         .key = "scheme",
         .type = ParameterType::choice,
         .default_value = "implicit",
         .description =
             "implicit: all terms at the end of a step, the time derivative by time.scheme; avf: average vector field, "
             "of second order, with a time derivative of its own; the energy falls for any step",
         .choices = {"implicit", "avf"}},
        {.section = "problem",
         .key = "starting_steps",
         .type = ParameterType::integer,
         .default_value = "",
         .description =
             "steps of implicit Euler before scheme = avf begins, since that does not damp rough data; 4 for "
             "initial_condition = random and 0 else unless given",
         .minimum = Bound{0}},
        {.section = "problem",
         .key = "initial_condition",
         .type = ParameterType::choice,
         .default_value = "smooth",
         .description =
             "smooth: mean + amplitude times cosines; random: mean + amplitude times uniform in (-1, 1); wall: "
             "u = tanh((x - Lx/2) / (sqrt 2 eps_u)), v = mean_v; manufactured: as right_hand_side has it",
         .choices = {"smooth", "random", "wall", "manufactured"}},
        real("mean_u", "-0.4", "mean of u, which never changes; a state from initial.file keeps its own"),
        real("mean_v", "-0.2", "mean of v, which never changes; a state from initial.file keeps its own"),
        real("amplitude", "0.4", "of initial_condition = smooth and random", Bound{0}),
        {.section = "problem",
         .key = "seed",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "seed of initial_condition = random",
         .minimum = Bound{0}},
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::choice,
         .default_value = "zero",
         .description = "manufactured: a source makes u = cos(pi x) cos(pi y) cos(2 pi z) (1 + sin(10 t)/2)/2 and v = "
                        "mean_v + 0.4 cos(2 pi x) cos(pi y) cos(pi z) cos(8 t) the solution, lengths scaled to the box",
         .choices = {"zero", "manufactured"}},
    };
}

Domain read_domain(const Parameters& parameters) {
    if (parameters.is_given("problem", "spacing") && parameters.is_given("grid", "lengths"))
        refuse_key(parameters, "spacing", "contradicts " + parameters.where("grid", "lengths") + "; give one of them");
    const double h = parameters.real("problem", "spacing");
    const auto cells = parameters.integers("grid", "cells");
    std::array<double, 3> lengths;
    for (int axis = 0; axis < 3; ++axis) lengths[axis] = h * double(cells[cells.size() == 3 ? axis : 0]);
    Domain domain = make_domain(parameters, Centring::cell, lengths);
    for (int axis = 0; axis < 3; ++axis)
        if (domain.grid.periodic[axis] && domain.extent(axis) < 5)
            refuse(parameters, "cells",
                   fmt::format("{} cells along periodic axis {} are too few for fourth derivatives, which reach two "
                               "cells to each side; give 5 or more",
                               domain.extent(axis), "xyz"[axis]),
                   "grid");
    return domain;
}

Mixture read_mixture(const Parameters& parameters, int fields) {
    Mixture mixture;
    mixture.eps[0] = parameters.real("problem", "epsilon_u");
    mixture.eps[1] = parameters.real("problem", "epsilon_v");
    mixture.tau[0] = parameters.real("problem", "relaxation_u");
    mixture.tau[1] = parameters.real("problem", "relaxation_v");
    mixture.b1 = parameters.real("problem", "coupling_b1");
    mixture.b2 = parameters.real("problem", "coupling_b2");
    mixture.sigma = parameters.is_set("problem", "sigma") ? parameters.real("problem", "sigma")
                    : fields == 2                         ? 20.0
                                                          : 0.0;
    mixture.mean[0] = parameters.real("problem", "mean_u");
    mixture.mean[1] = parameters.real("problem", "mean_v");
    for (const char* key : {"epsilon_v", "relaxation_v", "coupling_b1", "coupling_b2", "mean_v"})
        if (fields == 1 && parameters.is_given("problem", key))
            refuse_key(parameters, key, "fields = one has no v; remove the key");
    return mixture;
}

void read_start(const Parameters& parameters, MixtureKeys& keys) {
    const std::string& name = parameters.text("problem", "initial_condition");
    keys.manufactured = parameters.text("problem", "right_hand_side") == "manufactured";
    keys.start.kind = keys.manufactured  ? MixtureStart::manufactured
                      : name == "smooth" ? MixtureStart::smooth
                      : name == "random" ? MixtureStart::random
                      : name == "wall"   ? MixtureStart::wall
                                         : MixtureStart::manufactured;
    if (keys.manufactured && parameters.is_given("problem", "initial_condition") && name != "manufactured")
        refuse_key(parameters, "initial_condition",
                   "right_hand_side = manufactured begins with its own; remove the key");
    const bool plain = keys.start.kind == MixtureStart::smooth || keys.start.kind == MixtureStart::random;
    for (const char* key : {"amplitude", "mean_u"})
        if (!plain && parameters.is_given("problem", key))
            refuse_key(parameters, key, "only initial_condition = smooth and random use it; remove the key");
    if (!plain) keys.mixture.mean[0] = 0.0;
    if (keys.start.kind != MixtureStart::random && parameters.is_given("problem", "seed"))
        refuse_key(parameters, "seed", "only initial_condition = random uses it; remove the key");
    if (keys.start.kind != MixtureStart::random && keys.domain.grid.any_periodic())
        refuse(parameters, "initial_condition",
               fmt::format("{} is not periodic along {}; take random",
                           keys.start.kind == MixtureStart::manufactured ? "manufactured" : name,
                           periodic_axes(keys.domain.grid)));
    if (keys.start.kind == MixtureStart::wall && keys.domain.flat(0))
        refuse(parameters, "initial_condition", "wall needs cells along x");
    keys.start.domain = keys.domain;
    keys.start.mixture = keys.mixture;
    keys.start.amplitude = parameters.real("problem", "amplitude");
    keys.start.seed = std::uint64_t(parameters.integer("problem", "seed"));
}

void read_scheme(const Parameters& parameters, MixtureKeys& keys) {
    keys.averaged = parameters.text("problem", "scheme") == "avf";
    if (!keys.averaged && parameters.is_given("problem", "starting_steps"))
        refuse_key(parameters, "starting_steps", "only scheme = avf uses it; remove the key");
    if (keys.averaged && parameters.has("time", "scheme") && parameters.text("time", "scheme") != "implicit_euler")
        refuse_key(parameters, "scheme", "problem.scheme = avf has a time derivative of its own; remove the key",
                   "time");
    keys.starting_steps = parameters.is_set("problem", "starting_steps")
                              ? parameters.integer("problem", "starting_steps")
                          : keys.averaged && keys.start.kind == MixtureStart::random ? 4
                                                                                     : 0;
    if (parameters.is_given("time", "cfl"))
        refuse_key(parameters, "cfl",
                   "this problem has no velocity, so no Courant number is defined; give time.time_step", "time");
    if (parameters.is_given("time", "time_step")) keys.time_step = parameters.real("time", "time_step");
}

}  // namespace

ParameterTable cahn_hilliard_parameters() {
    ParameterTable table = mixture_parameters();
    for (ParameterSpec& spec : run_parameters()) table.push_back(std::move(spec));
    return table;
}

std::vector<OwnLengths> cahn_hilliard_lengths() {
    return {{{"name", "cahn_hilliard"}, {}, "problem.spacing times grid.cells"}};
}

MixtureKeys read_mixture_keys(const Parameters& parameters) {
    MixtureKeys keys;
    keys.domain = read_domain(parameters);
    keys.fields = parameters.text("problem", "fields") == "two" ? 2 : 1;
    keys.mixture = read_mixture(parameters, keys.fields);
    read_start(parameters, keys);
    read_scheme(parameters, keys);
    keys.own_state = !parameters.has("initial", "file") || !parameters.is_set("initial", "file");
    return keys;
}

}  // namespace hyperplane
