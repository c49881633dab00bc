// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "problems/poisson_rows.hpp"

namespace hyperplane {
namespace {

/// Weights (w1, w2, w3) of an operator over a common divisor, so that integer coefficients are exact.
struct Weights {
    double one, two, three, divisor;
    bool fourth_order = false;
};

/// The coefficients of -w1 sum_d a_d D_d - w2 sum_{d<e} D_d D_e - w3 D_x D_y D_z, without flat axes.
template <int N>
std::array<double, N> difference_row(const std::array<Int3, N>& offsets, const Domain& domain,
                                     const std::array<double, 3>& a, const Weights& w) {
    std::array<double, N> row;
    for (int e = 0; e < N; ++e) {
        std::array<double, 3> here{}, second{};  // the identity and the second difference along each axis
        for (int d = 0; d < 3; ++d) {
            const int at = Domain::component(offsets[e], d);
            here[d] = at == 0 ? 1.0 : 0.0;
            second[d] = domain.flat(d) ? 0.0 : at == 0 ? -2.0 : 1.0;
        }
        const double one = a[0] * second[0] * here[1] * here[2] + a[1] * here[0] * second[1] * here[2] +
                           a[2] * here[0] * here[1] * second[2];
        const double two =
            second[0] * second[1] * here[2] + second[0] * here[1] * second[2] + here[0] * second[1] * second[2];
        const double three = second[0] * second[1] * second[2];
        row[e] = 0.0 - (w.one * one + w.two * a[0] * two + w.three * a[0] * three) / w.divisor;  // avoids -0.0
    }
    return row;
}

template <int N>
class PoissonNodes final : public Problem {
public:
    PoissonNodes(SystemShape shape, const InteriorRow<N>& interior)
        : Problem(std::move(shape)),
          formula_(shape_.stencil, interior.domain, interior, interior.data.source == SourceKind::row_sum) {}

    void initial_state(Vector& u) const override { set_points(BoundaryState<NodeRows<N>>{formula_}, u); }
    void residual(const Vector& u, const TimeLevel&, Vector& f) const override { residual_rows(formula_, u, f); }
    void jacobian(const Vector&, const TimeLevel&, SystemMatrix& a) const override {
        assemble_rows(formula_, structured(a));
    }
    std::vector<Field> fields() const override { return poisson_fields(formula_.domain, formula_.interior.data); }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        return poisson_errors(u, formula_.domain, formula_.interior.data);
    }
    std::vector<std::string> error_names() const override { return poisson_error_names(formula_.interior.data); }

private:
    NodeRows<N> formula_;
};

template <int N>
std::unique_ptr<Problem> make_nodes(const Stencil& stencil, const Domain& domain, const PoissonData& data,
                                    const std::array<double, 3>& a, const Weights& weights) {
    const double h = domain.mean_spacing();
    const auto row = difference_row<N>(offsets_of<N>(stencil), domain, a, weights);
    SystemShape shape{.grid = domain.grid,
                      .stencil = stencil,
                      .symmetric = true,
                      .constant_null_space = !domain.has_boundary(),
                      .components = {"u"}};
    const InteriorRow<N> interior{row, data, domain, weights.one / weights.divisor * h * h,
                                  weights.fourth_order ? h * h / 12 : 0.0};
    return std::make_unique<PoissonNodes<N>>(std::move(shape), interior);
}

/// Throws UsageError unless the cells are cubes and K is isotropic, as the weights of box27 require.
void check_cubic(const Parameters& parameters, const Domain& domain, const PoissonData& data) {
    const double h = domain.mean_spacing();
    for (int d = 0; d < 3; ++d) {
        if (!domain.flat(d) && std::abs(domain.grid.spacing[d] - h) > 1e-12 * h)
            throw UsageError(
                fmt::format("{}: box27 needs equal spacings, these are {:g}, {:g} and {:g}; change grid.cells "
                            "or grid.lengths, or take star7",
                            parameters.where("problem", "stencil"), domain.grid.spacing[0], domain.grid.spacing[1],
                            domain.grid.spacing[2]));
        if (data.k[d] != data.k[0])
            throw UsageError(parameters.where("problem", "stencil") +
                             ": box27 needs an isotropic coefficient; give equal coefficient_scale, or take star7");
    }
}

}  // namespace

std::unique_ptr<Problem> create_poisson_nodes(const Parameters& parameters) {
    const std::string& coefficient = parameters.text("problem", "coefficient");
    std::string of_cells;
    const auto refuse_of_cells = [&](const char* key, const char* why) {
        of_cells += fmt::format("{}{}: {}{} needs problem.discretisation = cell", of_cells.empty() ? "" : "\n",
                                parameters.where("problem", key), parameters.text("problem", key), why);
    };
    if (coefficient != "const" && coefficient != "aniso") refuse_of_cells("coefficient", " varies in space and");
    if (parameters.text("problem", "boundary_condition") != "dirichlet") refuse_of_cells("boundary_condition", "");
    if (!of_cells.empty()) throw UsageError(of_cells);
    const Domain domain = make_domain(parameters, node_centring(parameters));
    check_coefficient_keys(parameters);
    const PoissonData data =
        poisson_data(parameters, domain, domain.grid.any_periodic() ? "ones" : "manuexp", !domain.has_boundary());
    if (parameters.text("problem", "stencil") == "star7") {
        const double h = domain.mean_spacing();
        std::array<double, 3> a;
        for (int d = 0; d < 3; ++d) a[d] = data.k[d] * (h * h / (domain.grid.spacing[d] * domain.grid.spacing[d]));
        return make_nodes<7>(Stencil::star7(), domain, data, a, {1, 0, 0, 1});
    }
    check_cubic(parameters, domain, data);
    const std::string& weights = parameters.text("problem", "box27_weights");
    const Weights w = weights == "hpcg" ? Weights{9, 3, 1, 1}
                      : weights == "q1" ? Weights{12, 4, 1, 12}
                                        : Weights{30, 5, 1, 30, true};
    return make_nodes<27>(Stencil::box27(), domain, data, data.k, w);
}

}  // namespace hyperplane
