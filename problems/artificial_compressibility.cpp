// SPDX-License-Identifier: BSD-3-Clause
#include "problems/artificial_compressibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/point_values.hpp"
#include "problems/artificial_compressibility_loops.hpp"
#include "problems/refusal.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

class ArtificialCompressibility final : public Problem {
public:
    ArtificialCompressibility(SystemShape shape, const CavityFlow& flow, CflRange cfl, double time_step,
                              const Context& context)
        : Problem(std::move(shape)),
          flow_(flow),
          cfl_(cfl),
          time_step_(time_step),
          energy_(context, shape_.grid, "kinetic energy") {
        if (flow_.coupled) state_ = Vector(context, natural_part(context), shape_.dof, "uncoupled state");
    }

    double time_step(const Vector&) const override { return time_step_; }
    CflRange cfl_range() const override { return cfl_; }
    /// The fluid is at rest; the lid moves it through the boundary condition at its face.
    void initial_state(Vector& u) const override { set_zero(u); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        const ConstVectorView q = uncoupled(u);
        cavity_combine(flow_, {level.rate[0], level.rate[1], level.rate[2]}, {&u, level.old, level.older}, view(f));
        cavity_residual(flow_, q, f);
        if (flow_.coupled) cavity_reflect(flow_, f);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        cavity_jacobian(flow_, uncoupled(u), level.rate[0], structured(a));
    }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override {
        cavity_kinetic_energy(flow_, u.context(), uncoupled(u), energy_.view(u.layout()));
        return {{"kinetic_energy", energy_.sum(), "kinetic energy of the first set, the integral of |u|^2 / 2",
                 "velocity^2 volume"}};
    }
    std::vector<std::string> diagnostic_names() const override { return {"kinetic_energy"}; }

    std::vector<Field> fields() const override;

private:
    Layout natural_part(const Context& context) const {
        return part_of(context, Layout(LayoutKind::natural, shape_.grid, {}), shape_.matrix().halo());
    }
    /// Q of the state u: H u if the unknowns are coupled.
    ConstVectorView uncoupled(const Vector& u) const {
        if (!flow_.coupled) return view(u);
        cavity_combine(flow_, {1.0, 0.0, 0.0}, {&u, nullptr, nullptr}, {u.layout(), state_.data()});
        exchange_halo(state_);
        return {u.layout(), state_.data()};
    }

    CavityFlow flow_;
    CflRange cfl_;
    double time_step_;
    mutable Vector state_;  ///< in the layout of the state that it was computed from
    mutable PointValues energy_;
};

/// Velocity and pressure of each set, and the scalars, of Q = H u if the unknowns are coupled.
std::vector<Field> ArtificialCompressibility::fields() const {
    std::vector<Field> all;
    for (int set = 0; set < flow_.sets; ++set) {
        const std::string number = flow_.sets == 1 ? "" : fmt::format("{}", set + 1);
        all.push_back(field_of_unknowns("velocity" + number, 4 * set, 3, "length/time", "velocity"));
        all.push_back(
            field_of_unknowns("pressure" + number, 4 * set + 3, 1, "length^2/time^2", "pressure over density"));
    }
    for (int s = 0; s < flow_.scalars; ++s)
        all.push_back(field_of_unknowns(fmt::format("scalar{}", s + 1), 4 * flow_.sets + s, 1, "1",
                                        "scalar that the first set's velocity carries"));
    if (flow_.coupled)
        for (Field& field : all)
            field.at = [this, plain = field.at](const double* unknowns, Int3 p, double time, double* values) {
                std::array<double, max_dof> q;
                double product = 0.0;
                for (int c = 0; c < flow_.dof(); ++c) product += CavityFlow::reflector(c) * unknowns[c];
                product *= flow_.reflector_scale();
                for (int c = 0; c < flow_.dof(); ++c) q[c] = unknowns[c] - product * CavityFlow::reflector(c);
                plain(q.data(), p, time, values);
            };
    return all;
}

/// Reads a key with one number for all sets or one for each.
void read_for_sets(const Parameters& parameters, const char* key, int sets, double (&values)[most_sets]) {
    const std::vector<double> given = parameters.reals("problem", key);
    if (given.size() != 1 && int(given.size()) != sets)
        refuse(parameters, key,
               fmt::format("expected one number or one for each of {} sets, got {}", sets, given.size()));
    for (int s = 0; s < most_sets; ++s) values[s] = given[given.size() == 1 ? 0 : std::min(s, sets - 1)];
}

Domain read_cells(const Parameters& parameters) {
    const Domain domain = make_domain(parameters, Centring::cell);
    if (domain.grid.any_periodic())
        refuse(parameters, "periodic", "a cavity has walls on all sides; take none", "grid");
    if (domain.flat(0) || domain.flat(1))
        refuse(parameters, "cells",
               "a cavity needs 2 cells or more along x and y; a plane flow has 1 along z, and its lid along y", "grid");
    return domain;
}

