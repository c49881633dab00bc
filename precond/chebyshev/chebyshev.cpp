// SPDX-License-Identifier: BSD-3-Clause
#include "precond/chebyshev/chebyshev.hpp"

#include <cmath>
#include <numbers>

#include "core/matrix/block_pattern.hpp"
#include "core/vector/blas1.hpp"
#include "precond/chebyshev/largest_eigenvalue.hpp"
#include "precond/checks/applications.hpp"
#include "precond/choice_key.hpp"

namespace hyperplane {
namespace {

const std::string section = "preconditioner";

ParameterTable chebyshev_parameters() {
    using enum ParameterType;
    return {
        choice_key(
            "polynomial", "first",
            "first: the smallest error on an interval of eigenvalues, for Krylov methods; fourth: no lower end of the "
            "interval, for smoothing",
            {"first", "fourth"}),
        {.section = section,
         .key = "degree",
         .type = integer,
         .default_value = "4",
         .description = "degree of the error polynomial; an application is degree - 1 products with the matrix and "
                        "degree with the inverse block diagonal",
         .minimum = Bound{1},
         .maximum = Bound{64}},
        {.section = section,
         .key = "eigenvalue_ratio",
         .type = real,
         .default_value = "30",
         .description = "upper over lower end of the interval of eigenvalues of D^-1 A",
         .minimum = Bound{1.0, true},
         .maximum = Bound{1e6},
         .only_with = Condition{"polynomial", "first"}},
        {.section = section,
         .key = "estimate_steps",
         .type = integer,
         .default_value = "10",
         .description = "steps of the Lanczos method that estimate the largest eigenvalue of D^-1 A in the set-up",
         .minimum = Bound{1},
         .maximum = Bound{1000}},
        {.section = section,
         .key = "safety",
         .type = real,
         .default_value = "1.1",
         .description = "upper end of the interval over the largest eigenvalue that the steps found, which is never "
                        "above the true one",
         .minimum = Bound{1.0},
         .maximum = Bound{10.0}}};
}

ChebyshevOptions chebyshev_options(const Parameters& parameters) {
    ChebyshevOptions options;
    options.kind = parameters.text(section, "polynomial") == "fourth" ? ChebyshevKind::fourth : ChebyshevKind::first;
    options.degree = int(parameters.integer(section, "degree"));
    options.ratio = parameters.real(section, "eigenvalue_ratio");
    options.steps = int(parameters.integer(section, "estimate_steps"));
    options.safety = parameters.real(section, "safety");
    options.storage = factor_storage(parameters);
    return options;
}

/// The bytes of one product with a symmetric matrix.
Index bytes_of_product(const MatrixShape& a, const IndexSpace& space) {
    const Index vectors = 2 * space.block_rows() * a.dof() * Index(sizeof(double));
    const Index pattern = a.kind() == MatrixKind::general ? a.pattern()->bytes() : 0;
    return bytes_of(a, space, Backend::cpu) + pattern + vectors;
}

}  // namespace

chebyshev::Polynomial::Polynomial(const ChebyshevOptions& options, double bound) {
    // d_k = g_k e_k is the correction of step k: d_k = c_k d_(k-1) + g_k D^-1 w, h_k = c_k g_(k-1) / g_k.
    const auto add = [&](double gain, double carry) {
        h.push_back(g.empty() ? 0.0 : carry * g.back() / gain);
        g.push_back(gain);
    };
    if (options.kind == ChebyshevKind::fourth) {
        for (int k = 0; k < options.degree; ++k)
            add((8.0 * k + 4.0) / ((2.0 * k + 3.0) * bound), (2.0 * k - 1.0) / (2.0 * k + 3.0));
        return;
    }
    const double lower = bound / options.ratio, theta = 0.5 * (bound + lower), delta = 0.5 * (bound - lower);
    double rho = delta / theta;
    add(1.0 / theta, 0.0);
    for (int k = 1; k < options.degree; ++k) {
        const double next = 1.0 / (2.0 * theta / delta - rho);
        add(2.0 * next / delta, next * rho);
        rho = next;
    }
}

std::vector<double> chebyshev::zeros(const ChebyshevOptions& options, double bound) {
    const int d = options.degree;
    const double lower = bound / options.ratio;
    const auto zero = [&](int i) {  // i = 1 ... d
        if (options.kind == ChebyshevKind::fourth)
            return 0.5 * bound * (1.0 - std::cos(2.0 * std::numbers::pi * i / (2.0 * d + 1.0)));
        return 0.5 * (bound + lower) + 0.5 * (bound - lower) * std::cos(std::numbers::pi * (2.0 * i - 1.0) / (2.0 * d));
    };
    // Bit reversal spreads neighbours, as in Saad, section 12.3.
    std::vector<double> list;
    int size = 1;
    while (size < d) size *= 2;
    for (int at = 0; at < size; ++at) {
        int reversed = 0;
        for (int bit = 1; bit < size; bit *= 2) reversed = 2 * reversed + (at / bit) % 2;
        if (reversed < d) list.push_back(zero(reversed + 1));
    }
    return list;
}

SetupReport Chebyshev::setup(const SystemMatrix& matrix) {
    const SystemMatrix& a = matrix;
    if (!a.symmetric()) throw UsageError("chebyshev: the matrix must be symmetric");
    a_ = &a;
    if (!(t_.space() == a.space()) || t_.dof() != a.dof())  // t is allocated last
        for (Vector* vector : {&e_, &w_, &t_}) *vector = Vector(context_, a.space(), a.dof(), "preconditioner: work");
    const SetupReport report = diagonal_->setup(a);
    bound_ = options_.safety * chebyshev::largest_eigenvalue(a, *diagonal_, options_.steps, w_, e_, t_, "chebyshev");
    polynomial_ = chebyshev::Polynomial(options_, bound_);
    return report;
}

void Chebyshev::apply(const Vector& r, Vector& z) const {
    const auto& [g, h] = polynomial_;
    const int last = int(g.size()) - 1;
    diagonal_->apply(r, e_);  // e_0 = D^-1 r
    set_zero(z);
    for (int k = 0; k < last; ++k) {
        a_->apply(e_, t_);  // t = A e_k
        if (k == 0)
            add(r, -g[0], t_, w_);  // w = r - g_0 t
        else
            axpy(-g[k], t_, w_);               // w -= g_k t
        diagonal_->apply(w_, t_);              // t = D^-1 w
        axpy_xpby(g[k], z, t_, h[k + 1], e_);  // z += g_k e_k, e_(k+1) = t + h_(k+1) e_k
    }
    axpy(g[last], e_, z);  // z += g_(d-1) e_(d-1)
}

Index Chebyshev::bytes_per_apply(int degree, Index a, Index diagonal, Index unknowns) {
    const Index vectors = 8 * (degree - 1) + 4;
    return (degree - 1) * a + degree * diagonal + vectors * unknowns * Index(sizeof(double));
}

Index Chebyshev::bytes_per_apply() const {
    return bytes_per_apply(options_.degree, a_->bytes_per_apply(), diagonal_->bytes_per_apply(), a_->unknowns());
}

ApplicationCheck Chebyshev::check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                              const MakeInDouble& in_double) const {
    if (!a.space().has_grid()) return Preconditioner::check_application(a, r, z, in_double);
    return {polynomial_error(structured(a), chebyshev::zeros(options_, bound_), r, z),
            bound_of_rounding(options_.storage), ""};
}

