// SPDX-License-Identifier: BSD-3-Clause
#include "problems/navier_stokes_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "problems/navier_stokes.hpp"
#include "problems/refusal.hpp"

namespace hyperplane {
namespace {

constexpr double least_share_of_tau = 0.06;  // dt / 2 over the tau of long steps

FlowCase flow_case(const std::string& name) {
    return name == "cavity" ? FlowCase::cavity : name == "kovasznay" ? FlowCase::kovasznay : FlowCase::ethier_steinman;
}

/// The box of nodes. Unless grid.lengths is given, elements of plane flows have equal edges along x and z.
Domain read_domain(const Parameters& parameters, FlowCase kind) {
    const Domain cube = make_domain(parameters, Centring::node_keep, {1.0, 1.0, 1.0}, 2);
    const Grid& grid = cube.grid;
    if (grid.any_periodic())
        refuse(parameters, "periodic", "navier_stokes has walls or planes of symmetry on all faces; take none", "grid");
    for (int axis = 0; axis < 3; ++axis)
        if (cube.extent(axis) < (axis == 2 ? 2 : 3))
            refuse(parameters, "cells",
                   fmt::format("{} nodes along {}, but navier_stokes needs 3 or more along x and y, and along z 2 for "
                               "a plane flow or 3 and more",
                               cube.extent(axis), "xyz"[axis]),
                   "grid");
    if (kind == FlowCase::ethier_steinman && grid.nz == 2)
        refuse(parameters, "cells", "Ethier and Steinman's flow has three dimensions; give 3 nodes or more along z",
               "grid");
    const bool plane = grid.nz == 2 || kind == FlowCase::kovasznay;
    if (!plane || parameters.is_given("grid", "lengths")) return cube;
    return make_domain(parameters, Centring::node_keep, {1.0, 1.0, double(grid.nz - 1) / (grid.nx - 1)}, 2);
}

double read_viscosity(const Parameters& parameters, FlowCase kind) {
    if (parameters.is_set("problem", "reynolds")) return 1.0 / parameters.real("problem", "reynolds");
    return kind == FlowCase::cavity ? 1.0 / 100.0 : kind == FlowCase::kovasznay ? 1.0 / 40.0 : 1.0;
}

Regime read_flow_regime(const Parameters& parameters, FlowCase kind) {
    const std::string& name = parameters.text("problem", "regime");
    if (name == "auto") return kind == FlowCase::ethier_steinman ? Regime::transient : Regime::pseudo_transient;
    if (kind == FlowCase::ethier_steinman && name != "transient")
        refuse(parameters, "regime", "Ethier and Steinman's flow decays in time; take transient or auto");
    return read_regime(parameters);
}

void read_faces(const Parameters& parameters, FlowKeys& keys) {
    const bool plane = keys.domain.grid.nz == 2, half = parameters.text("problem", "symmetry") == "y";
    Flow& flow = keys.flow;
    for (auto& axis : flow.faces) axis[0] = axis[1] = FaceKind::velocity;
    if (plane || flow.kind == FlowCase::kovasznay) flow.faces[2][0] = flow.faces[2][1] = FaceKind::symmetry;
    flow.lid_axis = flow.kind != FlowCase::cavity ? -1 : plane ? 1 : 2;
    if (!half) return;
    if (flow.kind != FlowCase::cavity || plane)
        refuse(parameters, "symmetry", "only the cavity in three dimensions has a plane of symmetry; take none");
    flow.faces[1][1] = FaceKind::symmetry;
}

/// Node coordinates x = length [1 + tanh(s (2 t - 1)) / tanh(s)] / 2, dense at both ends; uniform for s = 0. With
/// `half`, the axis ends where an axis of twice the length would have its middle.
std::vector<double> coordinates(int nodes, double length, double s, bool half) {
    std::vector<double> x(nodes);
    for (int i = 0; i < nodes; ++i) {
        const double t = double(i) / (nodes - 1), whole = half ? t / 2 : t;
        const double at = s == 0.0 ? whole : 0.5 * (1.0 + std::tanh(s * (2 * whole - 1)) / std::tanh(s));
        x[i] = (half ? 2 * length : length) * at;
    }
    x.back() = length;
    return x;
}

void read_nodes(const Parameters& parameters, FlowKeys& keys) {
    const std::vector<double> s = parameters.reals("problem", "stretching");
    if (s.size() != 1 && s.size() != 3)
        refuse(parameters, "stretching", fmt::format("expected one number or three, got {}", s.size()));
    for (int axis = 0; axis < 3; ++axis) {
        const bool half = keys.flow.faces[axis][0] != keys.flow.faces[axis][1];
        const double strength = keys.domain.extent(axis) == 2 ? 0.0 : s[s.size() == 3 ? axis : 0];
        if (strength > 0.0 && keys.flow.kind == FlowCase::kovasznay)
            refuse(
                parameters, "stretching",
                "on uneven nodes the velocities prescribed for kovasznay carry some fluid in, and no flow is steady; "
                "take 0");
        keys.stretched = keys.stretched || strength > 0.0;
        keys.nodes[axis] = coordinates(keys.domain.extent(axis), keys.domain.lengths[axis], strength, half);
    }
}

}  // namespace

std::vector<OwnLengths> navier_stokes_lengths() {
    return {{{"name", "navier_stokes"},
             {},
             "1, but along z of plane flows and of case = kovasznay so long that edges along x and z are equal"}};
}

ParameterTable navier_stokes_parameters() {
    return {
        {.section = "problem",
         .key = "case",
         .type = ParameterType::choice,
         .default_value = "cavity",
         .description =
             "cavity: a box at rest whose lid, the last face along z, moves with u = 1 but for its edges; along y in a "
             "plane flow. kovasznay: flow behind a grid, steady and known. ethier_steinman: a decaying flow in three "
             "dimensions, known",
         .choices = {"cavity", "kovasznay", "ethier_steinman"}},
        {.section = "problem",
         .key = "reynolds",
         .type = ParameterType::real,
         .default_value = "",
         .description = "Reynolds number 1 / nu of unit length and velocity; cavity has 100, kovasznay 40, "
                        "ethier_steinman 1 unless given",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "artificial_compressibility",
         .type = ParameterType::real,
         .default_value = "",
         .description = "beta in p_t / beta + div u = 0: 1 towards a steady state, which does not depend on it, 1e8 in "
                        "time, where it must be large, unless given",
         .unit = "velocity^2",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "regime",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "pseudo_transient: steps towards a steady state; transient: steps in time; auto: the first but "
                        "for ethier_steinman. time.cfl is the step over the smallest spacing, 10 or 0.4 unless given",
         .choices = {"auto", "pseudo_transient", "transient"}},
        {.section = "problem",
         .key = "stretching",
         .type = ParameterType::reals,
         .default_value = "0",
         .description =
             "s, one number or one for each axis: nodes lie at x = [1 + tanh(s (2t - 1)) / tanh(s)] / 2 of "
             "the length, dense at both walls; 0: evenly. The files of fields have even spacings, and the nodes' own "
             "places as the field position",
         .minimum = Bound{0},
         .maximum = Bound{10}},
        {.section = "problem",
         .key = "symmetry",
         .type = ParameterType::choice,
         .default_value = "none",
         .description = "y: the grid is the half of a cavity before its plane of symmetry, the last face along y",
         .choices = {"none", "y"}},
    };
}

double FlowKeys::least_spacing() const {
    double least = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < 3; ++axis)
        for (std::size_t i = 1; i < nodes[axis].size() && nodes[axis].size() > 2; ++i)
            least = std::min(least, nodes[axis][i] - nodes[axis][i - 1]);
    return least;
}

