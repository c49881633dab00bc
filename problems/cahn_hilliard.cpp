// SPDX-License-Identifier: BSD-3-Clause
#include "problems/cahn_hilliard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/vector/blas1.hpp"
#include "problems/cahn_hilliard_keys.hpp"
#include "problems/cahn_hilliard_rows.hpp"
#include "problems/error_norms.hpp"
#include "problems/long_range_energy.hpp"

namespace hyperplane {
namespace {

const char* const field_names[] = {"u", "v"};

template <int unknowns>
class CahnHilliard final : public Problem {
public:
    CahnHilliard(SystemShape shape, const MixtureKeys& keys, const Context& context)
        : Problem(std::move(shape)),
          keys_(keys),
          laplacian_(keys.domain),
          offsets_(offsets_of<25>(shape_.stencil)),
          values_(context, shape_.grid, "values at cells") {
        if (keys.mixture.sigma > 0.0) long_range_.emplace(context, keys.domain);
    }

    double time_step(const Vector&) const override { return keys_.time_step; }

    void initial_state(Vector& u) const override {
        visit(u, "initial state", MixtureBegin<unknowns>{keys_.start, view(u)});
        if (keys_.start.kind != MixtureStart::random) return;
        const Layout& natural = values_.layout();  // of this rank's cells: the same bits in every layout
        for (int c = 0; c < unknowns; ++c) {
            visit_mixture(u.context(), natural, "mean", MixtureField{keys_.start, c, values_.view(natural)});
            add_constant(u, c, keys_.mixture.mean[c] - values_.sum() / double(shape_.grid.points()));
        }
    }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        MixtureResidual<unknowns> row{rows_at(u, level), keys_.start, keys_.manufactured, level.time, view(f)};
        if (row.rows.averaged) row.source_time -= level.dt / 2;
        if (long_range_) row.rows.mixture.mean[unknowns - 1] = mean_of_last(level.old ? *level.old : u);
        visit(u, "residual", row);
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const override {
        visit(u, "matrix", MixtureMatrix<unknowns>{rows_at(u, level), offsets_, view(structured(a))});
    }
    /// With rho = theta dt eps^2 / (tau h^4), pivots of ILU(0) become negative at rho of about 1.5, and at 0.9 on grids
    /// with h = eps. A shift costs no iterations for rho of 0.01 or more and saves some from 0.03 on.
    double suggested_shift(const TimeLevel& level) const override {
        const double theta = averaged(level) ? 0.5 : 1.0, largest = *std::ranges::max_element(laplacian_.weight);
        double stiffness = 0.0;
        for (int c = 0; c < unknowns; ++c) {
            const double eps = keys_.mixture.eps[c];
            stiffness =
                std::max(stiffness, theta * eps * eps * largest * largest / (keys_.mixture.tau[c] * level.rate[0]));
        }
        return stiffness < 0.1 ? 0.0 : 0.05;
    }
    std::vector<Diagnostic> diagnostics(const Vector& u) const override {
        const auto& h = shape_.grid.spacing;
        visit(u, "energy", MixtureEnergy<unknowns>{laplacian_, keys_.mixture, view(u), values_.view(u.layout())});
        double energy = h[0] * h[1] * h[2] * values_.sum();
        if (long_range_) energy += keys_.mixture.sigma * long_range_->of(u, unknowns - 1, mean_of_last(u));
        const std::vector<std::string> names = diagnostic_names();
        std::vector<Diagnostic> all{{names[0], energy, "the free energy E"}};
        for (int c = 0; c < unknowns; ++c)
            all.push_back({names[c + 1], sum(u, c) / double(shape_.grid.points()),
                           std::string("mean of ") + field_names[c] + " over the cells"});
        return all;
    }
    std::vector<std::string> diagnostic_names() const override {
        std::vector<std::string> names{"energy"};
        for (int c = 0; c < unknowns; ++c) names.push_back(std::string("mean_") + field_names[c]);
        return names;
    }
    std::vector<Field> fields() const override {
        std::vector<Field> all = Problem::fields();
        if (keys_.manufactured)
            add_error_fields(all, shape_.components,
                             [this](int c, Int3 p, double time) { return keys_.start.field(c, p, time); });
        return all;
    }
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override {
        if (!keys_.manufactured) return {};
        double max = 0.0, square = 0.0;
        std::vector<ErrorNorm> by_field;
        for (int c = 0; c < unknowns; ++c) {
            const FieldError error =
                field_error(u, shape_.grid, c, [&](Int3 p) { return keys_.start.field(c, p, time); });
            max = std::max(max, error.max);
            square += error.rms * error.rms / unknowns;
            by_field.push_back({std::string("rms_") + field_names[c], error.rms});
        }
        std::vector<ErrorNorm> all{{"max", max}, {"rms", std::sqrt(square)}};
        all.insert(all.end(), by_field.begin(), by_field.end());
        return all;
    }
    std::vector<std::string> error_names() const override {
        std::vector<std::string> names = names_of_error_norms(keys_.manufactured);
        for (int c = 0; keys_.manufactured && c < unknowns; ++c) names.push_back(std::string("rms_") + field_names[c]);
        return names;
    }
    std::vector<std::string> warnings() const override {
        std::vector<std::string> thin;
        double edge = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!keys_.domain.flat(axis)) edge = std::max(edge, shape_.grid.spacing[axis]);
        for (int c = 0; c < unknowns; ++c)
            if (keys_.mixture.eps[c] < 0.7 * edge) thin.push_back(std::string("problem.epsilon_") + field_names[c]);
        if (thin.empty()) return {};
        return {
            fmt::format("{} {} less than 0.7 of a cell's edge: walls between phases are not resolved and stick to the "
                        "grid; refine the grid or raise {}",
                        fmt::join(thin, " and "), thin.size() == 1 ? "is" : "are", thin.size() == 1 ? "it" : "them")};
    }

private:
    /// The mean of the field that the long-range term acts on: the deck's, or that of a state from a file.
    double mean_of_last(const Vector& u) const {
        if (keys_.own_state || keys_.manufactured) return keys_.mixture.mean[unknowns - 1];
        return sum(u, unknowns - 1) / double(shape_.grid.points());
    }
    bool averaged(const TimeLevel& level) const { return keys_.averaged && level.step > keys_.starting_steps; }
    MixtureRows<unknowns> rows_at(const Vector& u, const TimeLevel& level) const {
        MixtureRows<unknowns> rows{laplacian_, keys_.mixture, level.rate, averaged(level), view(u)};
        if (level.old) rows.old = view(*level.old);
        if (level.older) rows.older = view(*level.older);
        return rows;
    }
    template <class Body>
    static void visit(const Vector& u, const char* name, const Body& body) {
        visit_mixture(u.context(), u.layout(), name, body);
    }

    MixtureKeys keys_;
    CellLaplacian laplacian_;
    std::array<Int3, 25> offsets_;
    mutable PointValues values_;
    mutable std::optional<LongRangeEnergy> long_range_;
};

}  // namespace

std::unique_ptr<Problem> create_cahn_hilliard(const Parameters& parameters, const Context& context, const InputFiles&) {
    const MixtureKeys keys = read_mixture_keys(parameters);
    SystemShape shape{.grid = keys.domain.grid,
                      .stencil = Stencil::diamond25(),
                      .dof = keys.fields,
                      .linear = false,
                      .regime = Regime::transient,
                      .components = {"u"}};
    if (keys.fields == 1) return std::make_unique<CahnHilliard<1>>(std::move(shape), keys, context);
    shape.components.push_back("v");
    return std::make_unique<CahnHilliard<2>>(std::move(shape), keys, context);
}

}  // namespace hyperplane
