// SPDX-License-Identifier: BSD-3-Clause
#include "problems/convection_diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "problems/convection_diffusion_rows.hpp"
#include "problems/error_norms.hpp"

namespace hyperplane {
namespace {

class ConvectionDiffusion final : public Problem {
public:
    ConvectionDiffusion(SystemShape shape, const TransportKeys& keys)
        : Problem(std::move(shape)),
          keys_(keys),
          rows_(shape_.stencil, keys.domain, TransportRow(keys), keys.source == SourceKind::row_sum) {}

    double time_step(const Vector&) const override { return keys_.time_step; }
    void initial_state(Vector& u) const override { set_points(TransportStart{rows_}, u); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        const auto inertia = inertia_of(level);
        TransportStep step{rows_of(keys_.scheme, level), {}, {}};
        if (level.old) step.before[0] = view(*level.old), step.weight[0] = -inertia[1];
        if (level.older) step.before[1] = view(*level.older), step.weight[1] = -inertia[2];
        residual_rows(step, u, f);
    }
    void jacobian(const Vector&, const TimeLevel& level, SystemMatrix& a) const override {
        assemble_rows(rows_of(keys_.scheme, level), structured(a));
    }
    void preconditioner_jacobian(const Vector&, const TimeLevel& level, SystemMatrix& p) const override {
        assemble_rows(rows_of(keys_.preconditioner_scheme, level), structured(p));
    }
    double courant_number(const Vector&, double dt) const override {
        return dt * keys_.largest_velocity() / keys_.domain.mean_spacing();
    }
    std::vector<Field> fields() const override {
        std::vector<Field> all{field_of_unknowns("u", 0)};
        if (keys_.source == SourceKind::row_sum) add_error_fields(all, {"u"}, [](int, Int3, double) { return 1.0; });
        if (keys_.source == SourceKind::exact)
            add_error_fields(all, {"u"},
                             [this](int, Int3 p, double) { return keys_.exact.value(keys_.domain.position(p)); });
        all.push_back({.name = "wind",
                       .components = 3,
                       .unit = "length/time",
                       .description = "the velocity b that carries u",
                       .at = [this](const double*, Int3 p, double, double* values) {
                           for (int axis = 0; axis < 3; ++axis)
                               values[axis] = keys_.wind.component(axis, keys_.domain.position(p));
                       }});
        return all;
    }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        if (keys_.source == SourceKind::row_sum) return error_norms(u, keys_.domain.grid, [](Int3) { return 1.0; });
        if (keys_.source != SourceKind::exact) return {};
        return error_norms(u, keys_.domain.grid, [&](Int3 p) { return keys_.exact.value(keys_.domain.position(p)); });
    }
    std::vector<std::string> error_names() const override {
        return names_of_error_norms(keys_.source == SourceKind::row_sum || keys_.source == SourceKind::exact);
    }
    std::vector<std::string> warnings() const override {
        double peclet = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!keys_.domain.flat(axis))
                peclet = std::max(peclet, keys_.wind.largest(axis) * keys_.domain.grid.spacing[axis] / keys_.viscosity);
        if (keys_.scheme != Scheme::central || peclet <= 2.0) return {};
        return {
            fmt::format("problem.scheme = central oscillates where the cell Peclet number |b| h / viscosity exceeds 2, "
                        "and here it reaches {:.3g}; refine the grid, or take upwind or sg",
                        peclet)};
    }

private:
    TransportRows rows_of(Scheme scheme, const TimeLevel& level) const {
        TransportRows rows = rows_;
        rows.interior.scheme = scheme;
        rows.interior.mass = inertia_of(level)[0];
        return rows;
    }
    /// h^2 times the rates of u, old and older. For implicit Euler h^2 / dt is computed with one rounding.
    std::array<double, 3> inertia_of(const TimeLevel& level) const {
        const double square = rows_.interior.h * rows_.interior.h;
        if (level.rate[2] == 0.0) return {square / level.dt, -square / level.dt, 0.0};
        return {square * level.rate[0], square * level.rate[1], square * level.rate[2]};
    }
    TransportKeys keys_;
    TransportRows rows_;
};

}  // namespace

std::unique_ptr<Problem> create_convection_diffusion(const Parameters& parameters, const Context&, const InputFiles&) {
    const TransportKeys keys = read_transport_keys(parameters);
    SystemShape shape{.grid = keys.domain.grid,
                      .stencil = Stencil::star7(),
                      .constant_null_space = keys.singular(),
                      .separate_preconditioner_matrix = keys.preconditioner_scheme != keys.scheme,
                      .regime = keys.steady() ? Regime::steady : Regime::transient,
                      .components = {"u"}};
    return std::make_unique<ConvectionDiffusion>(std::move(shape), keys);
}

}  // namespace hyperplane