PreconditionerRow chebyshev_row(const PreconditionerRow& diagonal) {
    PreconditionerRow row;
    row.name = "chebyshev";
    row.summary = "a Chebyshev polynomial of the matrix, scaled by its block diagonal; symmetric matrices";
    row.explanation =
        "M^-1 = p(D^-1 A) D^-1 with D the block diagonal of A: products with A and nothing else, no dependency between "
        "points, no inner product. The interval of eigenvalues that p is made for ends at safety times the largest "
        "Ritz value of estimate_steps steps of the Lanczos method, which begin with A times a random vector. "
        "polynomial = first has the smallest error on the interval (Saad, Iterative Methods, section 12.3); fourth is "
        "made for smoothing (Lottes, Optimal polynomial "
        "smoothers for multigrid V-cycles, 2022). The matrix must be symmetric and positive definite; the set-up ends "
        "with an error if it finds proof that it is not.";
    row.parameters = chebyshev_parameters();
    row.storages = diagonal.storages;
    row.kinds = diagonal.kinds;
    row.needs_symmetry = true;
    row.on_ranks = diagonal.on_ranks;
    row.on_general_ranks = diagonal.on_general_ranks;
    row.create = [create = diagonal.create](const Parameters& parameters,
                                            const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        return std::make_unique<Chebyshev>(setting.context, chebyshev_options(parameters), create(parameters, setting));
    };
    row.plan = [plan = diagonal.plan](const Parameters& parameters, const PreconditionerSetting& setting) {
        PreconditionerPlan made = plan(parameters, setting);
        const Index points = made.space.slots_in_memory(), unknowns = made.space.block_rows() * setting.matrix.dof();
        const Index vector = points * setting.matrix.dof() * Index(sizeof(double));
        const Index a = bytes_of_product(setting.matrix, made.space);
        const Index d = made.bytes_per_apply > 0 ? made.bytes_per_apply : made.bytes + 2 * vector;
        made.bytes_per_apply = Chebyshev::bytes_per_apply(int(parameters.integer(section, "degree")), a, d, unknowns);
        made.bytes += 3 * vector;
        made.traits = {.fixed = true, .symmetric = true};
        return made;
    };
    row.kernels = diagonal.kernels;
    return row;
}

}  // namespace hyperplane
