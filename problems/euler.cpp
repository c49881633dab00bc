// SPDX-License-Identifier: BSD-3-Clause
#include "problems/euler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/vector/blas1.hpp"
#include "core/vector/point_values.hpp"
#include "problems/error_norms.hpp"
#include "problems/euler_keys.hpp"
#include "problems/euler_points.hpp"

namespace hyperplane {
namespace {

class Euler final : public Problem {
public:
    Euler(SystemShape shape, const GasKeys& keys, const Context& context)
        : Problem(std::move(shape)), keys_(keys), values_(context, shape_.grid, "values at cells") {
        rows_.flow = keys.flow;
        rows_.reconstruction = keys.reconstruction;
        rows_.boundary = keys.boundary;
        rows_.set_entries(shape_.stencil);
    }

    void initial_state(Vector& u) const override { visit(u, "initial state", GasStart{keys_.flow, view(u)}); }

    double time_step(const Vector& u) const override {
        if (keys_.steps.time_step > 0.0) return keys_.steps.time_step;
        visit(u, "time step", GasCrossing{keys_.flow, view(u), values_.view(u.layout())});
        return keys_.steps.length(values_.smallest(u.layout()).value);
    }
    CflRange cfl_range() const override { return keys_.cfl; }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        const GasRows rows = rows_at(u, level);
        if (keys_.flux == FluxKind::hllc)
            visit(u, "residual", GasResidual<FluxKind::hllc>{rows, view(f)});
        else
            visit(u, "residual", GasResidual<FluxKind::rusanov>{rows, view(f)});
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        assemble(keys_.jacobian, u, level, structured(a));
    }
    void preconditioner_jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& p) const override {
        assemble(keys_.preconditioner_jacobian, u, level, structured(p));
    }
    double admissible_step(const Vector& u, const Vector& du) const override {
        visit(u, "admissible step", GasBound{keys_.flow.gas, view(u), view(du), values_.view(u.layout())});
        return values_.smallest(u.layout()).value;
    }
    std::optional<BadState> bad_state(const Vector& u) const override {
        visit(u, "bad state", GasBadness{keys_.flow.gas, view(u), values_.view(u.layout())});
        const PointValue worst = values_.smallest(u.layout());
        if (worst.value > 0.0) return std::nullopt;
        Vector copy;
        const bool dense = value_at(on_host(u, copy), worst.point, 0) > 0.0;
        return BadState{worst.point, dense ? "pressure" : "density", worst.value};
    }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override {
        const double volume = cell_volume();
        const std::vector<std::string> names = diagnostic_names();
        const char* formulas[] = {"integral of rho", "integral of rho u", "integral of rho v", "integral of rho w",
                                  "integral of E"};
        std::vector<Diagnostic> all;
        for (int c = 0; c < 5; ++c) all.push_back({names[c], volume * sum(u, c), formulas[c]});
        visit(u, "kinetic energy", GasKineticEnergy{view(u), values_.view(u.layout())});
        all.push_back({names[5], volume * values_.sum(), "integral of rho |u|^2 / 2"});
        return all;
    }
    std::vector<std::string> diagnostic_names() const override {
        return {"mass", "momentum_x", "momentum_y", "momentum_z", "energy", "kinetic_energy"};
    }
    double courant_number(const Vector& u, double dt) const override {
        visit(u, "time step", GasCrossing{keys_.flow, view(u), values_.view(u.layout())});
        return dt / values_.smallest(u.layout()).value;
    }
    std::vector<Field> fields() const override;
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override {
        const GasFlow& flow = keys_.flow;
        if (!GasFlow::has_exact_state(flow.kind)) return {};
        const FieldError error =
            field_error(u, shape_.grid, 0, [&](Int3 p) { return flow.state(flow.domain.position(p), time)[0]; });
        return {{"max", error.max}, {"rms", error.rms}, {"l1", error.l1}};
    }
    std::vector<std::string> error_names() const override {
        if (!GasFlow::has_exact_state(keys_.flow.kind)) return {};
        return {"max", "rms", "l1"};
    }
    std::vector<std::string> warnings() const override {
        const GasFlow& flow = keys_.flow;
        const Int3 middle{shape_.grid.nx / 2, shape_.grid.ny / 2, shape_.grid.nz / 2};
        if (!keys_.own_state || flow.kind != GasCase::blast || flow.blast_pressure == flow.ambient_pressure ||
            flow.state(flow.domain.position(middle), 0.0)[4] == flow.blast_pressure)
            return {};
        return {fmt::format(
            "problem.case = blast: no cell's centre lies within the ball of high pressure, whose radius is a tenth of "
            "the shortest side, so the gas is at rest and stays so; give {:.0f} cells or more along each axis "
            "(grid.cells)",
            cells_of_blast())};
    }

private:
    /// The number of cells along each axis from which on some cell's centre lies within the ball of the blast: that of
    /// an even number is half a cell away from the box's along each axis.
    double cells_of_blast() const {
        double square = 0.0, shortest = std::numeric_limits<double>::infinity();
        for (int axis = 0; axis < 3; ++axis) {
            if (keys_.flow.domain.flat(axis)) continue;
            const double length = keys_.flow.domain.lengths[axis];
            square += length * length;
            shortest = std::min(shortest, length);
        }
        return 1 + std::floor(std::sqrt(square) / (0.2 * shortest));
    }
    double cell_volume() const {
        const auto& h = shape_.grid.spacing;
        return h[0] * h[1] * h[2];
    }
    GasRows rows_at(const Vector& u, const TimeLevel& level) const {
        GasRows rows = rows_;
        rows.u = view(u);
        rows.time = level.time;
        rows.rate = level.rate;
        if (level.old) rows.old = view(*level.old);
        if (level.older) rows.older = view(*level.older);
        return rows;
    }
    template <FluxKind flux>
    void assemble_with(GasJacobian kind, const GasRows& rows, const Vector& u, StructMatrix& a) const {
        switch (kind) {
            case GasJacobian::exact: return visit(u, "matrix", GasMatrix<flux, GasJacobian::exact>{rows, view(a)});
            case GasJacobian::upwind2: return visit(u, "matrix", GasMatrix<flux, GasJacobian::upwind2>{rows, view(a)});
            case GasJacobian::first: return visit(u, "matrix", GasMatrix<flux, GasJacobian::first>{rows, view(a)});
        }
    }
    void assemble(GasJacobian kind, const Vector& u, const TimeLevel& level, StructMatrix& a) const {
        const GasRows rows = rows_at(u, level);
        if (keys_.flux == FluxKind::hllc)
            assemble_with<FluxKind::hllc>(kind, rows, u, a);
        else
            assemble_with<FluxKind::rusanov>(kind, rows, u, a);
    }
    template <class Body>
    static void visit(const Vector& u, const char* name, const Body& body) {
        visit_gas(u.context(), u.layout(), name, body);
    }

