#include "problems/convection_diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "problems/convection_diffusion_keys.hpp"
#include "problems/linear_rows.hpp"

namespace hyperplane {
namespace {

/// The row of an interior node.
struct TransportRow {
    static constexpr int entries = 7;
    TransportKeys keys;
    Scheme scheme;
    double h;           ///< mean spacing
    double mass = 0.0;  ///< h^2 / dt, 0 when steady

    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        for (int e = 0; e < entries; ++e) c[e] = 0.0;
        c[3] = mass;
        const Domain& domain = keys.domain;
        for (int axis = 0; axis < 3; ++axis) {
            if (domain.flat(axis)) continue;
            const double spacing = domain.grid.spacing[axis];
            const double D = keys.viscosity * (h * h / (spacing * spacing));
            for (int side = -1; side <= 1; side += 2) {
                Position face = domain.position(p);
                face[axis] += side * spacing / 2;
                const double B = side * keys.wind.component(axis, face) * (h * h / spacing);
                const FaceTerms terms = face_terms(scheme, D, B);
                c[3 + side * (axis + 1)] = terms.neighbour;  // natural order is -z -y -x 0 +x +y +z
                c[3] += terms.centre;
            }
        }
    }
    /// h^2 f, without h^2 u_old / dt. A manufactured f = b . grad(u) - nu Laplace(u).
    HYPERPLANE_HD double source(Int3 p) const {
        if (keys.source != SourceKind::exact) return h * h * plain_source(keys.source, keys.seed, keys.domain.grid, p);
        const Position at = keys.domain.position(p);
        const Position slope = keys.exact.gradient(at);
        double f = -keys.viscosity * keys.exact.laplacian(at, {1.0, 1.0, 1.0});
        for (int axis = 0; axis < 3; ++axis) f += keys.wind.component(axis, at) * slope[axis];
        return h * h * f;
    }
    HYPERPLANE_HD double boundary_value(const Position& at) const {
        if (keys.source == SourceKind::exact) return keys.exact.value(at);
        const double edge = keys.domain.lengths[0] - keys.domain.grid.spacing[0] / 2;
        return keys.hot_wall && at[0] > edge ? 1.0 : 0.0;
    }
};

using TransportRows = DirichletNodes<TransportRow>;

class ConvectionDiffusion final : public Problem {
public:
    ConvectionDiffusion(SystemShape shape, const TransportKeys& keys)
        : shape_(std::move(shape)),
          keys_(keys),
          rows_(shape_.stencil, keys.domain, TransportRow{keys, keys.scheme, keys.domain.mean_spacing()},
                keys.source == SourceKind::row_sum) {}

    const SystemShape& shape() const override { return shape_; }
    double time_step() const override { return keys_.time_step; }
    void initial_state(Vector& u) const override {
        set_points(u,
                   [this](Int3 p) { return keys_.domain.on_boundary(p) ? rows_.boundary_value(p) : initial_value(p); });
    }
    void residual(const Vector& u, const Vector& old, TimeLevel level, Vector& f) const override {
        const TransportRows rows = rows_of(keys_.scheme, level);
        residual_rows(rows, u, f);
        if (rows.interior.mass == 0.0) return;
        for_each_point(f.layout(), [&](Int3 p, Index slot) {
            if (!rows.domain.on_boundary(p)) f.data()[slot] -= rows.interior.mass * old.data()[slot];
        });
    }
    void jacobian(const Vector&, TimeLevel level, StructMatrix& a) const override {
        assemble_rows(rows_of(keys_.scheme, level), a);
    }
    void preconditioner_jacobian(const Vector&, TimeLevel level, StructMatrix& p) const override {
        assemble_rows(rows_of(keys_.preconditioner_scheme, level), p);
    }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        if (keys_.source == SourceKind::row_sum) return error_norms(u, keys_.domain.grid, [](Int3) { return 1.0; });
        if (keys_.source != SourceKind::exact) return {};
        return error_norms(u, keys_.domain.grid, [&](Int3 p) { return keys_.exact.value(keys_.domain.position(p)); });
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
    TransportRows rows_of(Scheme scheme, TimeLevel level) const {
        TransportRows rows = rows_;
        rows.interior.scheme = scheme;
        rows.interior.mass = rows.interior.h * rows.interior.h / level.dt;
        return rows;
    }
    double initial_value(Int3 p) const {
        if (keys_.initial == InitialKind::zero) return 0.0;
        if (keys_.initial == InitialKind::random)
            return plain_source(SourceKind::random, keys_.seed, keys_.domain.grid, p);
        const Position at = keys_.domain.position(p);
        double distance = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!keys_.domain.flat(axis)) distance += std::pow(at[axis] - keys_.gaussian_centre[axis], 2);
        return std::exp(-keys_.gaussian_sharpness * distance);
    }

    SystemShape shape_;
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
                      .components = {"u"}};
    return std::make_unique<ConvectionDiffusion>(std::move(shape), keys);
}

}  // namespace hyperplane
