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
        : shape_(std::move(shape)),
          keys_(keys),
          rows_(shape_.stencil, keys.domain, TransportRow(keys), keys.source == SourceKind::row_sum) {}

    const SystemShape& shape() const override { return shape_; }
    double time_step() const override { return keys_.time_step; }
    void initial_state(Vector& u) const override { set_points(TransportStart{rows_}, u); }
    void residual(const Vector& u, const Vector& old, TimeLevel level, Vector& f) const override {
        residual_rows(TransportStep{rows_of(keys_.scheme, level), view(old)}, u, f);
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
