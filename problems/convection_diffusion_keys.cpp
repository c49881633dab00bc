// SPDX-License-Identifier: BSD-3-Clause
#include "problems/convection_diffusion_keys.hpp"

#include <algorithm>

#include "problems/refusal.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

ParameterTable equation_parameters() {
    return {
        regime_parameter({Regime::transient, Regime::steady},
                         "transient: the steps of section [time], cfl = 38 unless given; steady: no time "
                         "term"),
        {.section = "problem",
         .key = "viscosity",
         .type = ParameterType::real,
         .default_value = "1e-3",
         .description = "nu, the diffusion coefficient; or give peclet",
         .unit = "length^2/time",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "peclet",
         .type = ParameterType::real,
         .default_value = "",
         .description =
             "largest velocity component times the longest side of the domain over viscosity; or give viscosity",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "wind",
         .type = ParameterType::choice,
         .default_value = "rotate",
         .description = "velocity b, divergence-free; with X = 2x/Lx - 1, Y likewise: const: wind_velocity; rotate: "
                        "(-Y, X, 0); recirc: (2Y(1-X^2), -2X(1-Y^2), 0); abc: Arnold, Beltrami and Childress' sines",
         .choices = {"const", "rotate", "recirc", "abc"}},
        {.section = "problem",
         .key = "wind_velocity",
         .type = ParameterType::reals,
         .default_value = "0.5773502691896258 0.5773502691896258 0.5773502691896258",
         .description = "bx by bz of wind = const; the unit diagonal unless given",
         .unit = "length/time",
         .count = 3},
        {.section = "problem",
         .key = "scheme",
         .type = ParameterType::choice,
         .default_value = "upwind",
         .description =
             "flux across a face: upwind (first order), central (second order, oscillates where |b| h / viscosity "
             "> 2), sg (Scharfetter-Gummel, second order, never oscillates)",
         .choices = {"upwind", "central", "sg"}},
        {.section = "problem",
         .key = "preconditioner_scheme",
         .type = ParameterType::choice,
         .default_value = "same",
         .description = "flux in the matrix the preconditioner is built from",
         .choices = {"same", "upwind", "central", "sg"}},
    };
}

ParameterTable data_parameters() {
    return {
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description =
             "zero, ones, random: f = 0, 1, uniform in (-1, 1); xones: b = A 1; manuexp: u = -x e^(y+z). The "
             "last two need regime = steady. auto: zero when transient or with a hot wall, else ones",
         .choices = {"auto", "zero", "ones", "random", "xones", "manuexp"}},
        {.section = "problem",
         .key = "boundary_value",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description =
             "zero: u = 0 on the boundary; hot_wall: u = 1 on the face x = Lx, 0 elsewhere; auto: hot_wall for "
             "wind = recirc with a right-hand side of zero or auto, else zero",
         .choices = {"auto", "zero", "hot_wall"}},
        {.section = "problem",
         .key = "initial_condition",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "state before the first step, or first guess when steady; gaussian: exp(-gaussian_sharpness "
                        "|x - gaussian_centre|^2); auto: gaussian when transient, zero when steady",
         .choices = {"auto", "zero", "gaussian", "random"}},
        {.section = "problem",
         .key = "gaussian_centre",
         .type = ParameterType::reals,
         .default_value = "0.3 0.3 0.3",
         .description = "centre of initial_condition = gaussian",
         .unit = "domain units",
         .count = 3},
        {.section = "problem",
         .key = "gaussian_sharpness",
         .type = ParameterType::real,
         .default_value = "100",
         .description = "decay of initial_condition = gaussian",
         .unit = "1/length^2",
         .minimum = Bound{0}},
        {.section = "problem",
         .key = "seed",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "seed of the random right-hand side and the random initial state",
         .minimum = Bound{0}},
        boundary_rows_parameter(),
    };
}

Scheme scheme_called(const std::string& name) {
    return name == "upwind" ? Scheme::upwind : name == "central" ? Scheme::central : Scheme::sg;
}

Wind read_wind(const Parameters& parameters, const Domain& domain) {
    const std::string& name = parameters.text("problem", "wind");
    Wind wind;
    wind.lengths = domain.lengths;
    wind.kind = name == "const"    ? WindKind::constant
                : name == "rotate" ? WindKind::rotate
                : name == "recirc" ? WindKind::recirc
                                   : WindKind::abc;
    if (wind.kind == WindKind::constant) {
        const auto b = parameters.reals("problem", "wind_velocity");
        wind.velocity = {b[0], b[1], b[2]};
    } else if (parameters.is_given("problem", "wind_velocity")) {
        refuse_key(parameters, "wind_velocity", "only wind = const uses it, not " + name + "; remove the key");
    }
    if (wind.kind == WindKind::recirc && domain.lengths[0] != domain.lengths[1])
        refuse(parameters, "wind",
               "recirc is divergence-free only where the sides along x and y are equal; change "
               "grid.lengths");
    if ((wind.kind == WindKind::rotate || wind.kind == WindKind::recirc) &&
        (domain.grid.periodic[0] || domain.grid.periodic[1]))
        refuse(parameters, "wind", name + " is not periodic along x and y; take const or abc, or grid.periodic = z");
    return wind;
}

