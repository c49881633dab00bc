// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "problems/poisson_rows.hpp"

namespace hyperplane {
namespace {

class PoissonCells final : public Problem {
public:
    PoissonCells(SystemShape shape, CoefficientField field, FluxRows formula)
        : Problem(std::move(shape)), field_(std::move(field)), formula_(formula) {
        formula_.k = field_.view();
    }

    void initial_state(Vector& u) const override { set_zero(u); }
    void residual(const Vector& u, const TimeLevel&, Vector& f) const override { residual_rows(formula_, u, f); }
    void jacobian(const Vector&, const TimeLevel&, SystemMatrix& a) const override {
        assemble_rows(formula_, structured(a));
    }
    std::vector<Field> fields() const override {
        std::vector<Field> all = poisson_fields(formula_.domain, formula_.data);
        if (const auto coefficient = field_.field(shape_.grid)) all.push_back(*coefficient);
        return all;
    }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        return poisson_errors(u, formula_.domain, formula_.data);
    }
    std::vector<std::string> error_names() const override { return poisson_error_names(formula_.data); }

private:
    CoefficientField field_;
    FluxRows formula_;
};

/// The axes that end in Dirichlet faces.
std::array<bool, 3> dirichlet_axes(const Parameters& parameters, const Domain& domain) {
    const std::string& kind = parameters.text("problem", "boundary_condition");
    const std::array<bool, 3> wanted{kind == "dirichlet", kind == "dirichlet", kind != "neumann"};
    if (kind == "zdirichlet" && !domain.bounded(2))
        throw UsageError(fmt::format("{}: zdirichlet needs z faces, but axis z is {}; take dirichlet or neumann",
                                     parameters.where("problem", "boundary_condition"),
                                     domain.flat(2) ? "flat" : "periodic"));
    return {wanted[0] && domain.bounded(0), wanted[1] && domain.bounded(1), wanted[2] && domain.bounded(2)};
}

/// Throws UsageError if a key is given that is meant for nodes only.
void check_keys(const Parameters& parameters) {
    if (parameters.text("problem", "stencil") != "star7")
        throw RefusedKey(parameters, "problem", "stencil", ": box27 needs problem.discretisation = node",
                         {"box27_weights"});
    if (parameters.is_given("problem", "boundary_rows"))
        throw RefusedKey(parameters, "problem", "boundary_rows",
                         ": cells have no boundary rows; remove the key, or take problem.discretisation = node");
    check_coefficient_keys(parameters);
}

}  // namespace

std::unique_ptr<Problem> create_poisson_cells(const Parameters& parameters, const Context& context,
                                              const InputFiles& files) {
    check_keys(parameters);
    const std::string& coefficient = parameters.text("problem", "coefficient");
    const Domain domain = make_domain(parameters, Centring::cell, default_lengths(parameters, poisson_lengths()));
    const std::array<bool, 3> dirichlet = dirichlet_axes(parameters, domain);
    const bool singular = !dirichlet[0] && !dirichlet[1] && !dirichlet[2];
    const bool constant = coefficient == "const" || coefficient == "aniso";
    const bool closed = parameters.text("problem", "boundary_condition") == "dirichlet" && !domain.grid.any_periodic();
    const PoissonData data = poisson_data(parameters, domain, constant && closed ? "manuexp" : "ones", singular);
    if (data.source == SourceKind::exact && !(constant && closed))
        throw UsageError(
            fmt::format("{}: a manufactured solution needs coefficient = const or aniso and "
                        "boundary_condition = dirichlet; take zero, ones, random or xones",
                        parameters.where("problem", "right_hand_side")));
    SystemShape shape{.grid = domain.grid,
                      .stencil = Stencil::star7(),
                      .symmetric = true,
                      .constant_null_space = singular,
                      .components = {"u"}};
    const FluxRows formula(shape.stencil, domain, data, dirichlet);
    return std::make_unique<PoissonCells>(std::move(shape), CoefficientField(parameters, domain, context, files),
                                          formula);
}

}  // namespace hyperplane
