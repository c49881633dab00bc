#include <fmt/format.h>

#include "core/error.hpp"
#include "problems/coefficient_field.hpp"
#include "problems/linear_rows.hpp"
#include "problems/poisson.hpp"

namespace hyperplane {
namespace {

/// Rows of two-point fluxes between cells.
struct FluxRows {
    static constexpr int entries = 7;
    std::array<Int3, entries> offsets;
    Grid grid;
    Domain domain;
    CoefficientView k;
    PoissonData data;
    std::array<bool, 3> dirichlet;  ///< u = g on the two faces across each axis

    /// Entry of the neighbour one step along `axis`: natural order is -z -y -x 0 +x +y +z.
    HYPERPLANE_HD static int entry(int axis, int side) { return 3 + side * (axis + 1); }
    HYPERPLANE_HD double volume() const { return grid.spacing[0] * grid.spacing[1] * grid.spacing[2]; }
    HYPERPLANE_HD double face_scale(int axis) const { return volume() / (grid.spacing[axis] * grid.spacing[axis]); }
    HYPERPLANE_HD double wall(int axis, Int3 p) const { return 2.0 * k.at(axis, grid.row(p)) * face_scale(axis); }

    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        for (int e = 0; e < entries; ++e) c[e] = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            if (domain.flat(axis)) continue;
            const double here = k.at(axis, grid.row(p));
            for (int side = -1; side <= 1; side += 2) {
                const int e = entry(axis, side);
                const Int3 q = grid.wrapped(p + offsets[e]);
                if (grid.contains(q)) {
                    const double there = k.at(axis, grid.row(q));
                    const double t = face_scale(axis) * (2.0 * (here * there) / (here + there));
                    c[e] = -t;
                    c[3] += t;
                } else if (dirichlet[axis]) {
                    c[3] += wall(axis, p);
                }
            }
        }
    }
    HYPERPLANE_HD double right_hand_side(Int3 p) const {
        if (data.source == SourceKind::row_sum) return row_sum(*this, p);
        if (data.source != SourceKind::exact) return volume() * plain_source(data.source, data.seed, grid, p);
        const Position at = domain.position(p);
        double b = -volume() * data.exact.laplacian(at, data.k);
        for (int axis = 0; axis < 3; ++axis)
            for (int side = -1; side <= 1 && !domain.flat(axis); side += 2) {
                if (grid.contains(p + offsets[entry(axis, side)])) continue;
                Position face = at;
                face[axis] += side * grid.spacing[axis] / 2;
                b += wall(axis, p) * data.exact.value(face);
            }
        return b;
    }
};

class PoissonCells final : public Problem {
public:
    PoissonCells(SystemShape shape, CoefficientField field, FluxRows formula)
        : shape_(std::move(shape)), field_(std::move(field)), formula_(std::move(formula)) {
        formula_.k = field_.view();
    }

    const SystemShape& shape() const override { return shape_; }
    void initial_state(Vector& u) const override {
        set_points(u, [](Int3) { return 0.0; });
    }
    void residual(const Vector& u, const Vector&, TimeLevel, Vector& f) const override {
        residual_rows(formula_, u, f);
    }
    void jacobian(const Vector&, TimeLevel, StructMatrix& a) const override { assemble_rows(formula_, a); }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        return poisson_errors(u, formula_.domain, formula_.data);
    }

private:
    SystemShape shape_;
    CoefficientField field_;
    FluxRows formula_;
};

/// Which axes end in Dirichlet faces.
std::array<bool, 3> dirichlet_axes(const Parameters& parameters, const Domain& domain) {
    const std::string& kind = parameters.text("problem", "boundary_condition");
    const std::array<bool, 3> wanted{kind == "dirichlet", kind == "dirichlet", kind != "neumann"};
    if (kind == "zdirichlet" && !domain.bounded(2))
        throw UsageError(fmt::format("{}: zdirichlet needs z faces, but axis z is {}; take dirichlet or neumann",
                                     parameters.where("problem", "boundary_condition"),
                                     domain.flat(2) ? "flat" : "periodic"));
    return {wanted[0] && domain.bounded(0), wanted[1] && domain.bounded(1), wanted[2] && domain.bounded(2)};
}

/// Keys that only nodes have.
void check_keys(const Parameters& parameters) {
    if (parameters.text("problem", "stencil") != "star7")
        throw UsageError(parameters.where("problem", "stencil") + ": box27 needs problem.discretisation = node");
    if (parameters.is_given("problem", "boundary_rows"))
        throw UsageError(parameters.where("problem", "boundary_rows") +
                         ": cells have no boundary rows; remove the key, or take problem.discretisation = node");
    check_coefficient_keys(parameters);
}

}  // namespace

std::unique_ptr<Problem> create_poisson_cells(const Parameters& parameters, const Context& context,
                                              const InputFiles& files) {
    check_keys(parameters);
    const std::string& coefficient = parameters.text("problem", "coefficient");
    const bool spe10 = coefficient == "spe10like";
    const Domain domain =
        make_domain(parameters, Centring::cell, spe10 ? std::array{1200.0, 2200.0, 170.0} : std::array{1.0, 1.0, 1.0});
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
    const FluxRows formula{offsets_of<7>(shape.stencil), domain.grid, domain, {}, data, dirichlet};
    return std::make_unique<PoissonCells>(std::move(shape), CoefficientField(parameters, domain, context, files),
                                          formula);
}

}  // namespace hyperplane
