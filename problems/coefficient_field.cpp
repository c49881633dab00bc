// SPDX-License-Identifier: BSD-3-Clause
#include "problems/coefficient_field.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/with_place.hpp"

namespace hyperplane {
namespace {

/// Sets values[grid.row(p)] = value(p) for every cell p.
template <class Value>
void fill_cells(const Context& context, const Grid& grid, double* values, const Value& value) {
    const Index lines = Index(grid.ny) * grid.nz;
#pragma omp parallel for schedule(static) num_threads(context.threads_for(grid.points()))
    for (Index line = 0; line < lines; ++line)
        for (int i = 0; i < grid.nx; ++i) {
            const Int3 p{i, int(line % grid.ny), int(line / grid.ny)};
            values[grid.row(p)] = value(p);
        }
}

/// exp(s G) by random Fourier modes. With cos(wx x + c) = cos(wx x) cos c - sin(wx x) sin c, a mode costs two products
/// a cell along a line in x.
void fill_lognormal(const Context& context, const Domain& domain, std::uint64_t seed, double deviation,
                    const std::vector<double>& correlation, double* values) {
    constexpr int modes = 200;
    const Grid& grid = domain.grid;
    const auto wave = [&](int m, int axis) { return random_normal(seed, 4 * m + axis) / correlation[axis]; };
    const auto phase = [&](int m) { return 2 * std::numbers::pi * random_uniform(~seed, m); };
    std::vector<double> cosines(Index(modes) * grid.nx), sines(cosines.size());
    for (int m = 0; m < modes; ++m)
        for (int i = 0; i < grid.nx; ++i) {
            const double angle = wave(m, 0) * grid.x(i) / domain.lengths[0];
            cosines[Index(m) * grid.nx + i] = std::cos(angle);
            sines[Index(m) * grid.nx + i] = std::sin(angle);
        }
    std::vector<double> waves(3 * modes);
    for (int m = 0; m < modes; ++m) {
        waves[3 * m] = wave(m, 1) / domain.lengths[1];
        waves[3 * m + 1] = wave(m, 2) / domain.lengths[2];
        waves[3 * m + 2] = phase(m);
    }
    const double scale = deviation * std::sqrt(2.0 / modes);
    const Index lines = Index(grid.ny) * grid.nz;
#pragma omp parallel for schedule(static) num_threads(context.threads_for(grid.points() * modes))
    for (Index line = 0; line < lines; ++line) {
        const int j = int(line % grid.ny), k = int(line / grid.ny);
        double* const out = values + line * grid.nx;
        for (int i = 0; i < grid.nx; ++i) out[i] = 0.0;
        for (int m = 0; m < modes; ++m) {
            const double angle = waves[3 * m] * grid.y(j) + waves[3 * m + 1] * grid.z(k) + waves[3 * m + 2];
            const double c = scale * std::cos(angle), s = scale * std::sin(angle);
            const double* const cx = &cosines[Index(m) * grid.nx];
            const double* const sx = &sines[Index(m) * grid.nx];
            for (int i = 0; i < grid.nx; ++i) out[i] += c * cx[i] - s * sx[i];
        }
        for (int i = 0; i < grid.nx; ++i) out[i] = std::exp(out[i]);
    }
}

bool in_odd_block(const Domain& domain, Int3 p) {
    int blocks = 0;
    for (int d = 0; d < 3; ++d) blocks += int(8LL * Domain::component(p, d) / domain.extent(d));
    return blocks % 2 != 0;
}

/// Whether p lies in a cube: along each axis that is not flat, in the middle half of one of four equal parts.
bool in_inclusion(const Domain& domain, Int3 p) {
    for (int d = 0; d < 3; ++d) {
        const double t = 4 * domain.position(p)[d] / domain.lengths[d];
        if (!domain.flat(d) && std::abs(t - std::floor(t) - 0.5) >= 0.25) return false;
    }
    return true;
}

void read_field(const Parameters& parameters, const Grid& grid, const InputFiles& files, double* values) {
    if (!parameters.is_set("problem", "coefficient_file"))
        throw UsageError(parameters.where("problem", "coefficient") + ": file needs problem.coefficient_file");
    const Index cells = grid.points();
    const std::string where = parameters.where("problem", "coefficient_file");
    const auto read =
        with_place(where, [&] { return files.doubles(parameters.text("problem", "coefficient_file"), 3 * cells); });
    for (Index at = 0; at < 3 * cells; ++at) {
        if (!(read[at] > 0.0) || !std::isfinite(read[at])) {
            const Int3 p = grid.point(at % cells);
            throw UsageError(
                fmt::format("{}: k{} = {:g} at cell ({}, {}, {}); a coefficient must be positive and finite", where,
                            "xyz"[at / cells], read[at], p.x, p.y, p.z));
        }
        values[at] = read[at];
    }
}

/// Throws UsageError if a key is given that only coefficients other than `kind`, the `users`, use.
void check_unused(const Parameters& parameters, const std::string& kind, const char* key,
                  std::initializer_list<const char*> users) {
    if (!parameters.is_given("problem", key)) return;
    std::string names;
    for (const char* user : users) {
        if (kind == user) return;
        names += fmt::format("{}{}", names.empty() ? "" : " or ", user);
    }
    throw RefusedKey(parameters, "problem", key,
                     fmt::format(": only coefficient = {} uses it, not {}; remove the key", names, kind));
}

}  // namespace

CoefficientField::CoefficientField(const Parameters& parameters, const Domain& domain, const Context& context,
                                   const InputFiles& files) {
    const std::string& kind = parameters.text("problem", "coefficient");
    if (parameters.is_given("problem", "coefficient_scale") || kind == "aniso") {
        const auto scale = parameters.reals("problem", "coefficient_scale");
        view_.scale = {scale[0], scale[1], scale[2]};
    } else if (kind == "spe10like") {
        view_.scale = {1.0, 1.0, 0.1};
    }
    if (kind == "spe10like") name_ = "permeability";
    if (kind == "const" || kind == "aniso") return;

    const Grid& grid = domain.grid;
    const Index cells = grid.points();
    Buffer<double> made(context.host(), "coefficient", kind == "file" ? 3 * cells : cells);
    double* const values = made.data();
    const auto seed = std::uint64_t(parameters.integer("problem", "seed"));
    const double deviation = parameters.real("problem", "log_standard_deviation");
    const double contrast = parameters.real("problem", "contrast");
    if (kind == "lognormal" || kind == "spe10like") {
        std::vector<double> correlation{0.1, 0.1, kind == "lognormal" ? 0.1 : 0.02};
        if (parameters.is_set("problem", "correlation_length"))
            correlation = parameters.reals("problem", "correlation_length");
        fill_lognormal(made.context(), domain, seed, deviation, correlation, values);
    } else if (kind == "white") {
        fill_cells(made.context(), grid, values,
                   [&](Int3 p) { return std::exp(deviation * random_normal(seed, grid.row(p))); });
    } else if (kind == "checker") {
        fill_cells(made.context(), grid, values, [&](Int3 p) { return in_odd_block(domain, p) ? contrast : 1.0; });
    } else if (kind == "inclusions") {
        fill_cells(made.context(), grid, values, [&](Int3 p) { return in_inclusion(domain, p) ? contrast : 1.0; });
    } else {
        read_field(parameters, grid, files, values);
    }
    values_ = moved_to(context, "coefficient", std::move(made));
    for (int d = 0; d < 3; ++d) view_.values[d] = values_.data() + (kind == "file" ? d * cells : 0);
}

std::optional<Field> CoefficientField::field(const Grid& grid) const {
    if (values_.size() == 0) return std::nullopt;
    CoefficientView view = view_;
    std::shared_ptr<Buffer<double>> copy;  // where the host cannot read the values
    if (values_.backend() == Backend::cuda) {
        copy = std::make_shared<Buffer<double>>(values_.context().host(), "coefficient", values_.size());
        copy_between(values_.context(), values_.data(), copy->context(), copy->data(),
                     values_.size() * Index(sizeof(double)));
        for (int d = 0; d < 3; ++d) view.values[d] = copy->data() + (view_.values[d] - values_.data());
    }
    bool isotropic = true;
    for (int d = 1; d < 3; ++d)
        isotropic = isotropic && view.values[d] == view.values[0] && view.scale[d] == view.scale[0];
    const int components = isotropic ? 1 : 3;
    return Field{.name = name_,
                 .components = components,
                 .description = isotropic ? "K in -div(K grad u)" : "the diagonal of K in -div(K grad u)",
                 .at = [grid, view, copy, components](const double*, Int3 p, double, double* values) {
                     for (int d = 0; d < components; ++d) values[d] = view.at(d, grid.row(p));
                 }};
}

void check_coefficient_keys(const Parameters& parameters) {
    const std::string& kind = parameters.text("problem", "coefficient");
    check_unused(parameters, kind, "contrast", {"checker", "inclusions"});
    check_unused(parameters, kind, "log_standard_deviation", {"lognormal", "white", "spe10like"});
    check_unused(parameters, kind, "correlation_length", {"lognormal", "spe10like"});
    check_unused(parameters, kind, "coefficient_file", {"file"});
    check_unused(parameters, kind, "coefficient_scale",
                 {"aniso", "lognormal", "white", "checker", "inclusions", "spe10like", "file"});
}

}  // namespace hyperplane