CavityFlow read_flow(const Parameters& parameters, const Domain& domain) {
    CavityFlow flow;
    flow.grid = domain.grid;
    flow.viscosity = 1.0 / parameters.real("problem", "reynolds");
    flow.third_order = parameters.text("problem", "reconstruction") == "third_order";
    flow.lid_axis = domain.flat(2) ? 1 : 2;
    flow.sets = int(parameters.integer("problem", "sets"));
    flow.scalars = int(parameters.integer("problem", "scalars"));
    if (flow.dof() > max_dof)
        refuse(parameters, "scalars",
               fmt::format("{} sets and {} scalars are {} unknowns a cell, and {} are the most", flow.sets,
                           flow.scalars, flow.dof(), max_dof));
    flow.coupled = parameters.text("problem", "coupling") == "householder";
    read_for_sets(parameters, "artificial_compressibility", flow.sets, flow.beta);
    read_for_sets(parameters, "step_factor", flow.sets, flow.step_factor);
    const std::vector<double> diffusivity = parameters.reals("problem", "scalar_diffusivity");
    for (int s = 0; s < 2; ++s) flow.diffusivity[s] = diffusivity[s];
    if (flow.scalars == 0 && parameters.is_given("problem", "scalar_diffusivity"))
        refuse_key(parameters, "scalar_diffusivity", "there are no scalars; remove the key, or give problem.scalars");
    return flow;
}

std::vector<std::string> component_names(const CavityFlow& flow) {
    std::vector<std::string> names;
    for (int set = 0; set < flow.sets; ++set)
        for (const char* name : {"u", "v", "w", "p"})
            names.push_back(flow.sets == 1 ? name : fmt::format("{}{}", name, set + 1));
    for (int s = 0; s < flow.scalars; ++s) names.push_back(fmt::format("scalar{}", s + 1));
    return names;
}

}  // namespace

ParameterTable artificial_compressibility_parameters() {
    return {
        {.section = "problem",
         .key = "reynolds",
         .type = ParameterType::real,
         .default_value = "100",
         .description = "Reynolds number 1 / nu of unit length and the lid's unit velocity",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "reconstruction",
         .type = ParameterType::choice,
         .default_value = "third_order",
         .description = "states beside a face in the residual: third_order (kappa = 1/3, unlimited), or those of the "
                        "cells (first_order); the matrix is that of first order",
         .choices = {"third_order", "first_order"}},
        {.section = "problem",
         .key = "artificial_compressibility",
         .type = ParameterType::reals,
         .default_value = "1",
         .description =
             "beta in p_t + beta div u = 0, one number or one for each set; the steady state does not depend "
             "on it but for the upwinding",
         .unit = "velocity^2",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "sets",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "sets of u, v, w, p in a cell, independent flows that one system solves",
         .minimum = Bound{1},
         .maximum = Bound{most_sets}},
        {.section = "problem",
         .key = "step_factor",
         .type = ParameterType::reals,
         .default_value = "1",
         .description = "step of a set divided by that of section [time], one number or one for each set",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "scalars",
         .type = ParameterType::integer,
         .default_value = "0",
         .description = "scalars that the first set's velocity carries, 1 on the lid and 0 on other walls",
         .minimum = Bound{0},
         .maximum = Bound{2}},
        {.section = "problem",
         .key = "scalar_diffusivity",
         .type = ParameterType::reals,
         .default_value = "0.01 0.001",
         .description = "diffusivities of the scalars",
         .unit = "length^2/time",
         .minimum = Bound{0},
         .count = 2},
        {.section = "problem",
         .key = "coupling",
         .type = ParameterType::choice,
         .default_value = "none",
         .description =
             "none: the unknowns as they are, blocks diagonal by set; householder: H times them, which makes "
             "every block full and leaves iteration counts as they are",
         .choices = {"none", "householder"}},
    };
}

std::unique_ptr<Problem> create_artificial_compressibility(const Parameters& parameters, const Context& context,
                                                           const InputFiles&) {
    const Domain domain = read_cells(parameters);
    const CavityFlow flow = read_flow(parameters, domain);
    double spacing = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < 3; ++axis)
        if (!domain.flat(axis)) spacing = std::min(spacing, domain.grid.spacing[axis]);
    SystemShape shape{.grid = domain.grid,
                      .stencil = Stencil::star7(),
                      .dof = flow.dof(),
                      .linear = false,
                      .planes_read = 2,
                      .regime = Regime::pseudo_transient,
                      .components = component_names(flow)};
    const CflRange cfl = cfl_range(parameters, 5.0, 50.0);
    return std::make_unique<ArtificialCompressibility>(std::move(shape), flow, cfl,
                                                       step_rule(parameters, cfl.first).length(spacing), context);
}

}  // namespace hyperplane
