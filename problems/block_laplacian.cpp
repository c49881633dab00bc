// SPDX-License-Identifier: BSD-3-Clause
#include "problems/block_laplacian.hpp"

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "problems/block_laplacian_rows.hpp"
#include "problems/error_norms.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

constexpr int dof = BlockRows::dof, entries = BlockRows::entries;
constexpr double diffusion[dof][dof] = {{2, 0.5, 0.25}, {0.5, 1, 0.25}, {0.25, 0.25, 0.5}};
constexpr double exchange[dof][dof] = {{10, -10, 0}, {-10, 30, -20}, {0, -20, 20}};

class BlockLaplacian final : public Problem {
public:
    BlockLaplacian(SystemShape shape, const BlockRows& formula) : Problem(std::move(shape)), formula_(formula) {}

    void initial_state(Vector& u) const override { set_zero(u); }
    void residual(const Vector& u, const TimeLevel&, Vector& f) const override { residual_rows(formula_, u, f); }
    void jacobian(const Vector&, const TimeLevel&, SystemMatrix& a) const override {
        assemble_rows(formula_, structured(a));
    }
    std::vector<Field> fields() const override {
        std::vector<Field> all = Problem::fields();
        if (formula_.source == SourceKind::row_sum)
            add_error_fields(all, shape_.components, [](int, Int3, double) { return 1.0; });
        return all;
    }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        if (formula_.source != SourceKind::row_sum) return {};
        return error_norms(u, shape_.grid, [](Int3) { return 1.0; });
    }
    std::vector<std::string> error_names() const override {
        return names_of_error_norms(formula_.source == SourceKind::row_sum);
    }

private:
    BlockRows formula_;
};

BlockRows make_row(const Parameters& parameters, const Stencil& stencil, const Domain& domain) {
    const bool full = parameters.text("problem", "coupling") == "full";
    const std::string& source = parameters.text("problem", "right_hand_side");
    if (source != "random" && parameters.is_given("problem", "seed"))
        throw RefusedKey(parameters, "problem", "seed", ": only right_hand_side = random uses it; remove the key");
    const double h = domain.mean_spacing();
    BlockRows formula{.offsets = offsets_of<entries>(stencil),
                      .grid = domain.grid,
                      .block = {},
                      .source_scale = h * h,
                      .source = source == "ones"     ? SourceKind::ones
                                : source == "random" ? SourceKind::random
                                                     : SourceKind::row_sum,
                      .seed = std::uint64_t(parameters.integer("problem", "seed"))};
    std::array<double, entries> laplacian{};
    for (int axis = 0; axis < 3; ++axis) {
        if (domain.flat(axis)) continue;
        const double a = h * h / (domain.grid.spacing[axis] * domain.grid.spacing[axis]);
        laplacian[3 - (axis + 1)] = laplacian[3 + (axis + 1)] = -a;  // natural order is -z -y -x 0 +x +y +z
        laplacian[3] += 2 * a;
    }
    for (int e = 0; e < entries; ++e)
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col)
                formula.block[e][row][col] = (full || row == col ? laplacian[e] * diffusion[row][col] : 0.0) +
                                             (e == 3 ? h * h * exchange[row][col] : 0.0);
    return formula;
}

}  // namespace

ParameterTable block_laplacian_parameters() {
    return {
        {.section = "problem",
         .key = "coupling",
         .type = ParameterType::choice,
         .default_value = "full",
         .description =
             "full: the unknowns diffuse coupled, every block is dense; three_temperature: off-centre blocks are "
             "diagonal, the centre one tridiagonal",
         .choices = {"full", "three_temperature"}},
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::choice,
         .default_value = "ones",
         .description = "ones, random: h^2 times 1, or uniform in (-1, 1); xones: b = A 1",
         .choices = {"ones", "random", "xones"}},
        {.section = "problem",
         .key = "seed",
         .type = ParameterType::integer,
         .default_value = "1",
         .description = "seed of the random right-hand side",
         .minimum = Bound{0}},
    };
}

std::unique_ptr<Problem> create_block_laplacian(const Parameters& parameters, const Context&, const InputFiles&) {
    refuse_time_keys(parameters, "block_laplacian is steady");
    const Domain domain = make_domain(parameters, Centring::node_drop);
    if (!domain.has_boundary())
        throw UsageError(parameters.where("grid", "periodic") +
                         ": block_laplacian without a boundary is singular; leave one axis that is not flat bounded");
    SystemShape shape{.grid = domain.grid,
                      .stencil = Stencil::star7(),
                      .dof = dof,
                      .symmetric = true,
                      .components = {"radiation", "electrons", "ions"}};
    const BlockRows formula = make_row(parameters, shape.stencil, domain);
    return std::make_unique<BlockLaplacian>(std::move(shape), formula);
}

}  // namespace hyperplane
