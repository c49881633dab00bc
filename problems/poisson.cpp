// SPDX-License-Identifier: BSD-3-Clause
#include "problems/poisson.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "problems/error_norms.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

ParameterTable equation_parameters() {
    return {
        {.section = "problem",
         .key = "discretisation",
         .type = ParameterType::choice,
         .default_value = "node",
         .description =
             "node: finite differences on nodes, constant coefficient; cell: two-point fluxes between cells, "
             "any coefficient",
         .choices = {"node", "cell"}},
        {.section = "problem",
         .key = "stencil",
         .type = ParameterType::choice,
         .default_value = "star7",
         .description = "offsets of a row; box27 needs nodes, cubic cells and an isotropic coefficient",
         .choices = {"star7", "box27"}},
        {.section = "problem",
         .key = "box27_weights",
         .type = ParameterType::choice,
         .default_value = "hpcg",
         .description = "hpcg: 26 and -1; q1: trilinear elements 8/3, 0, -1/6, -1/12; mehr: (128, -14, -3, -1)/30, of "
                        "fourth order. Only for stencil = box27",
         .choices = {"hpcg", "q1", "mehr"}},
        boundary_rows_parameter(),
        {.section = "problem",
         .key = "boundary_condition",
         .type = ParameterType::choice,
         .default_value = "dirichlet",
         .description = "dirichlet: u = g on all faces; zdirichlet: on the two z faces, no flux through the others; "
                        "neumann: no flux at all, u is known up to a constant. The last two need discretisation = cell",
         .choices = {"dirichlet", "zdirichlet", "neumann"}},
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::choice,
         .default_value = "auto",
         .description = "manuexp u = -x e^(y+z), manupoly, manusin u = sin(pi x) sin(pi y) sin(2 pi z): manufactured; "
                        "zero, ones, random: f = 0, 1, uniform in (-1, 1), with u = 0 on the boundary; xones: b = A 1; "
                        "auto: manuexp where it applies, random where u is known up to a constant, else ones",
         .choices = {"auto", "manuexp", "manupoly", "manusin", "zero", "ones", "random", "xones"}},
        {.section = "problem",
         .key = "seed",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "seed of the random right-hand side and of random coefficients",
         .minimum = Bound{0}},
    };
}

ParameterTable coefficient_parameters() {
    return {
        {.section = "problem",
         .key = "coefficient",
         .type = ParameterType::choice,
         .default_value = "const",
         .description =
             "K: const (1); aniso (coefficient_scale along each axis); lognormal, white: exp(s G), G normal, with "
             "and without correlation; checker: 8 blocks a side of 1 and contrast; inclusions: 4^3 cubes of "
             "contrast in 1; spe10like: a layered oil reservoir; file: coefficient_file. All but const and "
             "aniso need discretisation = cell",
         .choices = {"const", "aniso", "lognormal", "white", "checker", "inclusions", "spe10like", "file"}},
        {.section = "problem",
         .key = "coefficient_scale",
         .type = ParameterType::reals,
         .default_value = "1 1 1",
         .description = "kx ky kz, factors of the coefficient along each axis; const takes none, spe10like has 1 1 0.1 "
                        "unless given",
         .minimum = Bound{0, true},
         .count = 3},
        {.section = "problem",
         .key = "contrast",
         .type = ParameterType::real,
         .default_value = "1e6",
         .description = "coefficient of the other blocks of checker, and of the inclusions",
         .minimum = Bound{0, true}},
        {.section = "problem",
         .key = "log_standard_deviation",
         .type = ParameterType::real,
         .default_value = "3",
         .description = "s, standard deviation of log K, for lognormal, white and spe10like",
         .minimum = Bound{0},
         .maximum = Bound{20}},
        {.section = "problem",
         .key = "correlation_length",
         .type = ParameterType::reals,
         .default_value = "",
         .description = "correlation length along x, y and z, for lognormal (0.1 0.1 0.1 unless given) and spe10like "
                        "(0.1 0.1 0.02 unless given)",
         .unit = "the domain's length along that axis",
         .minimum = Bound{0, true},
         .count = 3},
        {.section = "problem",
         .key = "coefficient_file",
         .type = ParameterType::path,
         .default_value = "",
         .description = "raw float64 values of kx at all cells (x fastest), then ky, then kz, for coefficient = file"},
    };
}

}  // namespace

