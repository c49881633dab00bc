// SPDX-License-Identifier: BSD-3-Clause
#include "problems/navier_stokes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/vector/point_values.hpp"
#include "problems/error_norms.hpp"
#include "problems/navier_stokes_keys.hpp"
#include "problems/navier_stokes_loops.hpp"

namespace hyperplane {
namespace {

/// The tables of the mesh in one array: the coordinates of x, y and z, then the spacings, then their inverses.
Buffer<double> mesh_tables(const FlowKeys& keys, const Context& context) {
    std::vector<double> table;
    for (const auto& x : keys.nodes) table.insert(table.end(), x.begin(), x.end());
    for (bool inverse : {false, true})
        for (const auto& x : keys.nodes)
            for (std::size_t i = 1; i < x.size(); ++i)
                table.push_back(inverse ? 1.0 / (x[i] - x[i - 1]) : x[i] - x[i - 1]);
    return copied_to(context, "coordinates", table);
}

Flow on_tables(const FlowKeys& keys, const double* table) {
    Flow flow = keys.flow;
    const auto take = [&](const double*(&of)[3], int fewer) {
        for (int axis = 0; axis < 3; ++axis) {
            of[axis] = table;
            table += keys.nodes[axis].size() - fewer;
        }
    };
    take(flow.mesh.nodes, 0);
    take(flow.mesh.h, 1);
    take(flow.mesh.inverse_h, 1);
    return flow;
}

class NavierStokes final : public Problem {
public:
    NavierStokes(SystemShape shape, FlowKeys keys, const Context& context)
        : Problem(std::move(shape)),
          keys_(std::move(keys)),
          tables_(mesh_tables(keys_, context)),
          flow_(on_tables(keys_, tables_.data())),
          energy_(context, shape_.grid, "kinetic energy") {}

    void initial_state(Vector& u) const override { flow_initial_state(flow_, u); }
    double time_step(const Vector&) const override { return keys_.step.length(keys_.least_spacing()); }
    CflRange cfl_range() const override { return keys_.cfl; }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        flow_residual(step_of(u, level), f);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        flow_jacobian(step_of(u, level), structured(a));
    }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override {
        flow_kinetic_energy(flow_, u, energy_.view(u.layout()));
        return {{"kinetic_energy", energy_.sum(), "kinetic energy, the integral of |u|^2 / 2", "velocity^2 volume"}};
    }
    std::vector<std::string> diagnostic_names() const override { return {"kinetic_energy"}; }
    double courant_number(const Vector&, double dt) const override { return dt / keys_.least_spacing(); }
    std::vector<Field> fields() const override;
    std::vector<std::string> warnings() const override;
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override;
    std::vector<std::string> error_names() const override {
        if (flow_.kind == FlowCase::cavity) return {};
        return {"max", "velocity_rms", "pressure_rms"};
    }

private:
    FlowStep step_of(const Vector& u, const TimeLevel& level) const {
        return {.flow = flow_,
                .u = view(u),
                .old = view(*level.old),
                .older = level.older ? view(*level.older) : ConstVectorView{},
                .rate = {level.rate[0], level.rate[1], level.rate[2]},
                .damping = flow_.pseudo ? 0.0 : 2.0 / level.dt,
                .time = level.time};
    }

    /// Component c of the exact solution, if there is one.
    double exact(int c, Int3 p, double time) const {
        const auto& x = keys_.nodes;
        const Position at{x[0][p.x], x[1][p.y], x[2][p.z]};
        return flow_.kind == FlowCase::kovasznay ? kovasznay(c, at, flow_.viscosity)
                                                 : ethier_steinman(c, at, time, flow_.viscosity);
    }

    FlowKeys keys_;
    Buffer<double> tables_;
    Flow flow_;
    mutable PointValues energy_;
};

/// Velocity and pressure, and the velocity's error if the solution is known; no boundary gives the pressure
/// a level, so that its mean drifts with the net flux of the prescribed velocities, and is left out. On stretched grids
/// also where the nodes are, since images have even spacings.
std::vector<Field> NavierStokes::fields() const {
    std::vector<Field> all{field_of_unknowns("velocity", 0, 3, "length/time", "velocity"),
                           field_of_unknowns("pressure", 3, 1, "length^2/time^2",
                                             "pressure over density, less its mean over the nodes", true)};
    if (keys_.stretched)
        all.push_back({.name = "position",
                       .components = 3,
                       .unit = "length",
                       .description = "coordinates of the node, whose distances differ",
                       .at = [this](const double*, Int3 p, double, double* values) {
                           const int at[3] = {p.x, p.y, p.z};
                           for (int c = 0; c < 3; ++c) values[c] = keys_.nodes[c][at[c]];
                       }});
    if (flow_.kind == FlowCase::cavity) return all;
    all.push_back({.name = "velocity_error",
                   .components = 3,
                   .unit = "length/time",
                   .description = "velocity minus the exact solution",
                   .at = [this](const double* unknowns, Int3 p, double time, double* values) {
                       for (int c = 0; c < 3; ++c) values[c] = unknowns[c] - exact(c, p, time);
                   }});
    return all;
}

std::vector<std::string> NavierStokes::warnings() const {
    const double step = keys_.step.length(keys_.least_spacing()), least = keys_.least_stable_step();
    if (flow_.pseudo || !(step < least)) return {};
    return {fmt::format(
        "time steps of {:.3g} are too short for the pressure on this grid: its stabilisation shrinks with the step, "
        "and below about {:.2g} the pressure's error grows like 1 / dt, while velocities keep their accuracy. Take "
        "time.time_step = {:.2g} or more, or refine the grid, by which the limit falls",
        step, least, least)};
}

/// The largest error of a velocity component, the RMS over the points of the length of the velocity's error, and the
/// RMS of the pressure's error minus its mean.
std::vector<ErrorNorm> NavierStokes::errors(const Vector& u, double time) const {
    if (flow_.kind == FlowCase::cavity) return {};
    const double points = double(shape_.grid.points());
    const auto pressure = [&](Int3 p) { return u(p, 3) - exact(3, p, time); };
    const double mean =
        sum_over_points<1>(u, [&](Int3 p, PointSums<1>& sums) { sums.sum[0] += pressure(p); }).sum[0] / points;
    const auto found = sum_over_points<2>(u, [&](Int3 p, PointSums<2>& sums) {
        for (int c = 0; c < 3; ++c) {
            const double error = u(p, c) - exact(c, p, time);
            sums.max = std::fmax(sums.max, std::abs(error));
            sums.sum[0] += error * error;
        }
        sums.sum[1] += (pressure(p) - mean) * (pressure(p) - mean);
    });
    return {{"max", found.max},
            {"velocity_rms", std::sqrt(found.sum[0] / points)},
            {"pressure_rms", std::sqrt(found.sum[1] / points)}};
}

}  // namespace

std::unique_ptr<Problem> create_navier_stokes(const Parameters& parameters, const Context& context, const InputFiles&) {
    FlowKeys keys = read_flow_keys(parameters);
    SystemShape shape{.grid = keys.domain.grid,
                      .stencil = Stencil::box27(),
                      .dof = 4,
                      .linear = false,
                      .regime = keys.regime,
                      .components = {"u", "v", "w", "p"}};
    return std::make_unique<NavierStokes>(std::move(shape), std::move(keys), context);
}

}  // namespace hyperplane