    GasKeys keys_;
    GasRows rows_;
    mutable PointValues values_;
};

/// Density, velocity, pressure and temperature, and the density's error if the solution is known.
std::vector<Field> Euler::fields() const {
    const auto add = [this](std::vector<Field>& all, const char* name, int components, const char* unit,
                            const char* description, auto of) {
        all.push_back(
            {.name = name,
             .components = components,
             .unit = unit,
             .description = description,
             .at = [this, of](const double* u, Int3 p, double time, double* values) {
                 of(keys_.flow.gas.primitive(GasState<double>{u[0], u[1], u[2], u[3], u[4]}), p, time, values);
             }});
    };
    using State = GasState<double>;
    std::vector<Field> all{field_of_unknowns("density", 0, 1, "mass/length^3", "density")};
    add(all, "velocity", 3, "length/time", "velocity",
        [](const State& q, Int3, double, double* values) { std::copy_n(q.begin() + 1, 3, values); });
    add(all, "pressure", 1, "mass/(length time^2)", "pressure",
        [](const State& q, Int3, double, double* values) { values[0] = q[4]; });
    add(all, "temperature", 1, "length^2/time^2", "temperature times the gas constant, p / rho",
        [](const State& q, Int3, double, double* values) { values[0] = q[4] / q[0]; });
    if (GasFlow::has_exact_state(keys_.flow.kind))
        add(all, "density_error", 1, "mass/length^3", "density minus the exact solution",
            [this](const State& q, Int3 p, double time, double* values) {
                values[0] = q[0] - keys_.flow.state(keys_.flow.domain.position(p), time)[0];
            });
    return all;
}

}  // namespace

std::unique_ptr<Problem> create_euler(const Parameters& parameters, const Context& context, const InputFiles&) {
    const GasKeys keys = read_gas_keys(parameters);
    SystemShape shape{.grid = keys.flow.domain.grid,
                      .stencil = keys.stencil(),
                      .dof = 5,
                      .separate_preconditioner_matrix = keys.preconditioner_jacobian != keys.jacobian,
                      .linear = false,
                      .planes_read = 2,
                      .regime = keys.regime,
                      .components = {"density", "momentum_x", "momentum_y", "momentum_z", "energy"}};
    return std::make_unique<Euler>(std::move(shape), keys, context);
}

}  // namespace hyperplane