ParameterTable poisson_parameters() {
    ParameterTable table = equation_parameters();
    for (ParameterSpec& spec : coefficient_parameters()) table.push_back(std::move(spec));
    return table;
}

std::vector<OwnLengths> poisson_lengths() {
    return {{{"coefficient", "spe10like"}, {1200.0, 2200.0, 170.0}}};
}

PoissonData poisson_data(const Parameters& parameters, const Domain& domain, const std::string& automatic,
                         bool singular) {
    std::string name = parameters.text("problem", "right_hand_side");
    if (name == "auto") name = singular ? "random" : automatic;
    if (singular && (name == "ones" || name == "xones"))
        throw UsageError(
            fmt::format("{}: u is known up to a constant, and the part of {} that has a solution is zero; take "
                        "random",
                        parameters.where("problem", "right_hand_side"), name));
    PoissonData data;
    data.seed = std::uint64_t(parameters.integer("problem", "seed"));
    if (parameters.text("problem", "coefficient") == "aniso") {
        const auto k = parameters.reals("problem", "coefficient_scale");
        data.k = {k[0], k[1], k[2]};
    }
    const auto exact = [&](ExactKind kind) {
        data.source = SourceKind::exact;
        if (domain.grid.any_periodic())
            throw UsageError(fmt::format("{}: {} is not periodic along {}; take zero, ones, random or xones",
                                         parameters.where("problem", "right_hand_side"), name,
                                         periodic_axes(domain.grid)));
        data.exact = ExactSolution::on(domain, kind);
    };
    if (name == "manuexp")
        exact(ExactKind::manuexp);
    else if (name == "manupoly")
        exact(ExactKind::manupoly);
    else if (name == "manusin")
        exact(ExactKind::manusin);
    else if (name == "zero")
        data.source = SourceKind::zero;
    else if (name == "ones")
        data.source = SourceKind::ones;
    else if (name == "random")
        data.source = SourceKind::random;
    else
        data.source = SourceKind::row_sum;
    const std::string& coefficient = parameters.text("problem", "coefficient");
    const bool random = coefficient == "lognormal" || coefficient == "white" || coefficient == "spe10like";
    if (!random && data.source != SourceKind::random && parameters.is_given("problem", "seed"))
        throw RefusedKey(
            parameters, "problem", "seed",
            fmt::format(": only right_hand_side = random and coefficient = lognormal, white or spe10like use it, not "
                        "{} and {}; remove the key",
                        name, coefficient));
    return data;
}

std::vector<ErrorNorm> poisson_errors(const Vector& u, const Domain& domain, const PoissonData& data) {
    if (data.source == SourceKind::row_sum) return error_norms(u, domain.grid, [](Int3) { return 1.0; });
    if (data.source != SourceKind::exact) return {};
    return error_norms(u, domain.grid, [&](Int3 p) { return data.exact.value(domain.position(p)); });
}

std::vector<std::string> poisson_error_names(const PoissonData& data) {
    return names_of_error_norms(data.source == SourceKind::row_sum || data.source == SourceKind::exact);
}

std::vector<Field> poisson_fields(const Domain& domain, const PoissonData& data) {
    std::vector<Field> all{field_of_unknowns("u", 0)};
    if (data.source == SourceKind::row_sum) add_error_fields(all, {"u"}, [](int, Int3, double) { return 1.0; });
    if (data.source == SourceKind::exact)
        add_error_fields(all, {"u"},
                         [domain, exact = data.exact](int, Int3 p, double) { return exact.value(domain.position(p)); });
    return all;
}

std::unique_ptr<Problem> create_poisson(const Parameters& parameters, const Context& context, const InputFiles& files) {
    refuse_time_keys(parameters, "poisson is steady");
    if (parameters.is_given("problem", "box27_weights") && parameters.text("problem", "stencil") != "box27")
        throw RefusedKey(parameters, "problem", "box27_weights", ": only stencil = box27 has weights to choose");
    return parameters.text("problem", "discretisation") == "node" ? create_poisson_nodes(parameters)
                                                                  : create_poisson_cells(parameters, context, files);
}

}  // namespace hyperplane