double read_viscosity(const Parameters& parameters, const TransportKeys& keys) {
    if (!parameters.is_given("problem", "peclet")) return parameters.real("problem", "viscosity");
    if (parameters.is_given("problem", "viscosity"))
        refuse_key(parameters, "peclet",
                   "contradicts " + parameters.where("problem", "viscosity") + "; give one of them");
    const double velocity = keys.largest_velocity();
    if (velocity == 0.0)
        refuse(parameters, "peclet", "a Peclet number needs a wind, and the wind is zero; give viscosity");
    double longest = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        if (!keys.domain.flat(axis)) longest = std::max(longest, keys.domain.lengths[axis]);
    return velocity * longest / parameters.real("problem", "peclet");
}

void read_data(const Parameters& parameters, TransportKeys& keys) {
    const std::string& source = parameters.text("problem", "right_hand_side");
    const std::string& wall = parameters.text("problem", "boundary_value");
    const bool free_source = source == "zero" || source == "auto";
    keys.hot_wall = wall == "hot_wall" || (wall == "auto" && keys.wind.kind == WindKind::recirc && free_source);
    keys.source = source == "zero" || (source == "auto" && (!keys.steady() || keys.hot_wall)) ? SourceKind::zero
                  : source == "auto"   ? (keys.singular() ? SourceKind::random : SourceKind::ones)
                  : source == "ones"   ? SourceKind::ones
                  : source == "random" ? SourceKind::random
                  : source == "xones"  ? SourceKind::row_sum
                                       : SourceKind::exact;
    const bool fixed = keys.source == SourceKind::exact || keys.source == SourceKind::row_sum;
    if (fixed && !keys.steady()) refuse(parameters, "right_hand_side", source + " needs problem.regime = steady");
    if (fixed && parameters.is_given("problem", "boundary_value"))
        refuse_key(parameters, "boundary_value",
                   "right_hand_side = " + source + " sets the boundary values; remove the key");
    if (!keys.domain.has_boundary() && parameters.is_given("problem", "boundary_value"))
        refuse_key(parameters, "boundary_value", "all axes are flat or periodic; remove the key");
    if (keys.hot_wall && !keys.domain.bounded(0))
        refuse(parameters, "boundary_value", "hot_wall needs a face x = Lx, but axis x is flat or periodic; take zero");
    if (keys.singular() && (keys.source == SourceKind::ones || keys.source == SourceKind::row_sum))
        refuse(parameters, "right_hand_side",
               "u is known up to a constant, and the part of " + source + " that has a solution is zero; take random");
    if (keys.source == SourceKind::exact) {
        if (keys.domain.grid.any_periodic())
            refuse(parameters, "right_hand_side",
                   "the manufactured solution is not periodic along " + periodic_axes(keys.domain.grid));
        keys.exact = ExactSolution::on(keys.domain, ExactKind::manuexp);
    }
}

void read_initial_state(const Parameters& parameters, TransportKeys& keys) {
    const std::string& name = parameters.text("problem", "initial_condition");
    const bool gaussian = name == "gaussian" || (name == "auto" && !keys.steady());
    keys.initial = gaussian ? InitialKind::gaussian : name == "random" ? InitialKind::random : InitialKind::zero;
    const auto centre = parameters.reals("problem", "gaussian_centre");
    keys.gaussian_centre = {centre[0], centre[1], centre[2]};
    keys.gaussian_sharpness = parameters.real("problem", "gaussian_sharpness");
    for (const char* key : {"gaussian_centre", "gaussian_sharpness"})
        if (!gaussian && parameters.is_given("problem", key))
            refuse_key(parameters, key, "only initial_condition = gaussian uses it; remove the key");
}

void check_seed(const Parameters& parameters, const TransportKeys& keys) {
    const bool random = keys.source == SourceKind::random || keys.initial == InitialKind::random;
    if (!random && parameters.is_given("problem", "seed"))
        refuse_key(parameters, "seed",
                   "only right_hand_side = random and initial_condition = random use it; remove the key");
}

}  // namespace

ParameterTable convection_diffusion_parameters() {
    ParameterTable table = equation_parameters();
    for (ParameterSpec& spec : data_parameters()) table.push_back(std::move(spec));
    return table;
}

TransportKeys read_transport_keys(const Parameters& parameters) {
    TransportKeys keys;
    keys.domain = make_domain(parameters, node_centring(parameters));
    keys.wind = read_wind(parameters, keys.domain);
    keys.viscosity = read_viscosity(parameters, keys);
    const std::string& preconditioner = parameters.text("problem", "preconditioner_scheme");
    keys.scheme = scheme_called(parameters.text("problem", "scheme"));
    keys.preconditioner_scheme = preconditioner == "same" ? keys.scheme : scheme_called(preconditioner);
    if (read_regime(parameters) == Regime::steady)
        refuse_time_keys(parameters, "problem.regime = steady takes no time steps");
    else
        keys.time_step = chosen_time_step(parameters, 38.0, keys.largest_velocity(), keys.domain.mean_spacing());
    keys.seed = std::uint64_t(parameters.integer("problem", "seed"));
    read_data(parameters, keys);
    read_initial_state(parameters, keys);
    check_seed(parameters, keys);
    return keys;
}

}  // namespace hyperplane