double FlowKeys::least_stable_step() const {
    double of_velocity = 0.0, of_viscosity = 0.0;  // of 1 / tau^2
    for (const auto& x : nodes) {
        double largest = 0.0;
        for (std::size_t i = 1; i < x.size(); ++i) largest = std::max(largest, x[i] - x[i - 1]);
        if (x.size() > 2) of_velocity += 4.0 / (largest * largest);
        of_viscosity += 4.0 * flow.viscosity / (largest * largest);
    }
    return 2.0 * least_share_of_tau / std::sqrt(of_velocity + of_viscosity * of_viscosity);
}

FlowKeys read_flow_keys(const Parameters& parameters) {
    FlowKeys keys;
    keys.flow.kind = flow_case(parameters.text("problem", "case"));
    keys.domain = read_domain(parameters, keys.flow.kind);
    keys.flow.mesh.grid = keys.domain.grid;
    keys.flow.viscosity = read_viscosity(parameters, keys.flow.kind);
    keys.regime = read_flow_regime(parameters, keys.flow.kind);
    keys.flow.pseudo = keys.regime == Regime::pseudo_transient;
    keys.flow.compliance = parameters.is_set("problem", "artificial_compressibility")
                               ? 1.0 / parameters.real("problem", "artificial_compressibility")
                           : keys.flow.pseudo ? 1.0
                                              : 1e-8;
    read_faces(parameters, keys);
    read_nodes(parameters, keys);
    if (keys.flow.pseudo) keys.cfl = cfl_range(parameters, 10.0, 1e4);
    keys.step = step_rule(parameters, keys.flow.pseudo ? keys.cfl.first : 0.4);
    return keys;
}

}  // namespace hyperplane
