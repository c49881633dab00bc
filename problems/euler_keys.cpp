// SPDX-License-Identifier: BSD-3-Clause
#include "problems/euler_keys.hpp"

#include <fmt/format.h>

#include "problems/euler.hpp"
#include "problems/refusal.hpp"

namespace hyperplane {
namespace {

ParameterTable flow_parameters() {
    return {
        {.section = "problem",
         .key = "case",
         .type = ParameterType::choice,
         .default_value = "pulse",
         .description = "the flow: pulse, a round rise of pressure in a uniform stream; vortex, isentropic, carried "
                        "across a square (exact); sod, a shock tube along x (exact); blast, a ball of high pressure "
                        "between walls; taylor_green, a periodic vortex array that breaks up",
         .choices = {"pulse", "vortex", "sod", "blast", "taylor_green"}},
        {.section = "problem",
         .key = "heat_capacity_ratio",
         .type = ParameterType::real,
         .default_value = "1.4",
         .description = "gamma = c_p / c_v of the gas",
         .minimum = Bound{1, true},
         .maximum = Bound{10}},
        {.section = "problem",
         .key = "pulse_amplitude",
         .type = ParameterType::real,
         .default_value = "0.5",
         .description = "rise of the pressure at the centre of case = pulse, over that of the stream",
         .minimum = Bound{-1, true}},
        {.section = "problem",
         .key = "vortex_strength",
         .type = ParameterType::real,
         .default_value = "5",
         .description = "circulation of case = vortex; at 10 the core is nearly empty",
         .minimum = Bound{0},
         .maximum = Bound{10}},
        {.section = "problem",
         .key = "mach",
         .type = ParameterType::real,
         .default_value = "0.1",
         .description = "largest velocity of case = taylor_green over the speed of sound",
         .minimum = Bound{0, true},
         .maximum = Bound{1}},
        {.section = "problem",
         .key = "blast_pressure",
         .type = ParameterType::real,
         .default_value = "10",
         .description = "pressure within the ball of case = blast",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "ambient_pressure",
         .type = ParameterType::real,
         .default_value = "0.1",
         .description = "pressure around the ball of case = blast",
         .minimum = Bound{0, true}},
    };
}

ParameterTable scheme_parameters() {
    ParameterTable table{
        {.section = "problem",
         .key = "flux",
         .type = ParameterType::choice,
         .default_value = "hllc",
         .description = "across a face: hllc, three waves, keeps contacts; rusanov, one wave speed, smears them",
         .choices = {"hllc", "rusanov"}},
        {.section = "problem",
         .key = "reconstruction",
         .type = ParameterType::choice,
         .default_value = "van_albada",
         .description = "slopes in a cell: van_albada, limited; kappa, not limited, for smooth flows only; "
                        "first_order, none",
         .choices = {"van_albada", "kappa", "first_order"}},
        {.section = "problem",
         .key = "kappa",
         .type = ParameterType::real,
         .default_value = "0.3333333333333333",
         .description = "of reconstruction = kappa: -1 upwind slopes, 0 central ones, 1/3 third order in one dimension",
         .minimum = Bound{-1},
         .maximum = Bound{1}},
        {.section = "problem",
         .key = "limiter_epsilon",
         .type = ParameterType::real,
         .default_value = "1e-3",
         .description = "of reconstruction = van_albada: squared differences well below this much of the squared "
                        "limiter_reference are not limited; smaller is sharper at shocks, less accurate at extrema",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "limiter_reference",
         .type = ParameterType::reals,
         .default_value = "1 1 1",
         .description = "density, velocity and pressure that limiter_epsilon is relative to",
         .minimum = Bound{0, true},
         .count = 3},
        {.section = "problem",
         .key = "jacobian",
         .type = ParameterType::choice,
         .default_value = "exact",
         .description = "the matrix of a Newton step: exact, the derivative of the residual; upwind2, that of the "
                        "fluxes, with upwind slopes instead of the limited ones, for shocks and large Courant numbers; "
                        "first, that of the first-order scheme",
         .choices = {"exact", "upwind2", "first"}},
        {.section = "problem",
         .key = "preconditioner_jacobian",
         .type = ParameterType::choice,
         .default_value = "first",
         .description =
             "the matrix the preconditioner is built from; factors of the exact one are of use up to Courant "
             "numbers of about 5, those of upwind2 where the flow is smooth",
         .choices = {"same", "exact", "upwind2", "first"}},
    };
    const char* description =
        "beyond the faces that are not periodic: outflow, as in the nearest cell; wall, mirrored, nothing flows "
        "through; farfield, the undisturbed state of the case; exact, its exact solution (vortex, sod); auto: exact "
        "for vortex, wall for blast, farfield for a pulse that is to become steady, else outflow";
    table.push_back({.section = "problem",
                     .key = "boundary",
                     .type = ParameterType::choice,
                     .default_value = "auto",
                     .description = description,
                     .choices = {"auto", "outflow", "wall", "farfield", "exact"}});
    for (const char* axis : {"x", "y", "z"})
        table.push_back(
            {.section = "problem",
             .key = fmt::format("boundary_{}", axis),
             .type = ParameterType::choice,
             .default_value = "same",
             .description = fmt::format("the same for the two faces across {} only; same: as boundary says", axis),
             .choices = {"same", "outflow", "wall", "farfield", "exact"}});
    return table;
}

GasCase case_called(const std::string& name) {
    return name == "pulse"    ? GasCase::pulse
           : name == "vortex" ? GasCase::vortex
           : name == "sod"    ? GasCase::sod
           : name == "blast"  ? GasCase::blast
                              : GasCase::taylor_green;
}

GasBoundary boundary_called(const std::string& name) {
    return name == "outflow" ? GasBoundary::outflow
           : name == "wall"  ? GasBoundary::wall
           : name == "exact" ? GasBoundary::exact
                             : GasBoundary::farfield;
}

GasJacobian jacobian_called(const std::string& name) {
    return name == "exact" ? GasJacobian::exact : name == "upwind2" ? GasJacobian::upwind2 : GasJacobian::first;
}

/// The domain; that of taylor_green is periodic.
Domain domain_of(const Parameters& parameters, GasCase kind) {
    Domain domain = make_domain(parameters, Centring::cell, default_lengths(parameters, euler_lengths()));
    const bool given = parameters.is_given("grid", "periodic");
    for (int axis = 0; axis < 3 && kind == GasCase::taylor_green; ++axis) {
        if (domain.flat(axis)) continue;
        if (given && !domain.grid.periodic[axis])
            refuse_key(parameters, "periodic", "case = taylor_green is periodic along every axis; remove the key",
                       "grid");
        domain.grid.periodic[axis] = true;
    }
    if (kind == GasCase::taylor_green && (domain.flat(0) || domain.flat(1)))
        refuse(parameters, "cells", "case = taylor_green needs cells along x and y", "grid");
    if (kind == GasCase::vortex && (domain.flat(0) || domain.flat(1)))
        refuse(parameters, "cells", "case = vortex turns in the x-y plane and needs cells along both", "grid");
    if (kind == GasCase::sod && (domain.flat(0) || domain.grid.periodic[0]))
        refuse(parameters, domain.flat(0) ? "cells" : "periodic",
               "case = sod is a tube along x with two ends; give cells along it and do not close it", "grid");
    for (int axis = 0; axis < 3; ++axis)
        if (domain.grid.periodic[axis] && domain.extent(axis) < 5)
            refuse(parameters, "cells",
                   fmt::format("{} cells along periodic axis {} are too few for slopes, which reach two cells to each "
                               "side; give 5 or more",
                               domain.extent(axis), "xyz"[axis]),
                   "grid");
    return domain;
}

GasFlow read_flow(const Parameters& parameters) {
    GasFlow flow;
    flow.kind = case_called(parameters.text("problem", "case"));
    flow.gas = Gas{parameters.real("problem", "heat_capacity_ratio")};
    flow.domain = domain_of(parameters, flow.kind);
    flow.amplitude = parameters.real("problem", "pulse_amplitude");
    flow.strength = parameters.real("problem", "vortex_strength");
    flow.mach = parameters.real("problem", "mach");
    flow.blast_pressure = parameters.real("problem", "blast_pressure");
    flow.ambient_pressure = parameters.real("problem", "ambient_pressure");
    flow.tube = Riemann(flow.tube.left, flow.tube.right, flow.gas.gamma);
    const std::pair<const char*, GasCase> owned[] = {{"pulse_amplitude", GasCase::pulse},
                                                     {"vortex_strength", GasCase::vortex},
                                                     {"mach", GasCase::taylor_green},
                                                     {"blast_pressure", GasCase::blast},
                                                     {"ambient_pressure", GasCase::blast}};
    for (const auto& [key, kind] : owned)
        if (parameters.is_given("problem", key) && kind != flow.kind)
            refuse_key(parameters, key,
                       "case = " + parameters.text("problem", "case") + " does not use it; remove the key");
    const double g = flow.gas.gamma, pi = std::numbers::pi;
    if (flow.kind == GasCase::vortex &&
        (g - 1) * flow.strength * flow.strength / (8 * g * pi * pi) * std::exp(1.0) >= 1.0)
        refuse(parameters, "vortex_strength", "the temperature at the centre of such a vortex is negative; give less");
    return flow;
}

std::array<GasBoundary, 3> read_boundary(const Parameters& parameters, const GasFlow& flow, Regime regime) {
    const bool streams = flow.kind == GasCase::pulse && regime == Regime::pseudo_transient;
    const std::string automatic = flow.kind == GasCase::vortex  ? "exact"
                                  : flow.kind == GasCase::blast ? "wall"
                                  : streams                     ? "farfield"
                                                                : "outflow";
    std::array<GasBoundary, 3> boundary{};
    bool common = false;  // whether faces have the boundary of problem.boundary
    for (int axis = 0; axis < 3; ++axis) {
        std::string key = fmt::format("boundary_{}", "xyz"[axis]);
        if (parameters.is_given("problem", key) && !flow.domain.bounded(axis))
            refuse_key(parameters, key,
                       fmt::format("axis {} is {}; remove the key", "xyz"[axis],
                                   flow.domain.flat(axis) ? "flat" : "periodic"));
        if (parameters.text("problem", key) == "same") {
            key = "boundary";
            common = common || flow.domain.bounded(axis);
        }
        const std::string& name = parameters.text("problem", key);
        boundary[axis] = boundary_called(name == "auto" ? automatic : name);
        if (name == "exact" && !GasFlow::has_exact_state(flow.kind))
            refuse(parameters, key,
                   "the solution of case = " + parameters.text("problem", "case") +
                       " is not known; take outflow, wall or farfield");
    }
    if (!common && parameters.is_given("problem", "boundary"))
        refuse_key(parameters, "boundary",
                   flow.domain.has_boundary() ? "all faces have boundaries of their own; remove the key"
                                              : "all axes are flat or periodic; remove the key");
    return boundary;
}

Reconstruction read_reconstruction(const Parameters& parameters) {
    Reconstruction reconstruction;
    const std::string& name = parameters.text("problem", "reconstruction");
    reconstruction.kind = name == "van_albada" ? ReconstructionKind::van_albada
                          : name == "kappa"    ? ReconstructionKind::kappa
                                               : ReconstructionKind::first_order;
    reconstruction.kappa = parameters.real("problem", "kappa");
    const double e = parameters.real("problem", "limiter_epsilon");
    const auto scale = parameters.reals("problem", "limiter_reference");
    for (int c = 0; c < 5; ++c) {
        const double q = scale[c == 0 ? 0 : c == 4 ? 2 : 1];
        reconstruction.epsilon[c] = e * q * q;
    }
    if (parameters.is_given("problem", "kappa") && reconstruction.kind != ReconstructionKind::kappa)
        refuse_key(parameters, "kappa", "only reconstruction = kappa uses it; remove the key");
    for (const char* key : {"limiter_epsilon", "limiter_reference"})
        if (parameters.is_given("problem", key) && reconstruction.kind != ReconstructionKind::van_albada)
            refuse_key(parameters, key, "only reconstruction = van_albada uses it; remove the key");
    return reconstruction;
}

}  // namespace

std::vector<OwnLengths> euler_lengths() {
    constexpr double round = 2 * std::numbers::pi;
    return {{{"case", "vortex"}, {10.0, 10.0, 10.0}}, {{"case", "taylor_green"}, {round, round, round}, "2 pi"}};
}

ParameterTable euler_parameters() {
    ParameterTable table{regime_parameter({Regime::transient, Regime::pseudo_transient},
                                          "transient: steps that follow the flow; pseudo_transient: steps of growing "
                                          "length towards a steady flow. cfl = 5 unless given, cfl_max = 1000")};
    for (ParameterTable part : {flow_parameters(), scheme_parameters()})
        table.insert(table.end(), part.begin(), part.end());
    return table;
}

Stencil GasKeys::stencil() const {
    const bool first_order = reconstruction.kind == ReconstructionKind::first_order;
    const auto reaches = [&](GasJacobian kind) {
        return kind == GasJacobian::upwind2 || (kind == GasJacobian::exact && !first_order);
    };
    return reaches(jacobian) || reaches(preconditioner_jacobian) ? Stencil::star13() : Stencil::star7();
}

GasKeys read_gas_keys(const Parameters& parameters) {
    GasKeys keys;
    keys.flow = read_flow(parameters);
    keys.flux = parameters.text("problem", "flux") == "hllc" ? FluxKind::hllc : FluxKind::rusanov;
    keys.reconstruction = read_reconstruction(parameters);
    keys.regime = read_regime(parameters);
    keys.boundary = read_boundary(parameters, keys.flow, keys.regime);
    const std::string& matrix = parameters.text("problem", "jacobian");
    const std::string& factored = parameters.text("problem", "preconditioner_jacobian");
    keys.jacobian = jacobian_called(matrix);
    keys.preconditioner_jacobian = factored == "same" ? keys.jacobian : jacobian_called(factored);
    if (keys.reconstruction.kind == ReconstructionKind::first_order) {
        for (const char* key : {"jacobian", "preconditioner_jacobian"})
            if (parameters.text("problem", key) == "upwind2" && parameters.is_given("problem", key))
                refuse(parameters, key, "reconstruction = first_order has no slopes; take exact or first");
        if (!parameters.is_given("problem", "preconditioner_jacobian")) keys.preconditioner_jacobian = keys.jacobian;
    }
    if (keys.regime == Regime::pseudo_transient) keys.cfl = cfl_range(parameters, 5.0, 1e3);
    keys.steps = step_rule(parameters, 5.0);
    keys.own_state = !parameters.has("initial", "file") || !parameters.is_set("initial", "file");
    return keys;
}

}  // namespace hyperplane
